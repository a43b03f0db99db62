"""The collector measures what a record of a call costs, once, by calls of its own, which the recording does not show."""

import json

import pytest
from played import record_played
from recordings_of_cupti import FIXTURES, KERN, kernels_in, lines, script_of

KEYS = ("call_record_low_ns", "call_record_ns", "call_record_high_ns")


@pytest.fixture
def record(program, tmp_path):
    def run(*options, sleep_ms=1000, recording=KERN, **how):
        capture, script = tmp_path / "run.gpuprof", script_of(recording, tmp_path)
        outcome = record_played(program, script, capture, "--sample", "0", *options, arguments=["--sleep-ms", str(sleep_ms)], **how)
        assert outcome.status == 0, outcome.errors
        done = program.run("query", capture, "select key, value from meta", "--format", "json")
        return capture, dict(json.loads(done.stdout)["tables"][0]["rows"])

    return run


def names(program, capture):
    return {row["name"]: row["count"] for row in program.report(capture, "api")["api"].rows}


def test_the_cost_is_measured_and_its_calls_are_not_shown(program, record):
    capture, facts = record()
    low, central, high = (int(facts[key]) for key in KEYS)
    assert 0 <= low <= central <= high
    assert central > 0
    assert "recorder_thread" not in facts
    assert "cuDriverGetVersion" not in names(program, capture)
    assert sum(row["count"] for row in program.report(capture, "kernels")["kernels"].rows) == len(kernels_in(lines()))


def test_a_prediction_says_that_it_was_measured(program, record):
    capture, facts = record(recording=FIXTURES / "overlap.jsonl.xz", play="inline live")
    said = " ".join(program.run("whatif", capture).stdout.decode().split())
    assert f"Recording a call cost {facts[KEYS[0]]} to {facts[KEYS[2]]} ns, as the recorder measured in this run." in said


@pytest.mark.parametrize(("options", "rules", "why"), [
    (("--api", "all"), "", "all calls are recorded"),
    ((), "fail cuptiActivityEnableDriverApi 27", "CUPTI does not record single functions")])
def test_a_cost_that_cannot_be_measured_is_absent_with_the_reason(record, options, rules, why):
    _, facts = record(*options, rules=rules)
    assert facts["call_record_unknown"].startswith(why)
    assert not set(KEYS) & set(facts)


def test_a_short_program_has_neither(record):
    _, facts = record(sleep_ms=0)
    assert not {*KEYS, "call_record_unknown"} & set(facts)
