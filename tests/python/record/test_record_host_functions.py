"""Functions of the host that streams wait for (kinds 58 and 56 of CUPTI 13.1 and later), and what a graph does that the device launched:
under Blackwell's hardware event system such records have correlation id 0 (cupti_activity.h)."""

import json

import pytest
from played import record_played
from recordings_of_cupti import kernels_in, lines, script_of_records

US = 1000


@pytest.fixture
def record(program, tmp_path):
    def run(records, *options, version=130101):
        capture, script = tmp_path / "run.gpuprof", script_of_records(records, tmp_path)
        outcome = record_played(program, script, capture, "--sample", "0", *options, play="inline live", rules=f"version {version}")
        assert outcome.status == 0, outcome.errors
        return capture

    return run


def rows(program, capture, query):
    done = program.run("query", capture, query, "--format", "json")
    assert done.status == 0, done.errors
    return [tuple(row) for row in json.loads(done.stdout)["tables"][0]["rows"]]


def launches(*kernels, after=()):
    """Kernels that begin and end when said (us), launched one right after another, on one stream; then other records, whose correlation ids go on."""
    recorded = lines()
    kernel = next(iter(kernels_in(recorded)))
    call = next(r for r in recorded if r["kind"] == "RUNTIME" and r["correlationId"] == kernel["correlationId"])
    t0 = call["start"]
    made = [r for r in recorded if r["kind"] in ("DEVICE", "CONTEXT")]
    for number, (start, end) in enumerate(kernels):
        at = t0 + 2 * US * number
        made += [{**call, "start": at, "end": at + US, "correlationId": number + 1},
                 {**kernel, "start": t0 + start * US, "end": t0 + end * US, "completed": t0 + end * US, "correlationId": number + 1}]
    for extra in after:
        record = {**extra, **{key: t0 + extra[key] * US for key in ("start", "end") if key in extra}}
        made.append({**call, **record} if extra["kind"] == "RUNTIME" else record)
    return made, kernel


LAUNCH = {"kind": "RUNTIME", "cbid": 284, "name": "cudaLaunchHostFunc_v10000", "start": 5, "end": 6, "correlationId": 9}
RAN = {"kind": "HOST_LAUNCH", "start": 200, "end": 900, "deviceId": 0, "contextId": 1, "correlationId": 9, "processId": 1, "threadId": 4711}


def test_a_host_function_is_what_its_stream_waits_for(program, record):
    records, kernel = launches((10, 200), (910, 1000), after=[LAUNCH, {**RAN, "streamId": kernels_in(lines())[0]["streamId"]}])
    capture = record(records)
    assert rows(program, capture, "select kind, stream, correlation, dur_ns, thread is not null from sync") == [("Host Function", kernel["streamId"], 9, 700 * US, 1)]
    assert rows(program, capture, "select a.name from sync s join api_call a on a.correlation = s.correlation") == [("cudaLaunchHostFunc",)]
    gaps = program.report(capture, "gaps")["gaps"].rows
    assert [(row["cause"], row["host_what"]) for row in gaps if row["dur_ns"] > 500 * US] == [("host compute", "Host Function")]


def test_another_streams_function_explains_nothing(program, record):
    records, _ = launches((10, 200), (910, 1000), after=[LAUNCH, {**RAN, "streamId": 99}])
    gaps = program.report(record(records), "gaps")["gaps"].rows
    assert "Host Function" not in {row["host_what"] for row in gaps} and any(row["dur_ns"] > 500 * US for row in gaps)


def test_a_host_node_of_a_graph(program, record):
    node = {**RAN, "kind": "GRAPH_HOST_NODE", "graphId": 2, "graphNodeId": 12, "streamId": 7, "correlationId": 1}
    records, _ = launches((10, 200), (910, 1000), after=[node, {**node, "start": 1100, "end": 1101, "correlationId": 2}])
    found = rows(program, record(records), "select kind, stream, correlation, dur_ns, thread is not null from sync order by start_ns")
    assert found == [("Host Function", 7, 1, 700 * US, 1), ("Host Function", 7, 2, US, 1)]


def test_unknown_times_are_counted(program, record):
    records, _ = launches((10, 200), after=[])
    capture = record([*records, {**RAN, "streamId": 7, "start": 0, "end": 0}])
    assert rows(program, capture, "select count(*) from sync") == [(0,)]
    assert "untimed_op" in {row["kind"] for row in program.report(capture, "losses")["losses"].rows}


def test_cupti_before_13_1_has_no_such_records(program, record):
    records, _ = launches((10, 200), after=[LAUNCH, {**RAN, "streamId": 7}])
    capture = record(records, version=130001)
    assert rows(program, capture, "select count(*) from sync") == [(0,)]
    assert program.report(capture, "losses")["losses"].rows == []


def test_kernels_of_a_graph_that_the_device_launched(program, record):
    """They have no call, so that they are neither work without a launch nor the work of another call."""
    records, kernel = launches((10, 20), (30, 40))
    moved = [{**kernel, "start": kernel["start"], "end": kernel["start"] + 5 * US, "completed": kernel["start"] + 5 * US, "correlationId": 0,
              "graphId": 3, "graphNodeId": 100 + number} for number in range(4)]
    capture = record(records + moved)
    assert rows(program, capture, "select count(*), count(correlation), count(graph_node_id) from kernel") == [(6, 2, 4)]
    assert program.report(capture, "losses")["losses"].rows == []


def test_whole_graphs_that_the_device_launched(program, record):
    graph = {"kind": "DEVICE_GRAPH_TRACE", "deviceId": 0, "contextId": 1, "graphId": 8, "launcherGraphId": 7, "deviceLaunchMode": 1, "streamId": 2**40, "start": 50, "end": 90}
    records, _ = launches((10, 20), after=[graph])
    capture = record(records, "--graph", "graph")
    assert rows(program, capture, "select name, dur_ns, stream, correlation from kernel where graph_id = 8") == [("CUDA graph 8", 40 * US, None, None)]
    assert {row["kind"]: row["count"] for row in program.report(capture, "losses")["losses"].rows} == {"whole_graph": 1}
