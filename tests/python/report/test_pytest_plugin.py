"""The pytest plugin in pytest runs of its own: baseline, regression, noise, xdist, and what happens when it is not asked for."""

import json
import os
import re
import sys
import types
from pathlib import Path

import pytest
from test_compare import recording

from gpu_profile.regression import _trace

pytest_plugins = ["pytester"]


@pytest.fixture
def run(pytester, program, monkeypatch):
    """Run the tests of a module text; the history is in the folder of the run."""
    monkeypatch.setenv("GPUPROF_BIN", str(program.path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # every run would import Hypothesis anew, a second or two

    def run(source, *options, history="history.sqlite", start=pytester.runpytest_inprocess):
        pytester.makepyfile(test_it=source)
        asked = () if history is None else ("--gpu-profile-history", history)
        return start("-p", "gpu_profile.pytest_plugin", "-p", "no:cacheprovider", *asked, *options)

    run.folder, run.apart = pytester.path, pytester.runpytest_subprocess
    return run


def checking(path, mark=""):
    return f"import pytest\n{mark}\ndef test_step(gpu_regression):\n    gpu_regression.check({str(path)!r})\n"


def grown(run, count=5, mark=""):
    """A history of runs that hardly differ."""
    for seed in range(count):
        file = recording(run.folder / f"{seed}.json", seed, factor=1 + 0.001 * (seed % 3))
        outcome = run(checking(file, mark))
        outcome.assert_outcomes(passed=1)
    return outcome


def test_it_is_off_unless_asked_for(run):
    outcome = run("def test_a(gpu_regression):\n    assert False\ndef test_b():\n    pass", "-rs", history=None)
    outcome.assert_outcomes(passed=1, skipped=1)
    outcome.stdout.fnmatch_lines(["*performance is judged only with --gpu-profile-history FILE"])
    assert "gpu-profile =" not in outcome.stdout.str() and not (run.folder / "history.sqlite").exists()


def test_the_first_runs_are_the_baseline_and_a_slower_one_fails(run):
    first = run(checking(recording(run.folder / "first.json", 50)))
    first.assert_outcomes(passed=1)
    first.stdout.fnmatch_lines(["*= gpu-profile =*", "test_it.py::test_step: cannot tell*0 earlier runs*; added to the history"])
    last = grown(run, 4)
    last.stdout.fnmatch_lines(["test_it.py::test_step: *4 earlier runs*; added to the history"])
    slow = recording(run.folder / "slow.json", 70, factor=1.2)
    outcome = run(checking(slow))
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines(["performance regression: slower*median step*", "*--fail-on step_p50>5%: +20.*", "*history *history.sqlite, label 'test_it.py::test_step'", "*another label in the marker begins anew*"])
    assert "regression.py" not in outcome.stdout.str()
    equal = run(checking(recording(run.folder / "equal.json", 71)))  # the failed run has not become part of the baseline
    equal.assert_outcomes(passed=1)
    equal.stdout.fnmatch_lines(["test_it.py::test_step: *5 earlier runs*"])
    assert "added to the history" not in equal.stdout.str()  # the baseline is complete


def test_noise_is_no_failure_and_is_said(run):
    for seed, factor in enumerate((1, 1.2, 0.85, 1.1, 0.9)):
        run(checking(recording(run.folder / f"{seed}.json", seed, factor=factor))).assert_outcomes(passed=1)
    outcome = run(checking(recording(run.folder / "new.json", 9, factor=1.15)))
    outcome.assert_outcomes(passed=1)
    outcome.stdout.fnmatch_lines(["test_it.py::test_step: cannot tell*5 earlier runs*"])


def test_markers_have_conditions_and_labels(run):
    mark = "@pytest.mark.gpu_regression('step_p50>30%', label='train')"
    grown(run, mark=mark)
    run(checking(recording(run.folder / "slow.json", 70, factor=1.2), mark)).assert_outcomes(passed=1)
    run(checking(recording(run.folder / "slow.json", 70, factor=1.2), mark.replace("30", "3"))).assert_outcomes(failed=1)
    run(checking(recording(run.folder / "slow.json", 70, factor=1.2), mark.replace("train", "anew").replace("30", "3"))).assert_outcomes(passed=1)
    outcome = run(checking(recording(run.folder / "slow.json", 70), mark.replace("30%", "wide")))
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines(["*Error: *step_p50>wide*"])


@pytest.mark.parametrize(("when", "added"), [("never", False), ("always", True)])
def test_what_is_added_can_be_chosen(run, when, added):
    grown(run)
    for option in ((), ("--gpu-profile-machine", "elsewhere")):
        outcome = run(checking(recording(run.folder / "new.json", 70)), "--gpu-profile-add", when, *option)
        outcome.assert_outcomes(passed=1)
        assert ("added to the history" in outcome.stdout.str()) == added


def test_steps_are_timed_without_a_gpu(run):
    source = """
import random, types, pytest
from gpu_profile import regression
calls, now, noise = [], 0.0, random.Random({seed})
@pytest.mark.gpu_regression("step_p50>20%")
def test_step(gpu_regression, monkeypatch):
    global now
    monkeypatch.setattr(regression, "time", types.SimpleNamespace(perf_counter=lambda: now))
    for number in gpu_regression.steps(10, warmup=2, sync_fn=lambda: calls.append("sync")):
        calls.append(number)
        now += {step_s} * noise.gauss(1, 0.01)
    assert [each for each in calls if each != "sync"] == [-1, -1, *range(10)] and calls.count("sync") == 11
def test_left(gpu_regression):
    for number in gpu_regression.steps(10):
        break
"""
    for seed in range(5):
        outcome = run(source.format(step_s=0.02, seed=seed))
        outcome.assert_outcomes(passed=2)
    outcome.stdout.re_match_lines([r"test_it\.py::test_step: .*(median|mean) step.*4 earlier runs"])  # the mean, if it is the surer one
    assert "test_left:" not in outcome.stdout.str()
    outcome = run(source.format(step_s=0.2, seed=5))
    outcome.assert_outcomes(failed=1, passed=1)
    outcome.stdout.fnmatch_lines(["performance regression: slower*"])


def test_workers_of_xdist_share_a_history(run):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    source = """
import pytest
@pytest.mark.parametrize("number", range(4))
def test_step(gpu_regression, number):
    for _ in gpu_regression.steps(3, warmup=0):
        pass
"""
    for earlier in range(2):
        outcome = run(source, "-p", "xdist", "-n", "2", start=run.apart)
        outcome.assert_outcomes(passed=4)
        assert outcome.stdout.str().count(f", {earlier} earlier run{'s' * (earlier != 1)}; ") == 4


def test_a_program_that_fails_is_no_regression(run):
    outcome = run("import sys\ndef test_step(gpu_regression):\n    gpu_regression.record([sys.executable, '-c', 'raise SystemExit(3)'])")
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines(["*recording failed with exit code 3*"])
    outcome = run("def test_step(gpu_regression):\n    gpu_regression.check('absent.json')")
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines(["*Error: *absent.json*"])


def test_device_and_peak_memory_are_part_of_the_steps(program, monkeypatch, tmp_path):
    properties = types.SimpleNamespace(name="NVIDIA H200", multi_processor_count=132, total_memory=150109880320)
    cuda = types.SimpleNamespace(is_initialized=lambda: True, current_device=lambda: 0, get_device_properties=lambda device: properties, max_memory_allocated=lambda: 12_345_678)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda))
    path = tmp_path / "steps.json"
    path.write_text(json.dumps(_trace([(10.0 + 0.01 * step, 10.01 + 0.01 * step) for step in range(12)])))
    document = json.loads(program.run("compare", str(path), str(path), "metrics", "--format", "json").stdout)
    (table,) = [each for each in document["tables"] if each["name"] == "metrics"]
    names = [column["name"] for column in table["columns"]]
    found = {row[names.index("metric")]: dict(zip(names, row)) for row in table["rows"]}
    assert found["step_p50"]["base_ns"] == 10_000_000 and found["peak_memory"]["new_bytes"] == 12_345_678


def test_the_page_runs(run):
    section = (Path(__file__).resolve().parents[3] / "docs/guides/ci.md").read_text().split("\n## In pytest\n")[1]
    source, command = (re.search(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)[1] for language in ("python", "sh"))
    words = command.split()
    assert words[:3] == ["python3", "-m", "pytest"] and words[3:] == ["--gpu-profile-history", "history.sqlite"]
    outcome = run("import time\ndef step():\n    time.sleep(0.001)\n" + source)
    outcome.assert_outcomes(passed=2)
    outcome.stdout.fnmatch_lines(["test_it.py::test_step: *added to the history", "test_it.py::test_inference: *added to the history"])
