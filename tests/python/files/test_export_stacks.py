"""Folded stacks, pprof, OpenTelemetry's profiles, Hatchet's JSON and speedscope: their sums are the recording's, their form is what readers want."""

import csv
import gzip
import io
import json
from collections import Counter

import pytest
from conftest import FIXTURES, RECORDINGS, short_name
from exported import tables_of

DEVICE_WORK = ("kernel", "memcpy", "memset")
SOME = [path for path in RECORDINGS if short_name(path) in ("transformer", "overlap", "graph", "trace_filter__sampled_rank-0", "triton_example__triton_example")]


@pytest.fixture(params=SOME, ids=short_name)
def recording(request):
    return request.param


def exported(program, form, recording):
    outcome = program.run("export", form, recording, "-o", "-")
    assert outcome.status == 0, outcome.errors
    return outcome.stdout


def device_time(program, recording):
    tables = tables_of(program, recording)
    return sum(int(row["dur"]) for name in DEVICE_WORK for row in tables.get(name, [])), sum(len(tables.get(name, [])) for name in DEVICE_WORK)


def folded(program, recording):
    lines = exported(program, "folded", recording).decode().splitlines()
    stacks = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines}
    assert len(stacks) == len(lines)  # each path once
    return stacks


def test_folded(program, recording):
    stacks = folded(program, recording)
    assert sum(stacks.values()) == device_time(program, recording)[0]
    by_kernel = Counter()
    for stack, value in stacks.items():
        by_kernel[stack.rpartition(";")[2]] += value
    tables = tables_of(program, recording)
    wanted = Counter()
    for row in tables["kernel"]:
        wanted[row["name"].replace(";", ",")] += int(row["dur"])
    assert {name: by_kernel[name] for name in wanted} == dict(wanted)


def test_what_stands_around_a_kernel(program):
    """The matrix products of the backward pass stand below its operators, those of the forward pass below the step."""
    stacks = folded(program, FIXTURES / "kineto/transformer.json.zst")
    gemm = [stack for stack in stacks if stack.split(";")[-1].startswith("nvjet")]
    assert any(stack.startswith("ProfilerStep#") and ";aten::linear;aten::addmm;" in stack for stack in gemm)
    assert any(stack.startswith("autograd::engine::evaluate_function: AddmmBackward0;AddmmBackward0;aten::mm;") for stack in gemm)


def test_hatchet(program, recording):
    root, devices = json.loads(exported(program, "hatchet", recording))
    total = count = 0
    paths, open_nodes = Counter(), [(root, ())]
    while open_nodes:
        node, path = open_nodes.pop()
        assert node["frame"]["type"] == "function" and len({child["frame"]["name"] for child in node["children"] if not child["metrics"]}) == sum(not child["metrics"] for child in node["children"])
        total += node["metrics"].get("time (ns)", 0)
        count += node["metrics"].get("count", 0)
        if node["metrics"]:
            paths[";".join(path)] += node["metrics"]["time (ns)"]
        open_nodes += [(child, (*path, child["frame"]["name"].replace(";", ","))) for child in node["children"]]
    assert (total, count) == device_time(program, recording)
    assert {path: value for path, value in paths.items() if value} == folded(program, recording)
    assert set(devices) == {"CUDA"}


def fields(data):
    """(number, value) of a protobuf message: whole numbers and byte strings."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, int.from_bytes(data[at: at + 8], "little")
            at += 8
        else:
            assert key & 7 == 2
            size = varint()
            yield key >> 3, data[at: at + size]
            at += size


def packed(data):
    return [value for _, value in fields(b"".join(b"\x08" + piece for piece in split_varints(data)))]


def split_varints(data):
    start = 0
    for i, byte in enumerate(data):
        if byte < 128:
            yield data[start: i + 1]
            start = i + 1


def test_pprof(program, recording):
    """The same stacks as `folded`, by profile.proto."""
    profile = list(fields(gzip.decompress(exported(program, "pprof", recording))))
    strings = [value.decode() for number, value in profile if number == 6]
    assert strings[0] == ""
    assert [tuple(strings[v] for _, v in fields(value)) for number, value in profile if number == 1] == [("launches", "count"), ("device", "nanoseconds")]
    functions = {dict(fields(value))[1]: strings[dict(fields(value))[2]] for number, value in profile if number == 5}
    locations = {dict(fields(value))[1]: functions[dict(fields(dict(fields(value))[4]))[1]] for number, value in profile if number == 4}
    stacks, launches = Counter(), 0
    for number, value in profile:
        if number == 2:
            sample = dict(fields(value))
            count, device = packed(sample[2])
            stacks[";".join(locations[place].replace(";", ",") for place in reversed(packed(sample[1])))] += device
            launches += count
    assert {stack: value for stack, value in stacks.items() if value} == folded(program, recording)
    assert launches == device_time(program, recording)[1]


def test_otlp_profiles(program, recording):
    """The same stacks as `folded`, by OpenTelemetry's profiles.proto 1.11.0, and what it demands of dictionaries."""
    data = list(fields(exported(program, "otlp-profiles", recording)))
    assert [number for number, _ in data] == [1, 2]
    tables = {}
    for number, value in fields(data[1][1]):
        tables.setdefault(number, []).append(value)
    zero = {number: table[0] for number, table in tables.items()}
    assert zero == {1: b"", 2: b"", 3: b"", 4: b"\x0a\x10" + bytes(16) + b"\x12\x08" + bytes(8), 5: b"", 6: b"", 7: b""}
    assert all(len(set(table)) == len(table) for table in tables.values())
    assert len(tables[1]) == len(tables[4]) == 1
    strings = [value.decode() for value in tables[5]]
    functions = [strings[dict(fields(value)).get(1, 0)] for value in tables[3]]
    locations = [functions[dict(fields(dict(fields(value)).get(3, b""))).get(1, 0)] for value in tables[2]]
    stacks = [[locations[place] for place in packed(dict(fields(value)).get(1, b""))] for value in tables[7]]
    assert {place for value in tables[7] for place in packed(dict(fields(value)).get(1, b""))} == set(range(1, len(locations)))  # all are used
    attributes = [dict(fields(value)) for value in tables[6]]
    resource, scope_profiles = (dict(fields(data[0][1])).get(number) for number in (1, 2))
    assert resource is None or {dict(fields(value))[1] for _, value in fields(resource)} <= {b"service.name", b"host.name"}
    found, types = [], []
    for number, profile in fields(scope_profiles):
        if number == 1:
            assert list(fields(profile)) == [(1, b"gpu-profile")]
            continue
        types.append([strings[value] for _, value in fields(dict(fields(profile))[1])])
        assert dict(fields(profile)).get(3, 10**18) >= 10**18 and dict(fields(profile))[4] > 0
        values, identities = Counter(), set()
        for number, value in fields(profile):
            if number == 2:
                sample = dict(fields(value))
                (attribute,), (measured,) = packed(sample[2]), packed(sample[4])
                assert (sample[1], attribute) not in identities and sample[1] > 0 < attribute
                identities.add((sample[1], attribute))
                assert strings[attributes[attribute][1]] == "gpu"
                values[dict(fields(attributes[attribute][2]))[3], ";".join(name.replace(";", ",") for name in reversed(stacks[sample[1]]))] += measured
        found.append(values)
    assert types == [["gpu_time", "nanoseconds"], ["gpu_launches", "count"]]
    by_stack, by_device = Counter(), Counter()
    for (device, stack), value in found[0].items():
        by_stack[stack] += value
        by_device[device] += value
    assert {stack: value for stack, value in by_stack.items() if value} == folded(program, recording)
    wanted = Counter()
    for table in DEVICE_WORK:
        for row in tables_of(program, recording).get(table, []):
            wanted[int(row["device"] or 0)] += int(row["dur"])
    assert by_device == wanted
    assert sum(found[1].values()) == device_time(program, recording)[1]


def test_speedscope(program, recording):
    document = json.loads(exported(program, "speedscope", recording))
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    assert len(set(frames)) == len(frames)
    spans = Counter()
    for profile in document["profiles"]:
        assert profile["type"] == "evented" and profile["unit"] == "nanoseconds"
        open_events, last = [], 0
        for event in profile["events"]:
            assert last <= event["at"] <= profile["endValue"]
            last = event["at"]
            if event["type"] == "O":
                open_events.append(event)
            else:
                begun = open_events.pop()
                assert begun["frame"] == event["frame"]  # a reader refuses anything else
                if profile["name"].startswith("GPU"):
                    spans[frames[event["frame"]]] += event["at"] - begun["at"]
        assert not open_events
    assert sum(spans.values()) == device_time(program, recording)[0]


def test_python_stacks(program, tmp_path):
    """A capture with samples of stacks, made by hand."""
    capture = tmp_path / "stacks.gpuprof"
    outcome = program.run("record", "-o", capture, "--python", "200", "--", "python3", "-c", "import time\ndef wait_here():\n    time.sleep(0.4)\nwait_here()")
    rows = tables_of(program, capture).get("stack_sample", []) if outcome.status == 0 else []
    if not rows:
        pytest.skip(f"Python stacks cannot be read here: {outcome.errors}")
    lines = exported(program, "folded-python", capture).decode().splitlines()
    counted = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines}
    assert sum(counted.values()) == len(rows) and any(";wait_here (" in stack for stack in counted)
    document = json.loads(exported(program, "speedscope", capture))
    sampled = [p for p in document["profiles"] if p["type"] == "sampled"]
    assert sum(len(p["samples"]) for p in sampled) == len(rows) == sum(sum(p["weights"]) for p in sampled)


@pytest.mark.parametrize("form", ["perfetto", "nsys", "speedscope", "folded", "folded-python", "pprof", "otlp-profiles", "hatchet", "chrome", "csv", "capture"])
def test_a_recording_without_anything(program, tmp_path, form):
    """There is nothing to export, and no file is written."""
    empty = tmp_path / "empty.json"
    empty.write_text('{"schemaVersion": 1, "traceEvents": []}')
    assert program.run("export", form, empty, "-o", tmp_path / "out").status == 4
    assert not (tmp_path / "out").exists()
    outcome = program.run("export", form, FIXTURES / "kineto/graph.json.zst", "-o", "/dev/full")
    assert form == "folded-python" or (outcome.status != 0 and len(outcome.errors) == 1)


def test_folded_python_of_recorded_calls(program):
    """Each stretch of a thread belongs to one stack: together they are the time that `stacks` says, function by function."""
    recording = FIXTURES / "kineto/transformer-stacks-shapes-memory.json.zst"
    wanted = Counter()
    for row in csv.DictReader(io.StringIO(program.run("report", recording, "stacks", "--format", "csv", "--limit", "0").stdout.decode())):
        wanted[row["function"], row["file"]] += int(row["self_ns"])
    found = Counter()
    for line in exported(program, "folded-python", recording).decode().splitlines():
        stack, _, value = line.rpartition(" ")
        thread, *_, frame = stack.split(";")
        assert thread.startswith("thread ")
        function, _, place = frame.rpartition(" (")
        found[(function, place.rpartition(":")[0]) if ".py:" in place or place.startswith("<frozen") else (frame, "")] += int(value)
    assert found["forward", "workloads.py"] > 0
    assert +found == +wanted
