"""Two profilers in one run: `record` beside a client that behaves as Kineto, the library under torch.profiler, does.

What the other client gets is compared with what it gets without us; what we get with the script that was played three times.
"""

import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest
from program import Outcome

ROOT = Path(__file__).resolve().parents[2]
RECORDING = ROOT / "tests" / "fixtures" / "cupti" / "kern.jsonl.xz"
PLAYS = 3  # before the other starts, while it records, after it has stopped


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    made = tmp_path_factory.mktemp("scripts") / "kern.script"
    subprocess.run([sys.executable, ROOT / "tests/fakes/cupti/script.py", "--cupti", "13.0", "--lanes", "4", RECORDING, made], check=True)
    return made


@pytest.fixture(scope="module")
def kernels():
    with lzma.open(RECORDING, "rt") as file:
        return [r for r in map(json.loads, file) if r["kind"] == "KERNEL"]


def command(program, script, answer, play="time=paced live"):
    return [Path(program.path).parent / "fakes/fake_program", "--script", script, "--play", play, "--kineto", answer]


def environment(program, rules=""):
    return {**os.environ, "LD_LIBRARY_PATH": str(Path(program.path).parent / "fakes"), "GPUPROF_FAKE_CUPTI_SCRIPT": rules}


@pytest.fixture(scope="module")
def alone(program, script, tmp_path_factory):
    """What the other client gets without us."""
    answer = tmp_path_factory.mktemp("alone") / "answer.json"
    subprocess.run(command(program, script, answer), env=environment(program), check=True, timeout=60)
    return json.loads(answer.read_text())


def record(program, script, folder, *options, rules="", play="time=paced live"):
    answer, capture = folder / "answer.json", folder / "run.gpuprof"
    done = subprocess.run([program.path, "record", "-o", capture, "--sample", "0", *options, "--", *command(program, script, answer, play)],
                          env=environment(program, rules), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(answer.read_text()), capture, Outcome(done.returncode, done.stdout, done.stderr)


def count(program, capture):
    return sum(row["count"] for row in program.report(capture, "kernels")["kernels"].rows)


def total(program, capture):
    return sum(row["total_ns"] for row in program.report(capture, "kernels")["kernels"].rows)


def data_losses(program, capture):
    return {row["kind"] for row in program.report(capture, "losses")["losses"].rows if row["severity"] == "data"}


@pytest.mark.parametrize("rules", ["", "shuffle 5", "late 3"])
def test_both_get_everything(program, script, kernels, alone, tmp_path, rules):
    other, capture, _ = record(program, script, tmp_path, rules=rules)
    assert (other["refused"], other["unknown"]) == (0, 0)
    if not rules.startswith("late"):  # then it misses what comes after its only flush, with us or without
        assert other["times_inside"]
        assert other["records"]["10"] == len(kernels)
        assert other["records"] == alone["records"]
        # Against the script: alone, the fake puts times on the client's clock by a line of its own.
        assert other["kernel_ns"] == pytest.approx(sum(r["end"] - r["start"] for r in kernels), rel=0.001)
    assert count(program, capture) == PLAYS * len(kernels)
    assert total(program, capture) == PLAYS * sum(r["end"] - r["start"] for r in kernels)
    assert data_losses(program, capture) == set()


def test_the_other_clients_ids_come_along(program, script, kernels, tmp_path):
    _, capture, _ = record(program, script, tmp_path, play="time=paced live inline")
    done = program.run("export", "chrome", capture)
    assert done.status == 0, done.errors
    events = json.loads(done.stdout)["traceEvents"]
    ids = [event["args"].get("External id") for event in events if event.get("cat") == "kernel"]
    assert ids.count(4711) == len(kernels)


def test_the_trust_line_says_that_it_was_shared(program, script, tmp_path):
    _, _, outcome = record(program, script, tmp_path)
    assert "CUPTI was shared with another client" in " ".join(outcome.errors)


def test_own_refuses_the_other(program, script, kernels, tmp_path):
    other, capture, _ = record(program, script, tmp_path, "--cupti", "own")
    assert other["refused"] == 39
    assert other["records"] == {}
    assert count(program, capture) == PLAYS * len(kernels)


def test_yield_leaves_it_to_the_other(program, script, kernels, alone, tmp_path):
    other, capture, outcome = record(program, script, tmp_path, "--cupti", "yield")
    assert (other["refused"], other["unknown"]) == (0, 0)
    assert other["records"]["10"] == alone["records"]["10"]
    assert count(program, capture) == len(kernels)  # those from before it began
    assert "left to another client" in " ".join(outcome.errors)


def test_the_other_starts_before_cuda(program, script, kernels, tmp_path):
    """An other client whose buffers CUPTI has already when we come gets them back."""
    answer, capture = tmp_path / "answer.json", tmp_path / "run.gpuprof"
    done = subprocess.run([program.path, "record", "-o", capture, "--sample", "0", "--quiet", "--",
                           *command(program, script, answer), "--kineto-first"], env=environment(program), timeout=60, check=False)
    assert done.returncode == 0
    other = json.loads(answer.read_text())
    assert (other["refused"], other["unknown"]) == (0, 0)
    assert other["records"]["10"] == 2 * len(kernels)
    assert count(program, capture) == PLAYS * len(kernels)
