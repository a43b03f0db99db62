"""`tune`: an investigation over real recordings and over recordings whose truth is known. Where a command is recorded, a
stand-in for `record` runs it and gives it the next of the prepared recordings; everything else is the program."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import FIXTURES, recorded
from nightly import times
from patience import HANGS_S
from test_compare import recording

INPUT_BOUND, INPUT_FIXED = (recorded(f"kineto/{name}") for name in ("input_bound", "input_fixed"))
ROOT = FIXTURES.parents[1]

STAND_IN = """#!{python}
import os, shutil, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the command, as record does
words = sys.argv[1:]
if words[0] != "record":
    os.execv({program!r}, [{program!r}, *words])
left = sorted(os.listdir({prepared!r}))
command = words[words.index("--") + 1:]
status = subprocess.run(command).returncode
if status or not left:
    sys.exit(status or 4)
shutil.move(os.path.join({prepared!r}, left[0]), words[words.index("-o") + 1])
"""


@pytest.fixture
def tune(program, tmp_path, tmp_path_factory):
    """Run `tune` in an empty folder; returns the exit code, the lines of the answer and those of standard error."""
    state = str(tmp_path_factory.mktemp("state"))

    def start(*words, cwd=tmp_path, file_limit=None, **environment):
        limit = None if file_limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
        return subprocess.Popen([program.path, "tune", *map(str, words)], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                preexec_fn=limit, env={**run.environment, **environment})

    def run(*words, **more):
        process = start(*words, **more)
        said, errors = process.communicate(timeout=HANGS_S)
        return process.returncode, said.splitlines(), errors.splitlines()

    run.start = start
    run.environment = {**os.environ, "GPUPROF_BIN": str(program.path), "GPUPROF_PYTHON": sys.executable, "XDG_STATE_HOME": state}
    return run


def document(folder):
    return json.loads((folder / "investigation.json").read_text())


def states(folder, factors, first=0, **more):
    """Recordings of programs that take `factors` times 1 ms for a step."""
    return [word for i, factor in enumerate(factors) for word in ("--recording", recording(folder / f"run{first + i}.json", first + i, factor, **more))]


def test_a_real_pair_from_baseline_to_report(tune, tmp_path):
    status, said, errors = tune("begin", "--recording", INPUT_BOUND)
    assert (status, errors) == (0, [])
    assert said[0].startswith("baseline: input-bound")
    assert any(line.startswith("   input: predicted gain 70.8 %") for line in said)
    assert said[-1] == 'then: gpu-profile tune trial "NOTE" --change input'
    status, said, errors = tune("trial", "workers and pinned memory", "--change", "input", "--change", "pinned-copies", "--recording", INPUT_FIXED)
    assert (status, errors) == (0, [])
    assert said[0] == "trial 1: undecided: workers and pinned memory"  # one recording of each state is not enough
    assert "  measured gain 75.0 %: as predicted" in said
    assert tune("accept", "1", "--because", "agreed")[0] == 0
    status, said, _ = tune("next")
    assert status == 0 and said[0] == "from trial 1:"
    assert not any(" input:" in line or " pinned-copies:" in line for line in said)  # tried
    status, said, _ = tune("report")
    assert said == ["wrote tune/report.md", "wrote tune/report.html", "wrote tune/timelines.html"]
    assert "[Timelines of the baseline and of trial 1](timelines.html)" in (tmp_path / "tune/report.md").read_text()
    assert '<iframe src="timelines.html"' in (tmp_path / "tune/report.html").read_text()


def test_a_gain_beyond_the_noise_is_accepted_and_becomes_the_base(tune, tmp_path):
    assert tune("begin", *states(tmp_path, [1, 1.01, 0.99]))[0] == 0
    assert document(tmp_path / "tune")["states"][0]["noise_pct"] == pytest.approx(2.5, abs=1.5)
    _, said, _ = tune("trial", "half the work", *states(tmp_path, [0.5, 0.505, 0.495], first=10))
    assert said[0] == "trial 1: accepted: half the work"
    _, said, _ = tune("trial", "a cache", *states(tmp_path, [0.5, 0.506, 0.494], first=20))
    assert not said[0].startswith("trial 2: accepted")
    assert any(line.startswith("  compared with trial 1:") for line in said)
    _, said, _ = tune("trial", "a detour", *states(tmp_path, [0.8, 0.81, 0.79], first=30))
    assert said[0] == "trial 3: rejected: a detour"
    _, said, _ = tune("status")
    assert "kept: trial 1" in said and said[-2].startswith("from the baseline to trial 1: faster")
    assert said[-1].startswith("3 trials: if none of them changed anything, one would still be accepted with a probability of 1.5 %; trial 1 was chosen")


@pytest.mark.parametrize("seed", range(8))
def test_noise_is_not_accepted(tune, tmp_path, seed):
    assert tune("begin", *states(tmp_path, [1, 1.03, 0.98], first=100 * seed, noise=0.05))[0] == 0
    _, said, _ = tune("trial", "nothing", *states(tmp_path, [0.99, 1.02, 0.97], first=100 * seed + 50, noise=0.05))
    assert not said[0].startswith("trial 1: accepted")


def test_a_faster_gpu_is_no_gain(tune, tmp_path):
    assert tune("begin", *states(tmp_path, [1, 1.01, 0.99]))[0] == 0
    _, said, _ = tune("trial", "another machine", *states(tmp_path, [0.5, 0.505, 0.495], first=10, sms=264))
    assert said[0] == "trial 1: undecided: another machine"


FASTER = {"verdict": "faster", "confidence": "high", "basis": "recordings", "metric": "step_p50", "change_pct": -50.0, "low_pct": -52.0, "high_pct": -48.0,
          "warnings": [], "warning_codes": [], "peak_bytes": None}


def test_doubts_are_warnings_of_compare(program):
    from gpu_profile.tuning.decision import DOUBTS, decide

    codes = [row["name"] for row in program.declared("comparison_warnings")]
    assert set(codes) > DOUBTS
    for code in codes:
        decision = decide({**FASTER, "warnings": ["it differs"], "warning_codes": [code]})
        assert (decision.word, "it differs" in decision.because) == (("undecided", True) if code in DOUBTS else ("accepted", False))


@pytest.mark.parametrize(
    ("evaluation", "limit", "peak", "word"),
    [(None, None, None, "accepted"), ({"exit_code": 1, "problem": "wrong"}, None, None, "rejected"), ({"exit_code": 3, "problem": "cut"}, None, None, "undecided"),
     ({"exit_code": 0, "problem": None}, 10, 9e6, "accepted"), (None, 10, 11e6, "rejected"), (None, 10, None, "undecided")],
)
def test_results_and_memory_decide_before_speed(evaluation, limit, peak, word):
    from gpu_profile.tuning.decision import decide

    assert decide({**FASTER, "peak_bytes": peak}, evaluation, limit).word == word


def test_predictions_are_held_against_the_interval():
    from gpu_profile.tuning.decision import held

    prediction = {"gain_pct": 20.0, "gain_low_pct": 18.0, "gain_high_pct": 22.0}
    assert held(prediction, {"change_pct": -10.0, "low_pct": -11.0, "high_pct": -9.0}) == "less than predicted"
    assert held(prediction, {"change_pct": -17.0, "low_pct": -19.0, "high_pct": -15.0}) == "as predicted"
    assert held(prediction, {"change_pct": -30.0, "low_pct": -31.0, "high_pct": -29.0}) == "more than predicted"
    assert held(prediction, {"change_pct": -17.0, "low_pct": -40.0, "high_pct": 6.0}) == "too noisy to check the prediction"
    assert held(prediction, {"change_pct": -20.0, "low_pct": None, "high_pct": None}) == "too noisy to check the prediction"
    assert held(None, {"change_pct": -30.0}) is None


def stand_in(program, tmp_path, factors, first=0, noise=0.001):
    prepared = tmp_path / "prepared"
    prepared.mkdir(exist_ok=True)
    for i, factor in enumerate(factors):
        recording(prepared / f"{i:02}.json", first + i, factor, noise=noise)
    path = tmp_path / "stand-in"
    path.write_text(STAND_IN.format(python=sys.executable, program=str(program.path), prepared=str(prepared)))
    path.chmod(0o755)
    return str(path)


def test_a_quiet_command_is_recorded_three_times_and_a_noisy_one_five_times(tune, program, tmp_path):
    binary = stand_in(program, tmp_path, [1, 1.001, 0.999, 9, 9])
    status, _, errors = tune("--", sys.executable, "-c", "pass", GPUPROF_BIN=binary)
    assert status == 0 and errors == [f"gpu-profile: recording {n} of 3 to 5" for n in (1, 2, 3)]
    shutil.rmtree(tmp_path / "prepared")
    binary = stand_in(program, tmp_path, [1, 1.2, 0.8, 1.1, 0.9])
    status, said, errors = tune("--folder", "noisy", "--", sys.executable, "-c", "pass", GPUPROF_BIN=binary)
    assert status == 0 and len(errors) == 5
    assert any("smaller changes than this cannot be shown" in line for line in said)


def repository(folder):
    """Makes one with train.py, which is slow. Returns what runs git in it."""

    def git(*words):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], cwd=folder, check=True, capture_output=True)

    git("init", "-q")
    (folder / "train.py").write_text("slow\n")
    git("add", "train.py")
    git("commit", "-qm", "first")
    return git


def test_the_code_of_each_state_is_kept(tune, program, tmp_path):
    git = repository(tmp_path)
    assert tune("--", sys.executable, "-c", "pass", GPUPROF_BIN=stand_in(program, tmp_path, [1, 1.001, 0.999]))[0] == 0
    git("config", "color.ui", "always")
    git("config", "diff.external", "false")
    _, said, _ = tune("trial", "nothing", GPUPROF_BIN=stand_in(program, tmp_path, [0.5, 0.501, 0.499], first=9))
    assert any("git shows no difference from the code of the baseline" in line for line in said)
    assert tune("reject", "1", "--because", "luck")[0] == 0
    (tmp_path / "train.py").write_text("fast\n")
    assert tune("trial", "rewritten", GPUPROF_BIN=stand_in(program, tmp_path, [0.5, 0.501, 0.499], first=9))[0] == 0
    baseline, _, trial = document(tmp_path / "tune")["states"]
    assert baseline["code"]["patch"] is None and trial["code"]["commit"] == baseline["code"]["commit"]
    assert "+fast" in (tmp_path / "tune" / trial["code"]["patch"]).read_text()
    assert (tmp_path / "train.py").read_text() == "fast\n" and trial["code"]["note"] is None
    git("stash", "-q")
    git("apply", str(tmp_path / "tune" / trial["code"]["patch"]))
    assert (tmp_path / "train.py").read_text() == "fast\n"
    (tmp_path / "tune/prepared").mkdir()
    binary = stand_in(program, tmp_path, [0.5, 0.501, 0.499], first=19)
    status, said, _ = tune("again", "--repeat", "1", GPUPROF_BIN=binary)
    assert status == 0 and document(tmp_path / "tune")["states"][2]["again"][0]["same_code"]


def test_code_that_changes_during_a_recording_is_said(tune, program, tmp_path):
    repository(tmp_path)
    command = [sys.executable, "-c", "open('train.py', 'a').write('more')"]
    assert tune("--repeat", "1", "--", *command, GPUPROF_BIN=stand_in(program, tmp_path, [1]))[0] == 0
    code = document(tmp_path / "tune")["states"][0]["code"]
    assert code["note"] == "the code changed while it was recorded" and code["patch"] is None  # that of the start


def test_a_command_that_fails_leaves_nothing(tune, program, tmp_path):
    binary = stand_in(program, tmp_path, [1])
    status, _, errors = tune("--", sys.executable, "-c", "raise SystemExit(3)", GPUPROF_BIN=binary)
    assert status == 3 and errors[-1].startswith("gpu-profile: recording failed with exit code 3: ")
    assert not (tmp_path / "tune").exists()
    assert tune("begin", "--recording", INPUT_BOUND)[0] == 0
    before = (tmp_path / "tune/investigation.json").read_bytes()
    assert tune("trial", "none", "--recording", tmp_path / "stand-in")[0] == 3
    assert (tmp_path / "tune/investigation.json").read_bytes() == before
    assert not (tmp_path / "tune/trials/1").exists()


def test_a_killed_recording_leaves_nothing(tune, program, tmp_path):
    binary = stand_in(program, tmp_path, [1])
    status, said, errors = tune("--", sys.executable, "-c", "import os, signal; os.kill(os.getppid(), signal.SIGKILL)", GPUPROF_BIN=binary)
    assert (status, said) == (6, []) and errors[-1].startswith("gpu-profile: record was ended by SIGKILL: ")
    assert not (tmp_path / "tune").exists()


def test_a_killed_trial_is_made_again(tune, program, tmp_path):
    code = "import os, time; open('pid', 'w').write(str(os.getpid())); os.rename('pid', 'ready'); time.sleep(60 * os.path.exists('slow'))"
    assert tune("--", sys.executable, "-c", code, GPUPROF_BIN=stand_in(program, tmp_path, [1, 1.001, 0.999]))[0] == 0
    before = (tmp_path / "tune/investigation.json").read_bytes()
    (tmp_path / "ready").unlink()
    (tmp_path / "slow").touch()
    binary = stand_in(program, tmp_path, [0.5, 0.501, 0.499], first=9)
    process = tune.start("trial", "half", GPUPROF_BIN=binary)
    while not (tmp_path / "ready").exists():
        time.sleep(0.01)
    process.kill()
    os.kill(int((tmp_path / "ready").read_text()), signal.SIGKILL)
    process.communicate(timeout=HANGS_S)
    assert (tmp_path / "tune/investigation.json").read_bytes() == before
    (tmp_path / "tune/trials/1/left over").touch()
    (tmp_path / "slow").unlink()
    _, said, _ = tune("trial", "half", GPUPROF_BIN=binary)
    assert said[0] == "trial 1: accepted: half"
    assert sorted(path.name for path in (tmp_path / "tune/trials/1").iterdir()) == ["1.gpuprof", "2.gpuprof", "3.gpuprof"]


def test_wrong_results_reject_a_faster_trial(tune, tmp_path):
    pytest.importorskip("numpy", reason="numpy is not installed")
    (tmp_path / "before.py").write_text("def kernel(x):\n    return x * 2\n")
    (tmp_path / "after.py").write_text("def kernel(x):\n    return x * 3\n")
    (tmp_path / "inputs.py").write_text("import numpy\n\ndef inputs(seed):\n    return (numpy.random.default_rng(seed).standard_normal((64, 64), 'float32'),)\n")
    assert tune("begin", *states(tmp_path, [1, 1.002, 0.998]))[0] == 0
    evaluation = ("--evaluate", "after.py", "--evaluate-baseline", "before.py", "--inputs", "inputs.py")  # small, so that it takes a second
    status, said, _ = tune("trial", "half", *evaluation, *states(tmp_path, [0.5, 0.501, 0.499], first=10))
    assert status == 0 and said[0] == "trial 1: rejected: half" and said[1].startswith("  the evaluation failed: ")
    (tmp_path / "after.py").write_text("def kernel(x):\n    return x + x\n")
    _, said, _ = tune("trial", "half, and right", *evaluation, *states(tmp_path, [0.5, 0.501, 0.499], first=10))
    assert said[0] == "trial 2: accepted: half, and right" and "  evaluation: equal results, constraints hold" in said


def with_memory(words, peak):
    """The recordings among `words` with a peak of device memory."""
    for path in words[1::2]:
        with open(path) as file:
            document = json.load(file)
        document["traceEvents"].append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2000,
                                        "args": {"Total Allocated": peak, "Bytes": 0, "Addr": 0, "Device Type": 1, "Device Id": 0}})
        with open(path, "w") as file:
            json.dump(document, file)
    return words


def test_memory_that_grows_is_said_and_rejected_above_a_limit(tune, tmp_path):
    assert tune("begin", *with_memory(states(tmp_path, [1, 1.002, 0.998]), 10_000_000))[0] == 0
    _, said, _ = tune("trial", "a cache", "--max-memory-mb", "15", *with_memory(states(tmp_path, [0.5, 0.501, 0.499], first=10), 20_000_000))
    assert said[:2] == ["trial 1: rejected: a cache", "  peak device memory is 20.0 MB, the limit 15 MB"]
    _, said, _ = tune("trial", "a cache", *with_memory(states(tmp_path, [0.5, 0.502, 0.498], first=20), 20_000_000))
    assert said[0] == "trial 2: accepted: a cache" and "  peak device memory 10.0 MB -> 20.0 MB (+100.0 %)" in said
    assert tune("report")[0] == 0 and "peak device memory 10.0 MB" in (tmp_path / "tune/report.html").read_text()


def test_a_project_has_the_command(tune, program, tmp_path):
    project = tmp_path / "project.json"
    project.write_text(json.dumps({"command": [sys.executable, "-c", "pass"], "repeat": 3, "folder": "kept"}))
    assert tune("begin", "--project", project, GPUPROF_BIN=stand_in(program, tmp_path, [1, 1, 1]))[0] == 0
    assert document(tmp_path / "kept")["command"] == [sys.executable, "-c", "pass"]
    for text, complaint in (("[", "not JSON"), ("[]", "expected a JSON object"), ('{"comand": []}', "unknown member 'comand'"), ('{"command": [1]}', "'command' must be a list of words"), ('{"repeat": "3"}', "'repeat' must be a number")):
        project.write_text(text)
        status, _, errors = tune("begin", "--project", project)
        assert status == 2 and len(errors) == 1 and complaint in errors[0]


def test_wrong_input_has_one_line(tune, tmp_path):
    assert tune("status")[0] == 3
    assert tune("begin", "--recording", INPUT_BOUND)[0] == 0
    for words, status, complaint in (
        (["trail"], 2, "unknown word 'trail'"),
        (["trial"], 2, "a trial needs one note"),
        (["trial", "x"], 2, "it has no command to run"),
        (["trial", "x", "--change", "nonsense", "--recording", INPUT_FIXED], 2, "unknown change 'nonsense'"),
        (["trial", "x", "--evaluate", "a.py"], 2, "need each other"),
        (["accept", "1", "--because", "x"], 2, "no trial 1; trials: none"),
        (["accept", "1"], 2, "needs a reason"),
        (["next", "--change", "input"], 2, "--change applies to trial only"),
        (["report", "--format", "json"], 2, "--format applies to status, next only"),
        (["status", "--repeat", "3"], 2, "--repeat applies to begin, trial, again only"),
        (["trial", "x", "--because", "y"], 2, "--because applies to accept, reject only"),
        (["trial", "x", "--recording", INPUT_FIXED, "--recording", INPUT_FIXED], 2, "are the same recording"),
        (["again", "x"], 2, "unexpected argument 'x' after again"),
        (["begin", "--recording", INPUT_FIXED], 2, "has an investigation already"),
        (["trial", "--", "x"], 2, "no word is expected before --"),
        (["status", "--folder", "nowhere"], 3, "no investigation in nowhere"),
    ):
        found, _, errors = tune(*words)
        assert (found, len(errors)) == (status, 1), (words, errors)
        assert complaint in errors[0] and errors[0].count("gpu-profile: ") == 1
    for text, complaint in (("{", "not JSON"), ('{"document": "tune", "schema": 1, "states": [{"recordings": []}]}', "command is missing"), ("[]", "not an investigation"), ('{"document": "tune", "schema": 9, "states": [{}]}', "another version")):
        (tmp_path / "tune/investigation.json").write_text(text)
        status, _, errors = tune("status")
        assert (status, len(errors)) == (3, 1) and complaint in errors[0]


def test_only_one_process_changes_an_investigation(tune, tmp_path):
    import fcntl

    assert tune("begin", "--recording", INPUT_BOUND)[0] == 0
    with open(tmp_path / "tune/.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        status, _, errors = tune("trial", "x", "--recording", INPUT_FIXED)
    assert status == 6 and errors == ["gpu-profile: another gpu-profile tune is working in tune"]


def test_one_recording_of_each_state_decides_nothing(tune, tmp_path):
    """Forty quiet steps show a difference of two runs, but not that two runs of one program do not differ as much."""
    assert tune("begin", *states(tmp_path, [1]))[0] == 0
    for number, factor in enumerate((0.9, 1.1, 1.0), 1):
        _, said, _ = tune("trial", "something", *states(tmp_path, [factor], first=10 * number))
        assert said[0] == f"trial {number}: undecided: something"
        assert factor == 1 or "the variation between runs is unknown" in said[1]


def test_many_trials_without_a_change_are_hardly_ever_accepted(tune, tmp_path):
    """Runs of one program differ by 1.5 %. Of 20 trials, 0.1 are expected to be accepted by chance."""
    factors, trials = random.Random(7), times(20, 8)
    assert tune("begin", *states(tmp_path, [factors.gauss(1, 0.015) for _ in range(3)]))[0] == 0
    for number in range(1, trials + 1):
        assert tune("trial", "nothing", *states(tmp_path, [factors.gauss(1, 0.015) for _ in range(3)], first=10 * number))[0] == 0
    decisions = [state["decision"] for state in document(tmp_path / "tune")["states"][1:]]
    assert decisions.count("accepted") <= 1
    chance = {20: "9.5", 8: "3.9"}[trials]
    assert f"{trials} trials: if none of them changed anything, one would still be accepted with a probability of {chance} %" in tune("status")[1][-1]


def test_a_lucky_trial_is_found_by_measuring_again(tune, tmp_path):
    assert tune("begin", *states(tmp_path, [1, 1.002, 0.998]))[0] == 0
    _, said, _ = tune("trial", "a lucky one", *states(tmp_path, [0.97, 0.971, 0.969], first=10))
    assert said[0] == "trial 1: accepted: a lucky one"
    status, said, _ = tune("again", *states(tmp_path, [1.001, 0.999, 1.003], first=20))
    assert status == 0 and said[0].startswith("trial 1: rejected") and said[1].startswith("  measured again: no gain: ") and "(at first: faster" in said[1]
    assert document(tmp_path / "tune")["total"] is None


def test_a_gain_that_is_measured_again_counts_from_there(tune, tmp_path):
    assert tune("begin", *states(tmp_path, [1, 1.002, 0.998]))[0] == 0
    assert tune("trial", "half", *states(tmp_path, [0.5, 0.501, 0.499], first=10))[0] == 0
    _, said, _ = tune("again", *states(tmp_path, [0.52, 0.521, 0.519], first=20))
    assert said[0] == "trial 1: accepted: half"
    _, said, _ = tune("trial", "nothing", *states(tmp_path, [0.52, 0.521, 0.519], first=30))
    assert said[0] == "trial 2: rejected: nothing"  # compared with the second measurement, it is the same
    assert "was chosen by" not in tune("status")[1][-1]
    assert tune("accept", "1", "--because", "agreed")[0] == 0
    _, said, _ = tune("again", *states(tmp_path, [1, 1.001, 0.999], first=40))
    assert said[0] == "trial 1: accepted: half" and said[1].startswith("  by decision: agreed")


def test_a_machine_that_drifts_is_seen_by_measuring_the_baseline_again(tune, tmp_path):
    assert tune("begin", *states(tmp_path, [1, 1.002, 0.998]))[0] == 0
    _, said, _ = tune("again", *states(tmp_path, [1.05, 1.052, 1.048], first=10))
    assert "  ! the machine changed, or the code: earlier trials may be wrong by as much" in said
    _, said, _ = tune("trial", "nothing", *states(tmp_path, [1.05, 1.051, 1.049], first=20))
    assert said[0] == "trial 1: rejected: nothing"


def test_a_report_has_no_timelines_of_what_is_not_kept(tune, tmp_path):
    assert tune("begin", *states(tmp_path, [1, 1.002, 0.998]))[0] == 0
    assert tune("trial", "nothing", *states(tmp_path, [1, 1.001, 0.999], first=10))[0] == 0
    assert tune("trial", "<b>", *states(tmp_path, [0.5, 0.501, 0.499], first=20))[0] == 0
    assert tune("report")[1][-1] == "wrote tune/timelines.html"
    page = (tmp_path / "tune/report.html").read_text()
    assert "2 trials: if none of them changed anything" in page and "&lt;b&gt;" in page and "<b>" not in page
    assert tune("reject", "2", "--because", "no")[0] == 0
    assert tune("report")[1] == ["wrote tune/report.md", "wrote tune/report.html"] and not (tmp_path / "tune/timelines.html").exists()
