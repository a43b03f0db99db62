"""Calls that order streams: `record` reads their streams and events from the arguments. The truth is in the script: CUPTI's
own records of events and synchronisation, which `record` does not ask for.
"""

import json
import re

import pytest
from played import record_played
from recordings_of_cupti import FIXTURES, kernels_in, lines, script_of_records

OVERLAP = FIXTURES / "overlap.jsonl.xz"
PLAY = "inline live"
FIELDS = "kind, stream, wait_on_stream, wait_on_correlation, correlation, dur_ns"


@pytest.fixture
def record(program, tmp_path):
    def run(records, *options, **how):
        capture, script = tmp_path / "run.gpuprof", script_of_records(records, tmp_path)
        outcome = record_played(program, script, capture, "--sample", "0", *options, **{"play": PLAY, **how})
        assert outcome.status == 0, outcome.errors
        return capture, " ".join(outcome.stderr.decode().split())

    return run


def rows(program, capture, query):
    done = program.run("query", capture, query, "--format", "json")
    assert done.status == 0, done.errors
    return [tuple(row) for row in json.loads(done.stdout)["tables"][0]["rows"]]


def waits(program, capture, fields="stream, wait_on_stream, wait_on_correlation, correlation"):
    return rows(program, capture, f"select {fields} from sync where kind = 'Stream Wait Event' order by correlation")


def waits_in(records):
    """Each wait with the last record of its event before it."""
    events, found = {}, []
    for record in sorted((r for r in records if "correlationId" in r), key=lambda r: r["correlationId"]):
        if record["kind"] == "CUDA_EVENT":
            events[record["eventId"]] = record
        if record["kind"] == "SYNCHRONIZATION" and record["type"] == 2:
            event = events[record["cudaEventId"]]
            found.append((record["streamId"], event["streamId"], event["correlationId"], record["correlationId"]))
    return found


def with_driver_calls(records):
    """The same program on the driver's functions."""
    names = {370: (587, "cuEventRecordWithFlags"), 147: (295, "cuStreamWaitEvent")}
    return [{**r, "kind": "DRIVER", "cbid": names[r["cbid"]][0], "name": names[r["cbid"]][1]}
            if r["kind"] == "RUNTIME" and r["cbid"] in names else r for r in records]


def test_waits_are_those_of_the_program(program, record):
    """The runtime's functions call the driver's, whose callbacks come too: each call is one row."""
    records = lines(OVERLAP)
    capture, _ = record(records)
    assert len(waits_in(records)) > 20
    assert waits(program, capture) == waits_in(records)
    assert rows(program, capture, "select count(*), max(dur_ns) from sync where kind = 'Stream Wait Event'") == [(len(waits_in(records)), 0)]


def test_driver_functions(program, record):
    records = with_driver_calls(lines(OVERLAP))
    capture, _ = record(records)
    assert waits(program, capture) == waits_in(records)


def test_waits_of_the_host(program, record):
    """cudaStreamSynchronize and cudaEventSynchronize, with the times of their calls."""
    records = lines(OVERLAP)
    first = next(r for r in records if r["kind"] == "CUDA_EVENT")
    call = next(r for r in records if r["kind"] == "RUNTIME" and r["correlationId"] == first["correlationId"])
    end = max(r["correlationId"] for r in records if "correlationId" in r)
    last = max(r["end"] for r in records if r.get("end"))
    for number, (cbid, name, sync) in enumerate([(131, "cudaStreamSynchronize_v3020", 3), (137, "cudaEventSynchronize_v3020", 1)], 1):
        times = {"start": last + number * 1000, "end": last + number * 1000 + 500}
        records.append({"kind": "SYNCHRONIZATION", "type": sync, **times, "correlationId": end + number, "contextId": 1,
                        "streamId": 13, "cudaEventId": first["eventId"], "returnValue": 0})
        records.append({**call, "cbid": cbid, "name": name, **times, "correlationId": end + number})
    capture, _ = record(records)
    assert rows(program, capture, f"select {FIELDS} from sync where correlation > {end} order by correlation") == [
        ("Stream Sync", 13, None, None, end + 1, 500), ("Event Sync", None, 13, first["correlationId"], end + 2, 500)]


def test_calls_that_failed_order_nothing(program, record):
    records = [{**r, "returnValue": 400} if r.get("name", "").startswith("cudaStreamWaitEvent") else r for r in lines(OVERLAP)]
    capture, _ = record(records)
    assert waits(program, capture) == []


def test_waits_in_a_capture_are_edges_of_a_graph(program, record):
    """The first event is recorded, and waited for, while its stream is captured; the stream that waits joins the capture."""
    records = lines(OVERLAP)
    event = next(r for r in records if r["kind"] == "CUDA_EVENT")
    inside = waits_in(records)[0]
    assert inside[2] == event["correlationId"]
    call = next(r for r in records if r["kind"] == "RUNTIME" and r["correlationId"] == inside[2])
    last = max(r["correlationId"] for r in records if "correlationId" in r)

    def on_stream_13(cbid, name, correlation):
        made = {"correlationId": correlation, "contextId": 1, "streamId": 13, "cudaEventId": 0, "returnValue": 0}
        return [{"kind": "SYNCHRONIZATION", "type": 0, "start": call["start"], "end": call["end"], **made},
                {**call, "cbid": cbid, "name": name, "correlationId": correlation}]

    begin, end = records.index(event), 1 + next(i for i, r in enumerate(records) if r["kind"] == "RUNTIME" and r["correlationId"] == inside[3])
    changed = [*records[:begin], *on_stream_13(315, "cudaStreamBeginCapture_v10000", last + 1), *records[begin:end],
               *on_stream_13(319, "cudaStreamEndCapture_v10000", last + 2), *records[end:]]
    capture, _ = record(changed)
    assert waits(program, capture) == waits_in(records)[1:]


@pytest.mark.parametrize(("rules", "why"), [
    ("subscriber Nsight", "another tool holds CUPTI's only subscription"),
    ("fail cuptiSubscribe 35", "CUPTI refused a subscription")])
def test_without_a_subscription_only_streams_and_events_are_missing(program, record, rules, why):
    records = lines(OVERLAP)
    capture, _ = record(records, rules=rules)
    assert waits(program, capture) == []
    assert f"streams and events of calls that wait were not recorded: {why}" in program.everything_said(capture)
    assert sum(row["count"] for row in program.report(capture, "kernels")["kernels"].rows) == len(kernels_in(records))
    assert [row for row in program.report(capture, "losses")["losses"].rows if row["severity"] == "data"] == []


def test_a_stream_that_cupti_does_not_know_is_absent(program, record):
    capture, _ = record(lines(OVERLAP), rules="fail cuptiGetStreamIdEx 20")
    assert set(waits(program, capture, "stream, wait_on_stream")) == {(None, None)}


def test_another_client_gets_the_subscription(program, record, tmp_path):
    """It subscribes after the first play: the waits of that one are recorded, and those after it not."""
    records, answer = lines(OVERLAP), tmp_path / "answer.json"
    capture, _ = record(records, arguments=["--kineto", answer])
    assert '"refused": 0' in answer.read_text()
    assert len(waits(program, capture)) == len(waits_in(records))
    assert "not from when another client of CUPTI subscribed" in program.everything_said(capture)


def test_own_keeps_the_subscription(program, record, tmp_path):
    records, answer = lines(OVERLAP), tmp_path / "answer.json"
    capture, _ = record(records, "--cupti", "own", arguments=["--kineto", answer])
    assert '"refused": 39' in answer.read_text()
    assert len(waits(program, capture)) == 3 * len(waits_in(records))


def test_they_outlive_scrub_export_and_selection(program, record, tmp_path):
    records = lines(OVERLAP)
    capture, _ = record(records)
    scrubbed, exported, part = tmp_path / "scrubbed.gpuprof", tmp_path / "run.sqlite", tmp_path / "part.gpuprof"
    assert program.run("scrub", capture, "-o", scrubbed).status == 0
    assert waits(program, scrubbed) == waits_in(records)
    assert program.run("export", "nsys", capture, "-o", exported).status == 0
    assert program.run("export", "capture", capture, "-o", part).status == 0
    assert waits(program, part) == waits_in(records)


def test_another_profilers_library_is_left_the_subscription(program, record, tmp_path):
    """Proton looks up CUPTI's functions in libcupti itself: it gets the subscription as soon as it is mapped."""
    rival = tmp_path / "libproton.so"
    rival.write_bytes((program.fakes / "libfake_kineto.so").read_bytes())
    capture, _ = record(lines(OVERLAP), environment={"LD_PRELOAD": str(rival)})
    assert waits(program, capture) == []
    assert re.search(r"left CUPTI's only subscription to Proton", program.everything_said(capture))
    capture, _ = record(lines(OVERLAP), "--cupti", "own", "--force", environment={"LD_PRELOAD": str(rival)})
    assert waits(program, capture) == waits_in(lines(OVERLAP))
