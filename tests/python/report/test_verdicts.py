"""The verdict on programs whose bottleneck is known, because they were written to have it.

What each program is stands in tests/fixtures/README.md. A finding may add detail, but none may contradict the truth below: `blames` are words that
no finding's title may hold. Where the recorder itself opened the gaps, a finding must say so and cost at least as much as every other one about idle time.
"""

import json
import re

import pytest

from conftest import recorded

TRUTH = {  # recording: verdict, made worse by the recorder, words no finding may use
    "graph": ("underfilled", False, ("input pipeline", "launch", "bandwidth", "cop")),
    "input_bound": ("input-bound", False, ("launch",)),
    "memory_bound": ("memory-bandwidth-bound", False, ("input pipeline", "launch", "too small", "tensor cores", "cop")),
    "overlap": ("compute-bound", False, ("input pipeline", "launch", "bandwidth", "too small", "cop")),
    "small_kernels": ("launch-bound", False, ("input pipeline", "bandwidth", "tensor cores", "cop")),
    "transformer": ("compute-bound", True, ("input pipeline", "without tensor cores", "cop")),
    "transformer-stacks-shapes-memory": ("compute-bound", True, ("input pipeline", "without tensor cores", "cop")),
    # A vector add, whose kernel is called addk: nothing in the recording says what limits it.
    "triton": ("cannot tell", True, ("input pipeline", "bandwidth", "too small", "tensor cores", "cop")),
}
ABOUT_IDLE_TIME = ("input-pipeline", "small-kernels", "synchronisation", "idle-gaps", "profiler-cost")


@pytest.fixture(params=TRUTH)
def judged(request, program):
    return TRUTH[request.param], program.report(recorded(f"kineto/{request.param}")).document


def test_verdict(judged):
    (verdict, _, _), document = judged
    assert document["verdict"]["name"] == verdict
    assert document["verdict"]["because"]
    assert 0 < document["verdict"]["share_pct"] <= 100


def test_no_finding_contradicts_the_truth(judged):
    (_, _, blames), document = judged
    wrong = [f["title"] for f in document["findings"] if any(word in f["title"] for word in blames)]
    assert not wrong


def test_the_recorder_is_named_where_it_made_the_gaps(judged):
    (_, distorted, _), document = judged
    costs = {f["id"]: f["cost_ns"] for f in document["findings"] if f["id"] in ABOUT_IDLE_TIME}
    named = [cost for rule, cost in costs.items() if rule == "profiler-cost"]
    if distorted:
        assert named and max(named) == max(costs.values())


def test_findings_are_complete(judged):
    _, document = judged
    for finding in document["findings"]:
        assert finding["evidence"] and finding["remedy"] and finding["confidence"] and finding["would_change_if"]
        assert 0 <= finding["cost_ns"] <= document["source"]["window_ns"]


@pytest.mark.parametrize("name", TRUTH)
def test_row_handles_exist(name, program):
    """`k-12` in a finding is row 12 of the kernels table, as `report FILE kernels --limit 0` prints it."""
    path = recorded(f"kineto/{name}")
    text = json.dumps([f["evidence"] for f in program.report(path).document["findings"]])
    tables = program.report(path, *program.COMPARED).document["tables"]
    rows = {table["handle_prefix"]: len(table["rows"]) for table in tables if table["handle_prefix"]}
    handles = re.findall(r"(?<![\w-])(" + "|".join(rows) + r")-(\d+)\b", text)
    assert handles or TRUTH[name][0] == "cannot tell"
    assert all(1 <= int(number) <= rows[prefix] for prefix, number in handles)
