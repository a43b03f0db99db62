"""Perfetto's format, read back with Perfetto's own Python bindings: slices by track to the nanosecond, arrows, counters."""

from collections import Counter, defaultdict

import pytest
from conftest import FIXTURES, RECORDINGS, recorded, short_name
from oracle.trace import unpacked
from exported import tables_of
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

BEGIN, END, COUNTER = 1, 2, 4
BOOTTIME, OWN_CLOCK = 6, 64
CATEGORIES = {"kernel": "kernel", "memcpy": "memcpy", "memset": "memset", "api_call": "api", "op": "op", "range": "range", "python_call": "python", "overhead": "overhead"}


class Read:
    """What a reader of the format makes of a file: it follows each sequence's clock and names."""

    def __init__(self, data):
        self.trace = schema.Trace()
        self.trace.ParseFromString(data)
        self.tracks, self.slices, self.values, self.flows = {}, [], defaultdict(list), defaultdict(list)
        names, clock, track, open_slices = defaultdict(dict), {}, {}, defaultdict(list)
        for packet in self.trace.packet:
            sequence = packet.trusted_packet_sequence_id
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if packet.HasField("trace_packet_defaults"):
                assert packet.sequence_flags & 1 and packet.trace_packet_defaults.timestamp_clock_id == OWN_CLOCK
                track[sequence] = packet.trace_packet_defaults.track_event_defaults.track_uuid
                clocks = {c.clock_id: c for c in packet.clock_snapshot.clocks}
                assert clocks[OWN_CLOCK].is_incremental and clocks[OWN_CLOCK].timestamp == clocks[BOOTTIME].timestamp
                clock[sequence] = clocks[BOOTTIME].timestamp
            for field in ("event_categories", "event_names", "debug_annotation_names"):
                for entry in getattr(packet.interned_data, field):
                    assert (field, entry.iid) not in names[sequence]
                    names[sequence][field, entry.iid] = entry.name
            for entry in packet.interned_data.debug_annotation_string_values:
                names[sequence]["text", entry.iid] = entry.str.decode()
            if not packet.HasField("track_event"):
                continue
            assert packet.sequence_flags == 2
            clock[sequence] += packet.timestamp
            event, known, now = packet.track_event, names[sequence], clock[sequence]
            if event.type == BEGIN:
                notes = {known["debug_annotation_names", a.name_iid]: known["text", a.string_value_iid] if a.string_value_iid else a.int_value for a in event.debug_annotations}
                what = [now, None, track[sequence], known["event_categories", event.category_iids[0]], known["event_names", event.name_iid], notes]
                open_slices[sequence].append(what)
                self.slices.append(what)
                for flow in event.flow_ids:
                    self.flows[flow].append(what)
            elif event.type == END:
                open_slices[sequence].pop()[1] = now
            else:
                self.values[track[sequence]].append((now, event.double_counter_value))
        assert not any(open_slices.values()) and len(set(track.values())) == len(track)

    def of(self, category):
        return [s for s in self.slices if s[3] == category]

    def thread_of(self, slice_):
        """The thread that a slice's track is, or lies below."""
        track = self.tracks[slice_[2]]
        while not track.HasField("thread"):
            track = self.tracks[track.parent_uuid]
        return str(track.thread.tid)


def exported(program, recording):
    outcome = program.run("export", "perfetto", recording, "-o", "-")
    assert outcome.status == 0, outcome.errors
    return outcome.stdout


@pytest.mark.parametrize("recording", [*RECORDINGS, FIXTURES / "nsys/h100_2gpu_1s.sqlite.zst"], ids=short_name)
def test_round_trip(program, recording):
    tables, read = tables_of(program, recording), Read(exported(program, recording))
    for table, category in CATEGORIES.items():
        names = {"memcpy": lambda row: f"copy {row.get('kind', '')}", "memset": lambda row: "fill"}.get(table, lambda row, table=table: row.get("name", category))
        assert Counter((int(row["start"]), int(row["start"]) + int(row["dur"]), names(row)) for row in tables.get(table, [])) == Counter(
            (s[0], s[1], s[4]) for s in read.of(category)), table
    assert len(read.slices) == sum(len(tables.get(t, [])) for t in (*CATEGORIES, "os_call", "device_range"))
    threads = {row["key"]: row.get("tid") for row in tables.get("thread", [])}
    assert Counter((int(row["start"]), threads.get(row.get("thread"))) for row in tables.get("api_call", [])) == Counter((s[0], read.thread_of(s)) for s in read.of("api"))


def test_what_ran_on_each_cpu(program, tmp_path):
    capture = tmp_path / "run.gpuprof"
    done = program.run("record", "--quiet", "-o", capture, "--sample", "0", "--scheduling", "--", "sh", "-c", "sleep 0.1; sleep 0.1")
    stored = [row for row in program.stored(capture, "cpu_slice") if row["thread"]]
    if not stored:
        pytest.skip(next(line for line in done.errors if "scheduling is not recorded" in line))
    read = Read(exported(program, capture))
    threads = {row["key"]: row["name"] for row in program.stored(capture, "thread")}
    assert Counter((s[0], s[1], s[4], s[5]["thread"], s[5].get("end_state", ""), read.tracks[s[2]].name.split()[1]) for s in read.of("cpu")) == Counter(
        (int(row["start"]), int(row["start"]) + int(row["dur"]), threads.get(row["thread"], row["thread"]), row["thread"], row["end_state"], row["cpu"])
        for row in stored)


def test_nothing_on_a_track_overlaps(program):
    """A reader that sees slices of one track overlap without nesting drops or moves them."""
    for recording in (FIXTURES / "kineto/overlap.json.gz", FIXTURES / "public/nccl_parser_config__nccl_data.json.zst"):
        read = Read(exported(program, recording))
        by_track = defaultdict(list)
        for slice_ in read.slices:
            by_track[slice_[2]].append(slice_)
        for slices in by_track.values():
            open_ends = []
            for begin, end, *_ in slices:
                open_ends = [e for e in open_ends if e > begin]
                assert all(end <= e for e in open_ends)
                open_ends.append(end)


def test_arrows_lead_from_calls_to_their_kernels(program):
    recording = FIXTURES / "kineto/transformer.json.zst"
    read = Read(exported(program, recording))
    for slices in read.flows.values():
        calls = [s for s in slices if s[3] == "api"]
        assert len(calls) == 1 and len(slices) > 1
        assert {s[5]["correlation"] for s in slices} == {calls[0][5]["correlation"]}
    matched = sum(row["count"] for row in program.report(recording, "launches")["launches"].rows)
    assert sum(1 for slices in read.flows.values() for s in slices if s[3] == "kernel") == matched


def test_what_is_told_of_a_kernel(program):
    recording = FIXTURES / "kineto/transformer.json.zst"
    kernels = {(int(r["start"]), r["name"]): r for r in tables_of(program, recording)["kernel"]}
    for start, _, _, _, name, notes in Read(exported(program, recording)).of("kernel"):
        row = kernels[start, name]
        assert notes["grid"] == ",".join(row[f"grid_{a}"] for a in "xyz") and notes["block"] == ",".join(row[f"block_{a}"] for a in "xyz")
        assert (notes["registers"], notes["shared_bytes"], notes["correlation"]) == tuple(int(row[c]) for c in ("registers", "shared_bytes", "correlation"))


def test_counters(program):
    recording = FIXTURES / "kineto/transformer-stacks-shapes-memory.json.zst"
    read = Read(exported(program, recording))
    counters = {track.name: read.values[uuid] for uuid, track in read.tracks.items() if track.HasField("counter")}
    events = [row for row in tables_of(program, recording)["memory_event"] if "device" in row]
    wanted = [(int(r["time"]), float(r["total_allocated"])) for r in events if "total_allocated" in r]
    assert len(wanted) > 1000 and counters["memory allocated"] == sorted(wanted, key=lambda point: point[0])
    assert {track.counter.unit_name for track in read.tracks.values() if track.HasField("counter")} == {"bytes"}


def test_devices_and_processes(program):
    read = Read(exported(program, FIXTURES / "nsys/h100_2gpu_1s.sqlite.zst"))
    names = [track.name for track in read.tracks.values() if track.name]
    assert {"GPU 0", "GPU 1"} <= set(names) and len({t.process.pid for t in read.tracks.values() if t.HasField("process")}) == 2


def test_size(program):
    """At least eight times smaller than what Kineto wrote."""
    for name in ("transformer", "small_kernels", "transformer-stacks-shapes-memory"):
        recording = recorded(f"kineto/{name}")
        assert 8 * len(exported(program, recording)) < len(unpacked(recording))
