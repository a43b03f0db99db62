"""PyTorch's memory snapshots against Python's own pickle module, and its raw memory timeline; hostile pickles are refused."""

import gzip
import json
import pickle
import subprocess
import pickletools
from collections import Counter
from itertools import accumulate

import pytest
from conftest import FIXTURES
from exported import tables_of

SNAPSHOT = FIXTURES / "memory/growth.snapshot.pickle.gz"
TIMELINE = FIXTURES / "memory/memory_analysis__memory_timeline.raw.zst"
CATEGORIES = ["parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "autograd_detail", None]


@pytest.fixture(scope="module")
def snapshot():
    return pickle.loads(gzip.decompress(SNAPSHOT.read_bytes()))


def stack(frames):
    def place(frame):
        line = f":{frame['line']}" if frame["line"] > 0 else ""
        return "" if frame["filename"] in ("", "??") else f" ({frame['filename']}{line})"

    return ";".join(frame["name"] + place(frame) for frame in reversed(frames))


def write(tmp_path, data):
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(data)
    return file


def test_blocks(program, snapshot):
    wanted = Counter()
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            asked = None if block["state"] == "inactive" else str(block["requested_size"])
            wanted[(str(segment["address"]), str(segment["total_size"]), str(block["address"]), str(block["size"]), asked, block["state"], stack(block["frames"]) or None)] += 1
    rows = tables_of(program, SNAPSHOT)["memory_block"]
    assert Counter(tuple(row.get(c) for c in ("segment", "segment_bytes", "address", "bytes", "requested_bytes", "state", "stack")) for row in rows) == wanted
    live = sum(int(row["bytes"]) for row in rows if row["state"] == "active_allocated")
    assert live == sum(segment["allocated_size"] for segment in snapshot["segments"])


def test_history(program, snapshot):
    wanted = [(str(e["time_us"] * 1000), str(e["addr"]), str(e["size"] if e["action"] == "alloc" else -e["size"]), str(e["stream"]), stack(e["frames"]) or None)
              for e in snapshot["device_traces"][0] if e["action"] in ("alloc", "free_requested")]
    rows = tables_of(program, SNAPSHOT)["memory_event"]
    assert [tuple(row.get(c) for c in ("time", "address", "bytes", "stream", "stack")) for row in rows] == wanted
    assert int(rows[-1]["total_allocated"]) == sum(s["allocated_size"] for s in snapshot["segments"])
    assert int(rows[-1]["total_reserved"]) == sum(s["total_size"] for s in snapshot["segments"])
    for before, row in zip(rows, rows[1:]):
        assert int(row["total_allocated"]) - int(before["total_allocated"]) == int(row["block_bytes"])


def blocks_over_time(snapshot):
    """(event, bytes of its block) of the history: a block that is still there has its size, another is rounded up to 512 bytes."""
    there = {b["address"]: b["size"] for s in snapshot["segments"] for b in s["blocks"] if b["state"] == "active_allocated"}
    events = [e for e in snapshot["device_traces"][0] if e["action"] in ("alloc", "free_requested")]
    last = {e["addr"]: i for i, e in enumerate(events)}
    sizes, open_at = [], {}
    for i, e in enumerate(events):
        size = max(512, -(-e["size"] // 512) * 512)
        if e["action"] == "alloc":
            open_at[e["addr"]] = size = there[e["addr"]] if last[e["addr"]] == i else size
        sizes.append(size if e["action"] == "alloc" else -open_at.pop(e["addr"], size))
    return list(zip(events, sizes))


def test_peak_and_its_owner(program, snapshot):
    """torch.cuda.max_memory_allocated() counts the allocator's blocks, not the requested sizes."""
    (row,) = program.report(SNAPSHOT, "memory")["memory"].rows
    history = blocks_over_time(snapshot)
    now = sum(s["allocated_size"] for s in snapshot["segments"]) - sum(size for _, size in history)
    live = [now := now + size for _, size in history]
    assert row["peak_bytes"] == max(live)
    assert row["peak_bytes"] > max(accumulate((e["size"] if e["action"] == "alloc" else -e["size"] for e, _ in history), initial=0))
    assert ".py:" in row["largest"]


def test_allocations_are_the_peak(program, snapshot):
    (peak,) = program.report(SNAPSHOT, "memory")["memory"].rows
    history = blocks_over_time(snapshot)
    now = sum(s["allocated_size"] for s in snapshot["segments"]) - sum(size for _, size in history)
    totals = [now := now + size for _, size in history]
    live = {}
    for e, size in history[:totals.index(max(totals)) + 1]:
        live.pop(e["addr"], None)
        if size > 0:
            live[e["addr"]] = (stack(e["frames"]), size)
    ended = {}
    for e, size in history:
        ended.pop(e["addr"], None)
        if size > 0:
            ended[e["addr"]] = size
    wanted = Counter()
    for where, size in live.values():
        wanted[where or None] += size
    for s in snapshot["segments"]:
        for b in s["blocks"]:
            if b["state"] == "active_allocated" and b["address"] not in ended:
                wanted[stack(b["frames"]) or None] += b["size"]
    found = Counter()
    for row in program.report(SNAPSHOT, "allocations")["allocations"].rows:
        found[row["stack"]] += row["bytes"]
    assert sum(found.values()) == peak["peak_bytes"]
    rest = peak["peak_bytes"] - sum(wanted.values())
    wanted[None] += rest
    assert rest >= 0 and +found == +wanted


def test_growth(program, snapshot):
    """Of each stack what it held halfway through the history and at its end."""
    history = blocks_over_time(snapshot)
    times = [e["time_us"] for e, _ in history]
    half = times[0] + (times[-1] - times[0]) / 2
    wanted, owner = {}, {}
    for e, size in history:
        if size > 0:
            owner[e["addr"]] = stack(e["frames"]) or None
        elif e["addr"] not in owner:
            continue
        course = wanted.setdefault(owner[e["addr"]] if size > 0 else owner.pop(e["addr"]), [0, 0])
        course[1] += size
        course[0] += size if e["time_us"] <= half else 0
    rows = program.report(SNAPSHOT, "growth")["growth"].rows
    assert {row["stack"]: [row["from_bytes"], row["to_bytes"]] for row in rows} == {k: v for k, v in wanted.items() if v[1] or v[0] != v[1]}
    assert all(row["grown_bytes"] == row["to_bytes"] - row["from_bytes"] for row in rows)
    assert rows[0]["grown_bytes"] > 0 and rows == sorted(rows, key=lambda row: -row["grown_bytes"]) and ".py:" in rows[0]["owner"]


def test_fragmentation(program, snapshot):
    (row,) = program.report(SNAPSHOT, "fragmentation")["fragmentation"].rows
    segments = snapshot["segments"]
    blocks = [b for s in segments for b in s["blocks"]]
    free = [b["size"] for b in blocks if b["state"] == "inactive"]
    used = [b for b in blocks if b["state"] == "active_allocated"]
    assert row["reserved_bytes"] == sum(s["total_size"] for s in segments)
    assert row["allocated_bytes"] == sum(s["allocated_size"] for s in segments)
    assert row["rounding_bytes"] == sum(b["size"] - b["requested_size"] for b in used)
    assert (row["free_bytes"], row["largest_free_bytes"], row["free_blocks"]) == (sum(free), max(free), len(free))
    assert row["reserved_bytes"] == row["allocated_bytes"] + row["pending_bytes"] + row["free_bytes"]
    assert row["releasable_bytes"] == sum(s["total_size"] for s in segments if all(b["state"] == "inactive" for b in s["blocks"]))
    assert row["segments"] == len(segments)


def test_a_snapshot_without_history(program, snapshot, tmp_path):
    """Its blocks identify the holders of memory, but not those at the peak."""
    outcome = program.run("report", write(tmp_path, pickle.dumps({"segments": snapshot["segments"], "device_traces": [[]]})), "allocations", "--format", "json")
    (table,) = json.loads(outcome.stdout)["tables"]
    assert sum(row[2] for row in table["rows"]) == sum(s["allocated_size"] for s in snapshot["segments"])
    assert "no history was recorded" in table["notes"][0]


@pytest.mark.parametrize("protocol", range(6))
def test_every_protocol(program, snapshot, tmp_path, protocol):
    data = pickle.dumps(snapshot, protocol=protocol)
    assert tables_of(program, write(tmp_path, data)) == tables_of(program, SNAPSHOT)


def test_values_of_every_kind_are_followed(program, tmp_path):
    odd = {"x": [None, True, False, -1, 1 << 70, -(1 << 70), (1 << 64) - 1, 1.5, float("inf"), b"bytes", bytearray(b"array") if False else b"", (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), {1, 2}, frozenset({3})],
           "segments": [{"device": 0, "address": (1 << 63) + 4096, "total_size": 1024, "stream": 0, "blocks": [{"size": 1024, "state": "inactive"}]}], "device_traces": []}
    odd["x"].append(odd["x"])  # a circle
    for protocol in (4, 5):  # earlier ones make sets by a call
        (row,) = tables_of(program, write(tmp_path, pickle.dumps(odd, protocol=protocol)))["memory_block"]
        assert (int(row["address"]), row["bytes"]) == ((1 << 63) + 4096 - (1 << 64), "1024")


class Hostile:
    def __reduce__(self):
        return (print, ("ran",))


class State:
    pass


@pytest.mark.parametrize("value", [Hostile(), State(), print, complex(1, 2), Counter(a=1)])
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_pickles_that_name_code_are_refused(program, tmp_path, value, protocol):
    data = pickle.dumps({"segments": [], "x": value}, protocol=protocol)
    outcome = program.run("report", write(tmp_path, data), "memory")
    assert outcome.status == 3 and outcome.stdout == b""
    assert "only plain values" in outcome.errors[0] and len(outcome.errors) == 1


def test_every_opcode_is_read_refused_or_unknown_to_pickle(program, tmp_path):
    """No opcode is passed over: each one alone behind a valid beginning is an error, never a crash."""
    for opcode in pickletools.opcodes:
        data = b"\x80\x04}X\x08\x00\x00\x00segments]s" + opcode.code.encode("latin-1")
        assert program.run("report", write(tmp_path, data), "memory").status in (0, 3)


def test_cut_off_and_damaged(program, tmp_path):
    data = gzip.decompress(SNAPSHOT.read_bytes())
    outcome = program.run("report", write(tmp_path, data[:15]), "memory")  # tests/unit/importers/damaged_test.cc cuts further on
    assert outcome.status == 3 and "unexpected end" in outcome.errors[0]
    (loss,) = program.report(write(tmp_path, data[:-1]), "losses")["losses"].rows
    assert loss["kind"] == "truncated" and "unexpected end" in loss["place"]
    assert program.run("report", write(tmp_path, pickle.dumps([1, "segments"])), "memory").status in (0, 3)


def test_history_and_blocks_of_different_moments(program, tmp_path):
    """More was released than the blocks can account for: events stay, totals are absent and that is said."""
    entry = {"action": "alloc", "addr": 1, "size": 10, "stream": 0, "time_us": 5, "frames": []}
    file = write(tmp_path, pickle.dumps({"segments": [], "device_traces": [[entry, {**entry, "action": "unheard of"}, {**entry, "action": "oom", "size": 77}]]}))
    (row,) = tables_of(program, file)["memory_event"]
    assert row["bytes"] == "10" and "total_allocated" not in row
    losses = {row["kind"]: row["place"] for row in program.report(file, "losses")["losses"].rows}
    assert set(losses) == {"bad_number", "unknown_event", "recorder_warning"} and "77 bytes" in losses["recorder_warning"]


def test_what_the_program_said(program, tmp_path):
    """Metadata of any plain kind, the compilation and the pool; the allocator's own pair of events counts for nothing."""
    entry = {"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "time_us": 5, "frames": []}
    self_referring = {}
    self_referring["again"] = self_referring
    said = [{"user_metadata": "weights of layer 3", "compile_context": "0/1", "pool_id": (0, 1)}, {"user_metadata": {"layer": 3, 7: [1.5, True, None]}, "segment_pool_id": (0, 0)},
            {"user_metadata": "", "compile_context": None}, {"user_metadata": self_referring}, {"user_metadata": "x" * 5000}]
    entries = [{**entry, "addr": 4096 * (n + 1), **each} for n, each in enumerate(said)]
    own = [{**entry, "addr": 1 << 20, "size": 1 << 30, "internal_metadata": "warm-up"}, {**entry, "action": "free_requested", "addr": 1 << 20, "size": 1 << 30, "internal_metadata": "warm-up"}]
    blocks = [{"address": e["addr"], "size": 512, "requested_size": 512, "state": "active_allocated", "frames": []} for e in entries]
    file = write(tmp_path, pickle.dumps({"segments": [{"device": 0, "address": 4096, "total_size": 4096, "stream": 0, "blocks": blocks}], "device_traces": [entries[:2] + own + entries[2:]]}))
    rows = tables_of(program, file)["memory_event"]
    assert [(row.get("user_metadata"), row.get("compile_context"), row.get("pool")) for row in rows] == [
        ("weights of layer 3", "0/1", "0:1"), ('{"layer": 3, "7": [1.5, true, null]}', None, None), (None,) * 3, (None,) * 3, (None,) * 3]
    (peak,) = program.report(file, "memory")["memory"].rows
    assert peak["peak_bytes"] == 5 * 512
    assert {row["kind"]: row["count"] for row in program.report(file, "losses")["losses"].rows} == {"too_deep": 2, "recorder_work": 2}


def test_one_frame_named_a_million_times(program, tmp_path):
    """A small file that would give a text of many gigabytes: the stacks are omitted, and counted."""
    frame = {"name": "f" * 60_000, "filename": "a.py", "line": 1}
    blocks = [{"address": i, "size": 1, "state": "inactive", "frames": [frame] * 1000} for i in range(300)]
    file = write(tmp_path, pickle.dumps({"segments": [{"device": 0, "address": 0, "total_size": 300, "stream": 0, "blocks": blocks}]}))
    (loss,) = program.report(file, "losses")["losses"].rows
    assert loss["kind"] == "too_deep" and loss["count"] > 250


def unpacked(path):
    return subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout


def test_timeline(program):
    events = json.loads(unpacked(TIMELINE))
    first = min(time for time, *_ in events if time >= 0)
    rows = tables_of(program, TIMELINE)["memory_event"]
    assert [(row["time"], row["bytes"], row.get("category")) for row in rows] == [(str(time if time >= 0 else first), str(size), CATEGORIES[category]) for time, _, size, category in events]
    peak = live = 0
    for _, _, size, _ in sorted(events, key=lambda e: max(e[0], first)):
        live += size
        peak = max(peak, live)
    (row,) = program.report(TIMELINE, "memory")["memory"].rows
    assert row["peak_bytes"] == peak and row["device"] is None and " parameter" in row["largest"]


def test_timeline_cut_off(program, tmp_path):
    text = unpacked(TIMELINE)[:1000]
    (loss,) = program.report(write(tmp_path, text), "losses")["losses"].rows
    assert loss["kind"] == "truncated"
