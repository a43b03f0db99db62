"""`tune` interrupted at every step, and killed: an investigation has a new state complete, or is as it was before."""

import errno
import os
import shutil
import signal
import sys
import time

import pytest

from gpu_profile.tuning import __main__ as steps
from gpu_profile.tuning import interruption, leftovers
from patience import HANGS_S
from test_tune import document, stand_in, states, tune  # noqa: F401 (a fixture)
from test_tune_received import TOUCH

SLEEPS = "import os, time; open('pid', 'w').write(str(os.getpid())); os.rename('pid', 'ready'); time.sleep(60 * os.path.exists('slow'))"


@pytest.fixture(autouse=True)
def no_signal_is_ignored():
    """The tests may run under nohup, and ignored signals stay ignored."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in interruption.SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def own(tune, program, tmp_path, monkeypatch):
    """The folder of an investigation in the current folder, whose command can be recorded 4 more times."""
    binary = tune.environment["GPUPROF_BIN"] = stand_in(program, tmp_path, [1, 1, 1, 1, 1])
    assert tune("--repeat", "1", "--", *TOUCH, GPUPROF_BIN=binary)[0] == 0
    monkeypatch.chdir(tmp_path)
    for name in ("GPUPROF_BIN", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, tune.environment[name])
    return tmp_path / "tune"


def contents(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


# Functions that one trial calls in turn, as modules and names: each is interrupted as it begins and as it ends.
MOMENTS = [(steps, "_command"), (steps, "Code"), (os, "makedirs"), (steps, "made"), (steps, "same_code"), (steps, "decide"), (steps, "_total"), (steps, "ignore_signals")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("module, name", MOMENTS, ids=[name for _, name in MOMENTS])
def test_an_interrupted_trial_leaves_nothing(own, monkeypatch, capfd, module, name, number):
    before, usual, handler = contents(own), getattr(module, name), signal.getsignal(number)
    for late in (False, True):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, _interrupted(usual, number, late))
            assert steps.main(["trial", "--", "x"]) == (0 if late and name == "ignore_signals" else 130)
        assert signal.getsignal(number) is handler
        assert "interrupted; the investigation is as it was before" in capfd.readouterr().err or name == "ignore_signals"
        if not (late and name == "ignore_signals"):
            assert contents(own) == before
    assert len(document(own)["states"]) == (2 if name == "ignore_signals" else 1)  # saved: the signal has no effect any more


def _interrupted(usual, number, late):
    def interrupted(*arguments, **more):
        if not late:
            os.kill(os.getpid(), number)
        result = usual(*arguments, **more)
        if late:
            os.kill(os.getpid(), number)
        return result

    return interrupted


def test_a_second_signal_does_not_disturb_the_removal(own, monkeypatch):
    before = contents(own)
    monkeypatch.setattr(steps, "same_code", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    usual = shutil.rmtree
    monkeypatch.setattr(shutil, "rmtree", lambda *words, **more: (os.kill(os.getpid(), signal.SIGINT), usual(*words, **more)))
    assert steps.main(["trial", "--", "x"]) == 130 and contents(own) == before


def test_ignored_signals_stay_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruption.interruptible():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_full_disk_at_any_file_leaves_nothing(own, monkeypatch):
    before, usual = contents(own), os.open
    opened, full_at = 0, 0

    def full(path, flags, *mode, **more):
        nonlocal opened
        opened += bool(flags & os.O_CREAT)
        if flags & os.O_CREAT and opened == full_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        return usual(path, flags, *mode, **more)

    words = ["trial", "--recording", str(own.parent / "prepared/01.json"), "--", "x"]
    monkeypatch.setattr(os, "open", full)
    while True:
        opened, full_at = 0, full_at + 1
        status = steps.main(words)
        if status == 0:
            break
        assert status in (5, 6) and contents(own) == before
    assert full_at > 3 and len(document(own)["states"]) == 2


@pytest.mark.parametrize("words", [["trial", "x"], ["again"]], ids=["trial", "again"])
def test_a_killed_step_ends_its_program_and_is_removed_by_the_next(tune, program, tmp_path, words):
    binary = tune.environment["GPUPROF_BIN"] = stand_in(program, tmp_path, [1, 1, 1])
    assert tune("--repeat", "1", "--", sys.executable, "-c", SLEEPS, GPUPROF_BIN=binary)[0] == 0
    folder, before = tmp_path / "tune", contents(tmp_path / "tune")
    (tmp_path / "ready").unlink()
    (tmp_path / "slow").touch()
    process = tune.start(*words)
    wait_for((tmp_path / "ready").exists)
    process.kill()
    process.communicate(timeout=HANGS_S)
    pid = int((tmp_path / "ready").read_text())
    wait_for(lambda: gone(pid))  # record was ended by the kernel, and has ended its program
    assert (folder / "investigation.json").read_bytes() == before[folder / "investigation.json"]
    (left,) = {*folder.rglob("*")} - {*before, folder / "trials"}  # an empty folder that no state names
    assert tune("status")[0] == 0
    (tmp_path / "slow").unlink()
    assert tune(*words)[0] == 0
    assert [path.name for path in left.iterdir()] == ["1.gpuprof"] and f"{left.relative_to(folder)}/1.gpuprof" in (folder / "investigation.json").read_text()


def wait_for(happened):
    deadline = time.monotonic() + HANGS_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_leftovers_are_removed_without_following_links(tune, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").touch()
    assert tune("begin", *states(tmp_path, [1, 1.001]))[0] == 0
    folder = tmp_path / "tune"
    before = contents(folder)
    (folder / ".investigation.part-abc.json").symlink_to(outside / "precious")
    (folder / ".report.part-x.md").touch()
    (folder / "..timelines.part-x.html.part-y").touch()
    (folder / ".report.part-x.html").symlink_to(outside)
    (folder / ".notes.part-1").touch()  # the user's own
    (folder / "trials/1").mkdir(parents=True)
    (folder / "trials/1/link").symlink_to(outside)
    (folder / "trials/1/9.gpuprof").touch()
    assert tune("accept", "7", "--because", "x")[0] == 2
    assert set(contents(folder)) == {*before, *(folder / name for name in (".notes.part-1", "trials", "trials/1", "trials/1/link", "trials/1/9.gpuprof"))}
    assert tune("trial", "x", *states(tmp_path, [1], first=5))[0] == 0
    assert [path.name for path in (folder / "trials/1").iterdir()] == ["1-run5.json"]
    assert [path.name for path in outside.iterdir()] == ["precious"]


def test_a_new_investigation_takes_a_folder_with_leftovers(tune, tmp_path):
    (tmp_path / "tune/baseline/folder").mkdir(parents=True)
    (tmp_path / "tune/.investigation.part-x.json").touch()
    (tmp_path / "tune/.lock").touch()
    assert tune("begin", *states(tmp_path, [1]))[0] == 0
    assert sorted(path.name for path in (tmp_path / "tune").rglob("*")) == [".lock", "1-run0.json", "baseline", "investigation.json"]


def test_a_report_replaces_the_timelines_whole(tune, tmp_path):
    assert tune("begin", *states(tmp_path, [1, 1.001, 0.999]))[0] == 0
    assert tune("trial", "half", *states(tmp_path, [0.5, 0.501, 0.499], first=10))[0] == 0
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\nexit 6\n")
    failing.chmod(0o755)
    assert tune("report", GPUPROF_BIN=str(failing))[0] == 6
    assert not (tmp_path / "tune/timelines.html").exists()
    assert not [name for name in os.listdir(tmp_path / "tune") if leftovers.is_leftover(name)]
