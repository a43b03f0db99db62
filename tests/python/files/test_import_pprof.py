"""Profiles of pprof: JAX's device memory against Google's protobuf library, our own export read back, broken files."""

import gzip
from collections import Counter

import pytest
from conftest import FIXTURES, RECORDINGS
from exported import tables_of
from messages import declare

FILE = FIXTURES / "jax/memory.prof"
# proto/profile.proto of github.com/google/pprof; what is repeated and a number is packed.
FIELDS = {
    "Profile": [("sample_type", 1, "ValueType", True), ("sample", 2, "Sample", True), ("location", 4, "Location", True), ("function", 5, "Function", True),
                ("string_table", 6, "string", True)],
    "ValueType": [("type", 1, "int64", False), ("unit", 2, "int64", False)],
    "Sample": [("location_id", 1, "uint64", True), ("value", 2, "int64", True), ("label", 3, "Label", True)],
    "Label": [("key", 1, "int64", False), ("str", 2, "int64", False)],
    "Location": [("id", 1, "uint64", False), ("address", 3, "uint64", False), ("line", 4, "Line", True)],
    "Line": [("function_id", 1, "uint64", False), ("line", 2, "int64", False)],
    "Function": [("id", 1, "uint64", False), ("name", 2, "int64", False), ("filename", 4, "int64", False)],
}
Profile = declare("pprof", FIELDS, "Profile", syntax="proto3")


def stacks(profile):
    """(frames from outside, device) -> sum by type, of the profile as the library reads it."""
    texts = profile.string_table
    functions = {f.id: (texts[f.name], texts[f.filename]) for f in profile.function}
    names = {}
    for location in profile.location:
        lines = [(*functions[line.function_id], line.line) for line in location.line]
        names[location.id] = [f"{name} ({file}:{at})" if at else f"{name} ({file})" if file else name for name, file, at in lines]
    found = {}
    for sample in profile.sample:
        frames = [frame for location in sample.location_id for frame in names[location]][::-1]
        devices = [texts[label.str].rpartition(":")[2] for label in sample.label if texts[label.key] == "device"]
        sums = found.setdefault((";".join(frames), *devices), Counter())
        for kind, value in zip(profile.sample_type, sample.value, strict=True):
            sums[texts[kind.type], texts[kind.unit]] += value
    return found


def imported_stacks(tables):
    nodes = {row["node"]: row for row in tables["call_node"]}
    found = {}
    for metric in tables["call_metric"]:
        frames, at = [], metric["node"]
        while at is not None:
            frames.insert(0, nodes[at]["name"])
            at = nodes[at].get("parent")
        device = [nodes[metric["node"]]["device"]] if "device" in nodes[metric["node"]] else []
        found.setdefault((";".join(frames), *device), Counter())[metric["metric"], metric.get("unit")] += float(metric["value"])
    return found


def test_device_memory_of_jax(program):
    expected = stacks(Profile.FromString(gzip.decompress(FILE.read_bytes())))
    assert imported_stacks(tables_of(program, FILE)) == expected
    assert sum(sums["space", "bytes"] for sums in expected.values()) == 83886090


def test_own_export_comes_back(program, tmp_path):
    for recording in RECORDINGS[:3]:
        file = tmp_path / "profile.pb.gz"
        assert program.run("export", "pprof", recording, "-o", file).status == 0
        assert imported_stacks(tables_of(program, file)) == stacks(Profile.FromString(gzip.decompress(file.read_bytes())))


def test_inlined_functions_addresses_and_gaps(program, tmp_path):
    texts = ["", "n", "count", "inner", "outer"]
    profile = Profile(string_table=texts)
    profile.sample_type.add(type=1, unit=2)
    profile.function.add(id=1, name=3)
    profile.function.add(id=2, name=4)
    inlined = profile.location.add(id=1)
    inlined.line.add(function_id=1)
    inlined.line.add(function_id=2)
    profile.location.add(id=2, address=0xBEEF)
    profile.location.add(id=3).line.add(function_id=9)
    for location in (1, 2, 3, 4):
        profile.sample.add(location_id=[location], value=[location])
    profile.sample.add(location_id=[1], value=[])
    file = tmp_path / "small.pb"
    file.write_bytes(profile.SerializeToString())
    found = {key[0]: sums["n", "count"] for key, sums in imported_stacks(tables_of(program, file)).items()}
    assert found == {"outer;inner": 1, "0xbeef": 2, "unknown": 3 + 4}
    (loss,) = program.report(file, "losses")["losses"].rows
    assert (loss["kind"], loss["count"]) == ("malformed_event", 1)


@pytest.mark.parametrize("kept", [10, 30, 400, 2000, 2900])
def test_cut_off(program, tmp_path, kept):
    file = tmp_path / "cut.prof"
    file.write_bytes(gzip.decompress(FILE.read_bytes())[:kept])
    outcome = program.run("export", "csv", file)
    assert outcome.status == (0 if kept > 100 else 4), outcome.errors  # before any sample there is nothing to export
    assert {row["kind"] for row in program.report(file, "losses")["losses"].rows} <= {"truncated", "malformed_event"}


def test_what_was_allocated_is_not_in_use(program, tmp_path):
    """Go's profiles of memory tell both, and what is in use last."""
    profile = Profile(string_table=["", "alloc_space", "inuse_space", "bytes", "early", "late"])
    for kind in (1, 2):
        profile.sample_type.add(type=kind, unit=3)
    for at, values in enumerate(([9 << 20, 1 << 20], [4 << 20, 3 << 20]), start=1):
        profile.function.add(id=at, name=3 + at)
        profile.location.add(id=at).line.add(function_id=at)
        profile.sample.add(location_id=[at], value=values)
    file = tmp_path / "heap.pb"
    file.write_bytes(profile.SerializeToString())
    assert program.report(file).document["verdict"]["because"] == "4.00 MiB are in use; 75 % of what is in use is in late"
