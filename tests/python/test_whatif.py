"""Predictions of `whatif` compared with measurements, when it predicts nothing, and what it refuses."""

import json

import pytest

from conftest import FIXTURES

KINETO = FIXTURES / "kineto"


def whatif(program, name, *arguments):
    outcome = program.run("whatif", str(KINETO / f"{name}.json.gz"), *arguments, "--format", "json")
    assert outcome.status == 0, outcome.errors
    (table,) = json.loads(outcome.stdout)["tables"]
    columns = [column["name"] for column in table["columns"]]
    return [dict(zip(columns, row)) for row in table["rows"]], " ".join(table["notes"])


def row(rows, kind, change=None):
    return next(each for each in rows if each["kind"] == kind and change in (None, each["change"]))


def test_the_fixed_loader_takes_the_predicted_time(program):
    """`input_fixed` is `input_bound` with loader workers and pinned memory, under the same profiler."""
    rows, _ = whatif(program, "input_bound", "--change", "input", "--change", "pinned-copies")
    fixed, _ = whatif(program, "input_fixed")
    measured = row(fixed, "recorded")["step_ns"]
    assert row(rows, "together")["profiled_step_ns"] == pytest.approx(measured, rel=0.05)
    assert row(rows, "single", "input")["profiled_step_ns"] > 1.05 * measured, "the copies are a part of the gain"


@pytest.mark.parametrize("name, milliseconds", [("transformer", 22.7), ("triton", 0.26), ("graph", 1.96), ("small_kernels", 14.8)])
def test_the_range_holds_the_step_without_the_profiler(program, name, milliseconds):
    """The same programs timed without a profiler (tests/fixtures/README.md)."""
    baseline = row(whatif(program, name)[0], "baseline")
    assert baseline["low_ns"] <= milliseconds * 1e6 <= baseline["high_ns"]


def test_a_plan_adds_up(program):
    rows, _ = whatif(program, "input_bound")
    steps = [row(rows, "baseline")["step_ns"], *(each["step_ns"] for each in rows if each["kind"] == "plan")]
    assert steps == sorted(steps, reverse=True) and len(steps) > 1
    assert all(each["low_ns"] <= each["step_ns"] <= each["high_ns"] for each in rows if each["kind"] in ("single", "plan"))


def test_a_change_that_changes_nothing_is_said(program):
    rows, notes = whatif(program, "memory_bound", "--change", "communication")
    assert [each["kind"] for each in rows] == ["baseline"]
    assert "communication" in notes


def test_a_kernel_is_named_by_its_handle(program):
    """k-1 is the longest kernel: half its time is half its share of the step, where kernels are all there is."""
    rows, notes = whatif(program, "memory_bound", "--change", "k-1=0.5", "--change", "k-999=0.5")
    assert row(rows, "single", "k-1=0.5")["gain_pct"] == pytest.approx(11.0, abs=0.5)
    assert [each["kind"] for each in rows] == ["baseline", "single"] and notes.count("k-999") == 1


def test_too_few_steps_are_no_basis(program):
    rows, notes = whatif(program, "transformer-stacks-shapes-memory")
    assert rows == [] and "2 steps" in notes and "--step-range" in notes


@pytest.mark.parametrize("change, named", [("inputs", "inputs"), ("waits=0.5", "waits"), ("input=-1", "-1"), ("kernel:gemm", "kernel:gemm=0.5"),
                                           ("kernel:(=0.5", "("), ("k-1", "k-1=0.5"), ("k-0=0.5", "k-0"), ("input=fast", "fast")])
def test_a_wrong_change_is_refused(program, change, named):
    outcome = program.run("whatif", str(KINETO / "graph.json.gz"), "--change", change)
    assert outcome.status == 2
    assert len(outcome.errors) == 1 and named in outcome.errors[0]


def test_the_critical_path_sums_to_the_steps(program):
    outcome = program.run("report", str(KINETO / "input_bound.json.gz"), "criticalpath", "--format", "json", "--limit", "0")
    (table,) = json.loads(outcome.stdout)["tables"]
    columns = [column["name"] for column in table["columns"]]
    parts = [dict(zip(columns, each)) for each in table["rows"]]
    baseline = row(whatif(program, "input_bound")[0], "baseline")["step_ns"]
    steps = round(parts[0]["total_ns"] / parts[0]["per_step_ns"])
    assert sum(each["total_ns"] for each in parts) == pytest.approx(steps * baseline, rel=1e-6)
    assert parts[0]["part"] == "input" and parts[0]["share_pct"] > 70
    assert sum(each["share_pct"] for each in parts) == pytest.approx(100)
