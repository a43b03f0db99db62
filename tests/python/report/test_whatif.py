"""Predictions of `whatif` compared with measurements, when it predicts nothing, and what it refuses."""

import gzip
import importlib.util
import json
from pathlib import Path

import pytest

from conftest import FIXTURES, recorded, short_name

ROOT = FIXTURES.parents[1]
KINETO = FIXTURES / "kineto"
spec = importlib.util.spec_from_file_location("whatif_pairs", ROOT / "bench" / "whatif" / "pairs.py")
pairs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pairs)


def whatif(program, name, *arguments):
    outcome = program.run("whatif", str(recorded(f"kineto/{name}")), *arguments, "--format", "json")
    assert outcome.status == 0, outcome.errors
    (table,) = json.loads(outcome.stdout)["tables"]
    columns = [column["name"] for column in table["columns"]]
    return [dict(zip(columns, row)) for row in table["rows"]], " ".join(table["notes"])


def row(rows, kind, change=None):
    return next(each for each in rows if each["kind"] == kind and change in (None, each["change"]))


QUESTIONS = json.loads((FIXTURES / "whatif_truth.json").read_text())["questions"]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["question"])
def test_predictions_and_truth(program, question):
    """The range holds a step that was timed without a profiler; a changed program takes the predicted time under the same profiler."""
    name = short_name(Path(question["recording"]))
    rows, _ = whatif(program, name, *(word for change in question["changes"] for word in ("--change", change)))
    if "step_ms" in question:
        predicted = row(rows, "baseline")
        held = predicted["low_ns"] <= question["step_ms"] * 1e6 <= predicted["high_ns"]
        assert held == ("outside" not in question)
        assert predicted["step_ns"] == pytest.approx(question["step_ms"] * 1e6, rel=0.06)
        return
    changed, _ = whatif(program, short_name(Path(question["truth_recording"])))
    assert row(rows, "together")["profiled_step_ns"] == pytest.approx(row(changed, "recorded")["step_ns"], rel=0.05)


def test_the_copies_are_a_part_of_the_gain(program):
    rows, _ = whatif(program, "input_bound", "--change", "input", "--change", "pinned-copies")
    measured = row(whatif(program, "input_fixed")[0], "recorded")["step_ns"]
    assert row(rows, "single", "input")["profiled_step_ns"] > 1.05 * measured


def test_the_page_shows_the_predictions_of_this_program(program):
    """bench/whatif/pairs.py BINARY --write docs/how-it-works/what-if.md updates the table."""
    page = (ROOT / "docs" / "how-it-works" / "what-if.md").read_text()
    assert pairs.BEGIN + pairs.fixture_table(str(program.path)) + pairs.END in page


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
    rows, _ = whatif(program, "memory_bound", "--change", "k-1=0.5")
    assert row(rows, "single", "k-1=0.5")["gain_pct"] == pytest.approx(11.0, abs=0.5)
    assert [each["kind"] for each in rows] == ["baseline", "single"]
    refused = program.run("whatif", str(recorded("kineto/memory_bound")), "--change", "k-1=0.5", "--change", "k-999=0.5")
    assert refused.status == 2 and "k-999=0.5" in refused.errors[0]


def test_few_steps_are_a_rough_basis(program):
    rows, notes = whatif(program, "transformer-stacks-shapes-memory")
    made = [each for each in rows if each["kind"] in ("baseline", "single", "plan")]
    assert made and "2 steps: predictions are rough" in notes
    assert all(each["confidence"] == "rough" and each["high_ns"] >= 1.2 * each["step_ns"] for each in made)


def with_device(folder, **properties):
    """The example, as if another GPU had recorded it."""
    document = json.loads(gzip.decompress((KINETO / "input_bound.json.gz").read_bytes()))
    document["deviceProperties"] = [device | properties for device in document["deviceProperties"]]
    path = folder / "recording.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("name, major, link, slower", [
    ("Tesla V100-SXM2-16GB", 7, "12.5 GB/s (8.2 to 13.2), as PCIe 3 x16", True), ("NVIDIA A100-SXM4-80GB", 8, "25.0 GB/s (11.2 to 26.5), as PCIe 4 x16", True),
    ("NVIDIA GH200 480GB", 9, "375.0 GB/s (168.8 to 397.5), as NVLink-C2C", False), ("NVIDIA Thor", 11, "the link to the host is unknown", True)])
def test_pinned_copies_are_as_fast_as_the_link_of_the_gpu(program, tmp_path, name, major, link, slower):
    """Copies of 37 MB a recording are 5 ms through PCIe 5: the H200's prediction is none for other links."""
    changes = ("--change", "input", "--change", "pinned-copies")
    usual = row(whatif(program, "input_bound", *changes)[0], "together")["step_ns"]
    outcome = program.run("whatif", str(with_device(tmp_path, name=name, computeMajor=major, computeMinor=0)), *changes, "--format", "json")
    (table,) = json.loads(outcome.stdout)["tables"]
    assert link in " ".join(table["notes"])
    columns = [column["name"] for column in table["columns"]]
    together = row([dict(zip(columns, each)) for each in table["rows"]], "together")
    assert (together["step_ns"] > 1.01 * usual) == slower
    assert together["low_ns"] <= together["step_ns"] <= together["high_ns"]


@pytest.mark.parametrize("change, named", [("inputs", "inputs"), ("waits=0.5", "waits"), ("input=-1", "-1"), ("kernel:gemm", "kernel:gemm=0.5"),
                                           ("kernel:(=0.5", "("), ("k-1", "k-1=0.5"), ("k-0=0.5", "k-0"), ("input=fast", "fast")])
def test_a_wrong_change_is_refused(program, change, named):
    outcome = program.run("whatif", str(KINETO / "graph.json.zst"), "--change", change)
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
