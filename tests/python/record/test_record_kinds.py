"""What `record` makes of each kind of record: allocations, graphs at both levels, compilation, clocks that are apart, launches
without kernels, annotations with categories and payloads, many ranks. Recordings are real ones, changed where said.
"""

import collections
import json
import subprocess
import sys

import pytest
from exported import tables_of
from patience import HANGS_S
from played import record_played
from recordings_of_cupti import FIXTURES, lines, script_of_records


@pytest.fixture
def record(program, tmp_path):
    """Records the fake program playing `records`; returns the path of the capture and what was said."""

    def run(records, *options, version="13.0", arguments=(), environment=()):
        capture, script = tmp_path / "run.gpuprof", script_of_records(records, tmp_path, version, lanes=2)
        outcome = record_played(program, script, capture, "--sample", "0", *options, arguments=arguments, environment=environment)
        assert outcome.status == 0, outcome.errors
        return capture, outcome.stderr.decode()

    return run


def losses(program, capture):
    return {row["kind"]: row["count"] for row in program.report(capture, "losses")["losses"].rows}


def peak_of(records):
    """The most device memory that was allocated at once, by replaying the records."""
    live, now, peak = {}, 0, 0
    for r in sorted((r for r in records if r["kind"] == "MEMORY2" and r["memoryKind"] == 3), key=lambda r: r["timestamp"]):
        if r["op"] == 1:
            live[r["address"]] = r["bytes"]
            now += r["bytes"]
        else:
            now -= r["bytes"]
        peak = max(peak, now)
    return peak


@pytest.mark.parametrize("name", ["kern", "memory_bound", "overlap"])
@pytest.mark.parametrize("version", ["12.1", "13.0"])
def test_allocations(program, record, name, version):
    records = lines(FIXTURES / f"{name}.jsonl.xz")
    capture, _ = record(records, "--memory", version=version)
    rows = program.report(capture, "memory")["memory"].rows
    assert [row["peak_bytes"] for row in rows] == [peak_of(records)]


def test_data_of_overhead_is_freed(program, record):
    """Each record of overhead may have data, which are the client's (cupti_activity.h, overheadData)."""
    records = lines()
    count = sum(record["kind"] == "OVERHEAD" for record in records)
    _, said = record(records, environment={"GPUPROF_FAKE_CLIENT_MEMORY": "1"})
    assert count > 0 and f"0 of {count} data of overhead were not freed" in said


@pytest.mark.parametrize(("rules", "refused"), [("fail cuptiActivityEnable:52 21", 0), ("fail cuptiActivityEnable:52 21; fail cuptiActivityEnable:39 21", 1)])
def test_a_cupti_without_records_of_compilation_is_not_a_refusal(program, record, rules, refused):
    """CUPTI 11.8 does not know the kind (52), and one refusal has room: what else is refused (39) is said."""
    capture, _ = record(lines(), environment={"GPUPROF_FAKE_CUPTI_SCRIPT": rules})
    rows = [row for row in program.report(capture, "losses")["losses"].rows if row["kind"] == "recorder_refused"]
    assert len(rows) == refused and all("external correlation ids" in row["place"] for row in rows), rows


def test_no_allocations_without_the_option(program, record):
    capture, _ = record(lines())
    assert program.report(capture, "memory")["memory"].rows == []


def test_a_graph_launch_as_a_whole(program, record):
    records = lines(graphs=True)
    capture, _ = record(records, "--graph", "graph")
    graphs = [r for r in records if r["kind"] == "GRAPH_TRACE"]
    rows = program.report(capture, "kernels")["kernels"].by("name")
    assert rows[f"CUDA graph {graphs[0]['graphId']}"]["count"] == len(graphs)
    assert rows[f"CUDA graph {graphs[0]['graphId']}"]["total_ns"] == sum(r["end"] - r["start"] for r in graphs)
    assert losses(program, capture)["whole_graph"] == len(graphs)


def nodes_of(records, per_graph=3):
    """The same run recorded at node level: every launch of a graph became kernels that share its correlation id."""
    kernel = next(r for r in records if r["kind"] == "KERNEL")
    made = []
    for graph in (r for r in records if r["kind"] == "GRAPH_TRACE"):
        each = (graph["end"] - graph["start"]) // per_graph
        for node in range(per_graph):
            start = graph["start"] + node * each
            made.append({**kernel, "start": start, "end": start + each - 10, "completed": start + each - 10,
                         "correlationId": graph["correlationId"], "graphId": graph["graphId"], "graphNodeId": 4294967296 + node,
                         "streamId": graph["streamId"], "name": f"node_{node}"})
    return [r for r in records if r["kind"] != "GRAPH_TRACE"] + made


def test_the_kernels_of_a_graph(program, record):
    records = lines(graphs=True)
    capture, _ = record(nodes_of(records))
    graphs = sum(r["kind"] == "GRAPH_TRACE" for r in records)
    rows = program.report(capture, "kernels")["kernels"].by("name")
    assert [rows[f"node_{node}"]["count"] for node in range(3)] == [graphs] * 3
    launches = program.report(capture, "api")["api"].by("name")
    assert launches["cudaGraphLaunch"]["count"] == graphs
    assert "unmatched_launch" not in losses(program, capture)  # every node has the launch of its graph


def test_compilation_is_the_tools_and_drivers_work(program, record):
    records = lines()
    start = records[-1].get("start") or min(r["start"] for r in records if r.get("start"))
    jit = [{"kind": "JIT", "entryType": 1, "operationType": 3, "deviceId": 0, "start": start + i * 1000, "end": start + i * 1000 + 700,
            "correlationId": 0, "cacheSize": 0, "cachePath": "", "processId": 1, "threadId": 1} for i in range(4)]
    capture, _ = record(records + jit)
    done = program.run("export", "chrome", capture)
    events = json.loads(done.stdout)["traceEvents"]
    assert sum(event.get("name") == "JIT: compile a kernel" for event in events) == 4


def moved(records, by):
    """The device's clock is off by `by` ns."""
    device = {"KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"}
    return [{**r, "start": r["start"] + by, "end": r["end"] + by} if r["kind"] in device else r for r in records]


@pytest.mark.parametrize("by", [-300_000, 0, 300_000])
def test_a_device_clock_that_is_off_is_moved_and_said(program, record, by):
    records = lines()
    capture, _ = record(moved(records, by))
    events = json.loads(program.run("export", "chrome", capture).stdout)["traceEvents"]
    calls = {e["args"]["correlation"]: e for e in events if e.get("cat") == "cuda_runtime"}
    for event in (e for e in events if e.get("cat") == "kernel"):
        assert event["ts"] >= calls[event["args"]["correlation"]]["ts"]
    told = program.everything_said(capture)
    if by == 0:
        assert "moved by" not in told
    else:
        assert "clock of device 0: moved by" in told
        assert ("moved by -" in told) == (by > 0)


def test_launches_whose_kernels_are_missing_are_counted(program, record):
    records = lines(FIXTURES / "memory_bound.jsonl.xz")
    kernels = [r for r in records if r["kind"] == "KERNEL"]
    gone = {id(r) for r in kernels[::10]}
    capture, _ = record([r for r in records if id(r) not in gone])
    assert losses(program, capture)["launch_without_kernel"] == len(gone)


def test_launches_while_capturing_are_not_missing(program, record):
    records = lines()
    calls = collections.Counter(r["correlationId"] for r in records if r["kind"] == "KERNEL")
    captured = [r for r in records if r["kind"] == "RUNTIME" and r["name"].startswith("cudaLaunchKernel") and r["correlationId"] not in calls]
    assert captured  # the recording has some
    capture, _ = record(records)
    assert "launch_without_kernel" not in losses(program, capture)


def test_annotations_with_everything(program, tmp_path):
    code = """
import nvtx
domain = nvtx.get_domain("mine")
with nvtx.annotate("named", domain="mine", category="stage", payload=42): pass
with nvtx.annotate("plain", payload=-1.5): pass
"""
    capture = tmp_path / "run.gpuprof"
    subprocess.run([program.path, "record", "-o", capture, "--sample", "0", "--quiet", "--", sys.executable, "-c", code], check=True,
                   capture_output=True, timeout=HANGS_S)
    text = program.run("export", "csv", capture).stdout.decode()
    assert "stage" in text
    assert ",42" in text
    assert "-1.5" in text


def test_many_ranks(program, record):
    records = lines()
    kernels = sum(r["kind"] == "KERNEL" for r in records)
    capture, _ = record(records, arguments=["--spawn", "4"], environment={"RANK": "3", "WORLD_SIZE": "8"})
    assert sum(row["count"] for row in program.report(capture, "kernels")["kernels"].rows) == 5 * kernels
    assert {(row["rank"], row["world_size"], row["launcher"]) for row in tables_of(program, capture)["process"] if row["rank"]} == {("3", "8", "torchrun")}
    assert not [r for r in program.report(capture, "losses")["losses"].rows if r["severity"] == "data"]
