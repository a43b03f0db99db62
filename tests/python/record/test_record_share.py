"""Two profilers in one run: `record` next to a client that behaves as Kineto, the library under torch.profiler, does.

What the other client gets is compared with what it gets without us; what we get with the script that was played three times.
"""

import json
import subprocess

import pytest
from other_client import PLAY, PLAYS, count, data_losses, record, total
from patience import HANGS_S
from played import fake_environment
from recordings_of_cupti import KERN, kernels_in, lines, script_of


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    return script_of(KERN, tmp_path_factory.mktemp("scripts"))


@pytest.fixture(scope="module")
def kernels():
    return kernels_in(lines())


@pytest.fixture(scope="module")
def alone(program, script, tmp_path_factory):
    """What the other client gets without us."""
    answer = tmp_path_factory.mktemp("alone") / "answer.json"
    subprocess.run([program.fakes / "fake_program", "--script", script, "--play", PLAY, "--kineto", answer],
                   env=fake_environment(program), check=True, timeout=HANGS_S)
    return json.loads(answer.read_text())


@pytest.mark.parametrize("rules", ["", "shuffle 5", "late 3", "slow cuptiActivityEnable 400", "slow cuptiActivityDisable 400",
                                   "slow cuptiActivityEnableRuntimeApi 20"])
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
    _, capture, _ = record(program, script, tmp_path)
    assert "CUPTI was shared with another client" in program.everything_said(capture)


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
    assert "another client of CUPTI" in " ".join(outcome.errors)


def test_the_other_starts_before_cuda(program, script, kernels, tmp_path):
    """An other client whose buffers CUPTI has already when we come gets them back."""
    other, capture, _ = record(program, script, tmp_path, "--quiet", arguments=["--kineto-first"])
    assert (other["refused"], other["unknown"]) == (0, 0)
    assert other["records"]["10"] == 2 * len(kernels)
    assert count(program, capture) == PLAYS * len(kernels)


def test_a_client_by_path_is_shared_with(program, script, kernels, alone, tmp_path):
    """Proton's way: the libcupti.so in the folder that a variable names is ours."""
    other, capture, _ = record(program, script, tmp_path, client="path")
    assert (other["refused"], other["unknown"]) == (0, 0)
    assert other["records"] == alone["records"]
    assert count(program, capture) == PLAYS * len(kernels)
    assert "CUPTI was shared with another client" in program.everything_said(capture)


def test_a_folder_that_is_set_is_kept(program, tmp_path):
    done = subprocess.run([program.path, "record", "-o", tmp_path / "run.gpuprof", "--sample", "0", "--quiet", "--", "printenv",
                           "TRITON_CUPTI_LIB_PATH"], env=fake_environment(program, TRITON_CUPTI_LIB_PATH="/mine"),
                          capture_output=True, text=True, check=True)
    assert done.stdout == "/mine\n"
