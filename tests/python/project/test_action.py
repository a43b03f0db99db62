"""The GitHub Action's script, run as action.yml runs it: with files for GitHub's summary and outputs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SLOW = ROOT / "tests/fixtures/kineto/input_bound.json.gz"
FAST = ROOT / "tests/fixtures/kineto/input_fixed.json.zst"
OTHER = ROOT / "examples/ranks/rank00000.json.gz"


@pytest.fixture
def act(program, tmp_path):
    """Runs the step with inputs; returns its status, annotations, outputs and summary."""

    def run(folder=tmp_path, tools=program.path.parent, **inputs):
        files = {name: tmp_path / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        for file in files.values():
            file.write_text("")
        environment = {**os.environ, **{f"GPUPROF_{name}": str(value) for name, value in inputs.items()}, **{n: str(f) for n, f in files.items()},
                       "PATH": f"{tools}:{os.environ['PATH']}", "GITHUB_ACTION_PATH": str(ROOT)}
        done = subprocess.run([sys.executable, ROOT / "packaging/github_action.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr, done.stderr
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        assert outputs["status"] == str(done.returncode)
        return done.returncode, re.findall("^::(.*)$", done.stdout, re.MULTILINE), outputs["verdict"], files["GITHUB_STEP_SUMMARY"].read_text()

    return run


def test_a_pass(act):
    status, said, verdict, summary = act(BASE=SLOW, RECORDING=FAST, FAIL_ON="step_p50>2%\npeak_memory>5%")
    assert (status, verdict) == (0, "faster")
    assert not [line for line in said if line.startswith("error")]
    assert "## gpu-profile" in summary and "| step_p50 |" in summary  # the first screen and the comparison


def test_a_regression(act):
    status, said, verdict, summary = act(BASE=FAST, RECORDING=SLOW, FAIL_ON="step_p50>2%")
    assert (status, verdict) == (1, "slower")
    (line,) = said
    assert line.startswith("error title=step_p50>2%25::+299.40 %25, from 5 and 3 steps")
    assert "input-bound" in summary


def test_slower_without_a_condition_is_a_warning(act):
    status, said, verdict, _ = act(BASE=FAST, RECORDING=SLOW)
    assert (status, verdict) == (0, "slower")
    assert said[0].startswith("warning title=gpu-profile%3A slower::")


def test_cannot_tell_warns_and_fails_only_if_asked(act):
    status, said, verdict, _ = act(BASE=OTHER, RECORDING=SLOW, FAIL_ON="step_p50>2%")
    assert (status, verdict) == (0, "cannot tell")
    assert said[0].startswith("warning title=step_p50>2%25::not evaluated")
    status, said, verdict, _ = act(BASE=OTHER, RECORDING=SLOW, FAIL_ON="cannot-tell")
    assert (status, verdict) == (1, "cannot tell")
    assert said[0].startswith("error title=cannot-tell::")


def test_a_missing_base_is_no_failure(act):
    status, said, verdict, summary = act(BASE="absent.gpuprof", RECORDING=SLOW, FAIL_ON="step_p50>2%")
    assert (status, verdict) == (0, "no base")
    assert said == ["notice title=gpu-profile%3A no base::nothing to compare with: absent.gpuprof does not exist"]
    assert "input-bound" in summary and "Nothing was compared" in summary
    assert act(BASE="absent.gpuprof", RECORDING=SLOW, FAIL_ON="cannot-tell")[0] == 1


def test_a_history_grows_by_runs_that_pass(act, tmp_path):
    inputs = {"RECORDING": SLOW, "HISTORY": tmp_path / "h.sqlite", "LABEL": "train", "MACHINE": "m", "FAIL_ON": "step_p50>2%"}
    status, _, verdict, _ = act(HISTORY_ADD="true", **inputs)
    assert (status, verdict) == (0, "cannot tell")  # the first run has nothing to compare with
    for _ in range(2):
        act(HISTORY_ADD="true", **inputs)
    status, _, verdict, summary = act(**inputs)
    assert (status, verdict) == (0, "same") and "3 comparable earlier runs" in summary


def test_errors_are_not_regressions(act, tmp_path):
    (tmp_path / "text").write_text("no recording")
    status, said, verdict, _ = act(BASE=SLOW, RECORDING="text")
    assert (status, verdict) == (3, "error") and said[0].startswith("error title=gpu-profile::cannot read text")
    assert act()[0] == 2
    assert act(COMMAND="true", REPEATS="0")[0] == 2
    status, said, _, _ = act(COMMAND="echo ::error::from the program; exit 7", REPEATS="1")
    assert status == 7 and re.match(r"stop-commands::[0-9a-f]{32}$", said[0])


def test_names_of_recordings_cannot_become_commands_or_markdown(monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT / "packaging")
    import github_action

    github_action.annotate("warning", "a,b:c%\n::error::x", "50 %\r\n::error::y")
    assert capsys.readouterr().out == "::warning title=a%2Cb%3Ac%25%0A%3A%3Aerror%3A%3Ax::50 %25%0D%0A::error::y\n"
    assert github_action.fenced("a\n````\n# b").startswith("`````text\n")


def test_a_command_is_recorded_at_both_commits_in_turns(act, program, tmp_path):
    """gpu-profile of this test writes a recording that the commit names, because there is no GPU."""
    tools, repository = tmp_path / "tools", tmp_path / "repository"
    tools.mkdir()
    repository.mkdir()
    (tools / "gpu-profile").write_text(f'#!/bin/bash\n[ "$1" = record ] || exec "{program.path}" "$@"\nout=$3\nshift 4\n"$@" && cat "$(cat which)" >"$out"\n')
    (tools / "gpu-profile").chmod(0o755)
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "--quiet", repository], check=True)
    for text in (FAST, SLOW):
        (repository / "which").write_text(str(text))
        subprocess.run([*git, "add", "which"], check=True)
        subprocess.run([*git, "commit", "--quiet", "-m", "x"], check=True)
    base = subprocess.run([*git, "rev-parse", "HEAD~1"], capture_output=True, text=True, check=True).stdout.strip()
    status, said, verdict, _ = act(repository, tools, COMMAND="echo run in $PWD", BASE_REF=base, REPEATS="2", FAIL_ON="step_p50>2%")
    assert (status, verdict) == (1, "slower"), said
    assert subprocess.run([*git, "worktree", "list"], capture_output=True, text=True, check=True).stdout.count("\n") == 1
    status, said, verdict, _ = act(repository, tools, COMMAND="true", BASE_REF="f" * 40, REPEATS="1")
    assert (status, verdict) == (0, "no base"), said
