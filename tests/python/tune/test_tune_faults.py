"""`tune` where recordings, folders or the disk are gone, and when a signal ends it."""

import contextlib
import copy
import io
import json
import os
import random
import signal
import stat
import sys
import time

import pytest

from gpu_profile.tuning.__main__ import main
from patience import HANGS_S
from test_tune import INPUT_BOUND, INPUT_FIXED, document, stand_in, states, tune  # noqa: F401 (a fixture)


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
    said, errors = process.communicate(timeout=HANGS_S)
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


@pytest.fixture
def used(tune, tmp_path):
    """The folder of an investigation with everything that one may hold."""
    assert tune("begin", "--repeat", "1", *states(tmp_path, [1, 1.001], steps=10))[0] == 0
    assert tune("trial", "a", "--change", "input", *states(tmp_path, [0.5, 0.501], first=10, steps=10))[0] in (0, 4)
    assert tune("trial", "b", *states(tmp_path, [0.5, 0.502], first=20, steps=10))[0] == 0
    assert tune("again", *states(tmp_path, [0.5, 0.503], first=30, steps=10))[0] == 0
    return tmp_path / "tune"


def places(value, at=()):
    """The path of every value within a document."""
    yield at
    for name, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(part, (*at, name))


def damaged(document, seed):
    choose, changed = random.Random(seed), copy.deepcopy(document)
    for _ in range(choose.randint(1, 3)):
        *to, last = choose.choice([place for place in places(changed) if place])
        parent = changed
        for name in to:
            parent = parent[name]
        if choose.random() < 0.3:
            del parent[last]
        else:
            parent[last] = choose.choice([None, True, -1, 7, 1e308, 10**400, "", "x", f"{os.pardir}/{os.pardir}/x", [], [1], {}, {"a": 1}, "2026-01-01T00:00:00Z"])
    text = json.dumps(changed)
    return text if choose.random() < 0.9 else choose.choice([text[: choose.randrange(len(text))], text.replace("1", "1e999", 1), text.replace("null", "NaN"), "[" * 100_000])


def test_a_report_holds_no_character_that_is_not_text(tune, used):
    """A note with bytes that are no UTF-8 (a file's name, for instance), and one that would steer a terminal."""
    changed = document(used)
    changed["states"][1]["note"] = "a\udcff\x1b[2Jb"
    (used / "investigation.json").write_text(json.dumps(changed))
    assert tune("report")[0] == 0
    assert "a\ufffd\ufffd\\[2Jb" in (used / "report.md").read_text(encoding="utf-8")
    assert "a\ufffd\ufffd[2Jb" in (used / "report.html").read_text(encoding="utf-8")


def test_half_of_what_belongs_together(tune, used):
    """A decision of the user stays when the change that is measured later is unknown; half of an interval is damage."""
    changed = document(used)
    trial = changed["states"][1]
    trial["prediction"] = {"change": "cuda-graph", "gain_pct": 8.0, "gain_low_pct": 7.0, "gain_high_pct": 9.0, "confidence": "rough", "assumes": "static shapes"}
    trial["held"] = "held"
    for each in (trial, *trial["again"]):
        each["compared"]["change_pct"] = None
    (used / "investigation.json").write_text(json.dumps(changed))
    status, said, _ = tune("status")
    assert status == 0 and any("predicted gain 8.0 % of a recorded step (7.0 to 9.0 %)" in line for line in said) and not any("measured gain" in line for line in said)
    trial["prediction"]["gain_high_pct"] = None
    (used / "investigation.json").write_text(json.dumps(changed))
    status, _, errors = tune("status")
    assert status == 3 and errors == ["gpu-profile: cannot read tune/investigation.json: states[1].prediction has half of an interval"]


def test_a_damaged_investigation_is_one_clear_line(used, monkeypatch):
    monkeypatch.chdir(used.parent)
    whole, counted = document(used), {0: 0, 3: 0}
    for seed in range(400):
        (used / "investigation.json").write_text(damaged(whole, seed))
        slow = [["accept", "--because", "seen", "--", "1"], ["report"]] if seed % 20 == 0 else []
        for words in (["status"], ["status", "--format", "json"], *slow):
            said, errors = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
                status = main(words)
            assert status in counted and len(errors.getvalue().splitlines()) == (status != 0), (seed, words, errors.getvalue())
            assert "Infinity" not in said.getvalue() and "NaN" not in said.getvalue()
            counted[status] += 1
    assert min(counted.values()) > 100


@pytest.mark.parametrize("name", ["investigation.json", "report.md", "report.html", ".lock", "trials"])
def test_nothing_in_the_folder_is_a_link(tune, used, tmp_path, name):
    outside = tmp_path / "outside"
    (outside / "3").mkdir(parents=True)
    (outside / "3" / "precious").write_text("precious")
    (outside / "file").write_text("precious")
    with contextlib.suppress(FileNotFoundError):
        (used / name).rename(tmp_path / "moved")
    (used / name).symlink_to(outside if name == "trials" else outside / "file")
    words = ["trial", "x", *states(tmp_path, [1], first=40, steps=10)] if name == "trials" else ["report"]
    status, _, errors = tune(*words)
    assert status in (3, 5, 6) and len(errors) == 1 and f"tune/{name}" in errors[0] and "link" in errors[0]
    assert (outside / "file").read_text() == (outside / "3" / "precious").read_text() == "precious"


@pytest.mark.parametrize("name", [f"{os.pardir}/outside.json", "/etc/hostname", "baseline/../../outside.json", "baseline/link.json"])
def test_recordings_are_in_the_folder(tune, used, tmp_path, name):
    (tmp_path / "outside.json").write_bytes((tmp_path / "run0.json").read_bytes())
    (used / "baseline/link.json").symlink_to(tmp_path / "outside.json")
    changed = document(used)
    for state in changed["states"]:
        state["recordings"], state["again"] = [name], []
    (used / "investigation.json").write_text(json.dumps(changed))
    status, said, errors = tune("next")
    assert (status, said, len(errors)) == (3, [], 1) and ("is no name of a file in tune" in errors[0] or "is a link" in errors[0])


def test_the_files_are_the_owners_alone(tune, used, tmp_path):
    (tmp_path / "shared.json").write_bytes((tmp_path / "run0.json").read_bytes())
    (tmp_path / "shared.json").chmod(0o640)
    assert tune("trial", "x", "--recording", tmp_path / "shared.json")[0] == 0 and tune("report")[0] == 0
    modes = {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in used.rglob("*") if path.is_file()}
    assert modes.pop("1-shared.json") == "0o640"
    assert {mode for name, mode in modes.items() if not name.endswith(".json") or name == "investigation.json"} == {"0o600"}
