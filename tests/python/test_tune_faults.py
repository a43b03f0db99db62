"""`tune` where recordings, folders or the disk are gone, and when a signal ends it."""

import os
import signal
import sys
import time

import pytest

from test_tune import document, stand_in, states, tune  # noqa: F401 (a fixture)


def test_deleted_recordings_are_named_before_anything_is_recorded(tune, program, tmp_path):
    binary = stand_in(program, tmp_path, [1, 1, 1])
    assert tune("--repeat", "3", "--", sys.executable, "-c", "open('ran', 'a').write('x')", GPUPROF_BIN=binary)[0] == 0
    assert tune("trial", "half", *states(tmp_path, [0.5, 0.501, 0.499], first=10))[0] == 0
    (tmp_path / "tune/trials/1").rename(tmp_path / "elsewhere")
    (tmp_path / "ran").unlink()
    for words in (["trial", "more"], ["next"], ["report"]):
        status, _, errors = tune(*words, GPUPROF_BIN=binary)
        assert (status, len(errors)) == (3, 1) and "is missing: trial 1 cannot be compared" in errors[0]
    assert not (tmp_path / "ran").exists()
    assert tune("status")[0] == 0
    status, said, _ = tune("accept", "1", "--because", "seen")
    assert status == 0 and "is missing" in document(tmp_path / "tune")["total"]["lead"][0]
    assert tune("reject", "1", "--because", "not seen")[0] == 0 and tune("report")[0] == 0


def test_a_trial_runs_where_the_investigation_began(tune, program, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    binary = stand_in(program, tmp_path, [1, 1, 1, 1, 1])
    assert tune("--repeat", "1", "--", sys.executable, "-c", "open('here', 'w')", cwd=project, GPUPROF_BIN=binary)[0] == 0
    status, _, errors = tune("trial", "x", "--folder", "project/tune", GPUPROF_BIN=binary)
    assert (status, len(errors)) == (2, 1) and f"ran in {project}, not in {tmp_path}" in errors[0]
    assert tune("trial", "x", "--folder", project / "tune", "--repeat", "1", cwd=project, GPUPROF_BIN=binary)[0] == 0
    project.rename(tmp_path / "moved")
    assert tune("trial", "x", "--repeat", "1", cwd=tmp_path / "moved", GPUPROF_BIN=binary)[0] == 0
    (tmp_path / "moved/tune").rename(tmp_path / "archive")
    assert tune("status", "--folder", "archive")[0] == 0 and tune("report", "--folder", "archive")[0] == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_recorded_program_and_leaves_nothing(tune, program, tmp_path, number):
    code = "import os, time; open('pid', 'w').write(str(os.getpid())); os.rename('pid', 'ready'); time.sleep(60)"
    process = tune.start("--", sys.executable, "-c", code, GPUPROF_BIN=stand_in(program, tmp_path, [1]))
    while not (tmp_path / "ready").exists():
        time.sleep(0.01)
    process.send_signal(number)
    said, errors = process.communicate(timeout=30)
    assert process.returncode == 130 and said == "" and errors.splitlines()[-1] == "gpu-profile: interrupted; the investigation is as it was before"
    assert not (tmp_path / "tune").exists()
    child = int((tmp_path / "ready").read_text())
    with pytest.raises(ProcessLookupError):
        for _ in range(500):
            os.kill(child, 0)
            time.sleep(0.01)


def test_a_full_disk_changes_nothing(tune, tmp_path):
    assert tune("begin", *states(tmp_path, [1], steps=10))[0] == 0
    before = sorted((path, path.read_bytes()) for path in (tmp_path / "tune").rglob("*") if path.is_file())
    status, _, errors = tune("trial", "x" * 100_000, *states(tmp_path, [1], first=1, steps=10), file_limit=50_000)
    assert (status, len(errors)) == (6, 1) and "cannot write tune/investigation.json: File too large; the investigation is as it was before" in errors[0]
    status, _, errors = tune("trial", "x", *states(tmp_path, [1], first=2, steps=10), file_limit=1000)
    assert (status, len(errors)) == (6, 1) and "cannot copy" in errors[0]
    assert sorted((path, path.read_bytes()) for path in (tmp_path / "tune").rglob("*") if path.is_file()) == before


def test_a_folder_of_others_is_left_alone(tune, tmp_path):
    (tmp_path / "work/baseline").mkdir(parents=True)
    (tmp_path / "work/baseline/theirs").write_text("precious")
    for folder, cwd in (("work", tmp_path), (".", tmp_path / "work")):
        status, _, errors = tune("begin", "--folder", folder, *states(tmp_path, [1]), cwd=cwd)
        assert (status, len(errors)) == (2, 1) and "contains other files" in errors[0]
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["baseline"] and (tmp_path / "work/baseline/theirs").read_text() == "precious"
    (tmp_path / "killed/baseline").mkdir(parents=True)  # what a killed attempt leaves
    (tmp_path / "killed/.lock").write_text("")
    (tmp_path / "killed/baseline/9-old.json").write_text("")
    assert tune("begin", "--folder", "killed", *states(tmp_path, [1]))[0] == 0
    assert len(list((tmp_path / "killed/baseline").iterdir())) == 1
    (tmp_path / "file").write_text("")
    assert tune("begin", "--folder", "file", *states(tmp_path, [1]))[0] == 2
