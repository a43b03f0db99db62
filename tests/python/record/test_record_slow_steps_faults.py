"""`record --keep-slow` when the program, `record` or the disk fails, and with wrong options."""

import os
import re
import signal
import subprocess
import time

import pytest
from injected import sanitized
from patience import HANGS_S
from recordings_of_cupti import quick_script
from slow_steps import PLANTED, Recorded, command_line, python_environment


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    return quick_script(tmp_path_factory.mktemp("scripts"))


@pytest.fixture
def environment(program):
    return python_environment(program)


@pytest.fixture
def command(program, script, tmp_path):
    return lambda code, *options: command_line(program, tmp_path / "run.gpuprof", script, code, *options)


def killed(command, environment, how):
    """Run a program that reports its number of steps, and kill what `how` says after a second; return what was said."""
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as record:
        program = int(record.stdout.readline())
        time.sleep(2.5)
        how(record.pid, program)
        _, errors = record.communicate(timeout=HANGS_S)
        return record.returncode, errors, program


ENDLESS = """
print(os.getpid(), flush=True)
number = 0
while True:
    number += 1
    with nvtx.annotate("step"):
        play(number)
        time.sleep({20: 0.9}.get(number, 0.005))
"""


def test_a_killed_program_keeps_its_steps_and_its_end(program, command, environment, tmp_path):
    status, errors, _ = killed(command(ENDLESS, "--keep-slow", "1"), environment, lambda _, victim: os.kill(victim, signal.SIGKILL))
    assert status == -signal.SIGKILL
    recorded = Recorded(program, tmp_path / "run.gpuprof", errors)
    assert [number for number, _ in recorded.kept()] == [20]
    assert "did not finish its recording (killed, exec, or a full disk); at its last report: kept 1 of " in errors
    assert "no step" not in errors
    assert recorded.ranges()["step"] > 2
    assert recorded.losses().get("killed_process") == 1


def test_a_program_killed_in_its_first_step(program, command, environment, tmp_path):
    code = "print(os.getpid(), flush=True)\nnvtx.push_range('step'); play(0); time.sleep(60)"
    _, errors, _ = killed(command(code, "--keep-slow", "1"), environment, lambda _, victim: os.kill(victim, signal.SIGKILL))
    assert re.search(r"at its last report: no step ended; one began [12]\.\d+ s earlier", errors)
    assert "nothing of it was kept" not in errors
    assert "no steps" not in errors
    recorded = Recorded(program, tmp_path / "run.gpuprof", errors)
    assert recorded.kernels() > 0


def test_parts_of_a_killed_record_are_merged_later(program, command, environment, tmp_path):
    """The program goes on and ends as it does alone."""
    code = PLANTED.replace("for number", "print(os.getpid(), flush=True)\nfor number")
    _, errors, victim = killed(command(code, "--keep-slow", "2"), environment, lambda record, _: os.kill(record, signal.SIGKILL))
    assert errors == ""
    until = time.monotonic() + HANGS_S
    while os.path.exists(f"/proc/{victim}") and time.monotonic() < until:
        time.sleep(0.1)
    (folder,) = tmp_path.glob("run.gpuprof.parts-*")
    done = program.run("record", "--quiet", "--merge", folder, "-o", tmp_path / "merged.gpuprof")
    assert done.status == 0, done.errors
    merged = Recorded(program, tmp_path / "merged.gpuprof", done.stderr.decode())
    assert [number for number, _ in merged.kept()] == [70, 100]
    assert "kept 2 of 150 steps" in merged.errors
    assert merged.ranges() == {"step": 4}


@pytest.mark.parametrize(("faults", "words"), [
    ("open 3+ ENOSPC", "no new file could be created"),
    ("write 40+ ENOSPC", None),
    ("write 60 ENOSPC; write 61 ENOSPC", None),
])
def test_a_disk_that_fills_up_loses_nothing_silently(program, command, environment, tmp_path, faults, words):
    if sanitized(program):
        pytest.skip("the faults need a build without sanitizers")
    environment = {**environment, "LD_PRELOAD": str(program.fakes / "libfaultio.so"), "GPUPROF_FAULTIO": faults}
    done = subprocess.run(command(PLANTED, "--keep-slow", "2"), env=environment, capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    recorded = Recorded(program, tmp_path / "run.gpuprof", done.stderr)
    if words:
        assert words in done.stderr
        assert [number for number, _ in recorded.kept()] == [70, 100]
        assert recorded.losses() == {}
    else:
        assert recorded.losses(), done.stderr


@pytest.mark.parametrize("condition", ["", "step", "step>x", "step>1.5", "step>0.5x", "step>1x", "step>1.0000001x", "time>2x"])
def test_a_wrong_trigger_is_one_clear_line(program, command, environment, condition):
    done = subprocess.run(command("", "--trigger", condition), env=environment, capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"invalid --trigger '{condition}'; expected step>Fx" in done.stderr


@pytest.mark.parametrize(("options", "said"), [
    (("--keep-slow", "0"), "--keep-slow"),
    (("--keep-slow", "65"), "--keep-slow"),
    (("--keep-slow", "x"), "--keep-slow"),
    (("--keep-slow", "3", "--keep-last", "5"), "--keep-slow and --keep-last exclude each other"),
    (("--keep-slow", "3", "--steps", "1:5"), "--capture-range and --steps"),
    (("--trigger", "step>2x", "--capture-range", "start-stop"), "--capture-range and --steps"),
    (("--keep-slow", "3", "--stalls"), "--stalls"),
    (("--keep-slow", "3", "--counters", "memory"), "--counters records no steps"),
    (("--keep-slow", "3", "--trace", "cuda"), "add nvtx to --trace"),
    (("--step-range", "batch"), "--step-range names the steps of --keep-slow and --trigger"),
    (("--keep-slow", "3", "--step-range", "@mine"), "invalid --step-range '@mine'"),
])
def test_wrong_options_are_one_clear_line(command, environment, options, said):
    done = subprocess.run(command("", *options), env=environment, capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
