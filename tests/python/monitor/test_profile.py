"""`gpu-profile -- CMD`: the command is left untouched, and the figures of a replayed series are right.

Expected statistics are computed here, from the recording, without looking at the product.
"""

import csv
import json
import math
import os
import pty
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from patience import HANGS_S

FIXTURES = Path(__file__).parents[2] / "fixtures"
BURSTY = FIXTURES / "nvml" / "bursty.csv"
REPLAY = f"replay:{BURSTY}@max"


def percentile(values, p):
    """Linear interpolation between the closest ranks."""
    ordered = sorted(values)
    rank = p / 100 * (len(ordered) - 1)
    below = math.floor(rank)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (rank - below)


@pytest.fixture(scope="module")
def recorded():
    with BURSTY.open() as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def summary_of(program, *options, command=("true",)):
    outcome = program.run(*options, "--json", "--", *command)
    assert outcome.status == 0, outcome.errors
    return json.loads(outcome.stdout)


def test_statistics_of_a_replayed_series(program, recorded):
    summary = summary_of(program, "--backend", REPLAY)
    util = [row["util_gpu"] for row in recorded]
    expected = {
        "n_samples": len(recorded),
        "duration_s": recorded[-1]["t_s"] - recorded[0]["t_s"],
        "util_gpu_mean": statistics.fmean(util),
        "util_gpu_std": statistics.stdev(util),
        "util_gpu_min": min(util),
        "util_gpu_max": max(util),
        "util_gpu_p5": percentile(util, 5),
        "util_gpu_p50": percentile(util, 50),
        "util_gpu_p95": percentile(util, 95),
        "util_gpu_p99": percentile(util, 99),
        "idle_pct": 100 * sum(u < 5 for u in util) / len(util),
        "active_pct": 100 * sum(u >= 50 for u in util) / len(util),
        "util_mem_mean": statistics.fmean(row["util_mem"] for row in recorded),
        "mem_used_mean_mb": statistics.fmean(row["mem_used"] for row in recorded) / 2**20,
        "mem_used_max_mb": max(row["mem_used"] for row in recorded) / 2**20,
        "power_mean_w": statistics.fmean(row["power_mw"] for row in recorded) / 1e3,
        "power_max_w": max(row["power_mw"] for row in recorded) / 1e3,
        "energy_j": (recorded[-1]["energy_mj"] - recorded[0]["energy_mj"]) / 1e3,
        "temp_mean_c": statistics.fmean(row["temp"] for row in recorded),
        "temp_max_c": max(row["temp"] for row in recorded),
        "sm_clock_mean_mhz": statistics.fmean(row["sm_mhz"] for row in recorded),
        "sm_clock_max_mhz": max(row["sm_mhz"] for row in recorded),
        "throttle_power_pct": 100 * sum(int(row["throttle"]) & 4 != 0 for row in recorded) / len(recorded),
    }
    for key, value in expected.items():
        assert summary[key] == pytest.approx(value, rel=1e-9, abs=1e-6), key
    assert summary["busy_time_est_s"] == pytest.approx(summary["duration_s"] * summary["util_gpu_mean"] / 100)
    assert summary["energy_basis"] == "counter"
    assert 0 < summary["energy_uncertainty_j"] < 0.05 * summary["energy_j"]
    assert summary["mem_total_mb"] is None  # the recording does not know it
    assert summary["backend"] == "replay"
    assert any("replayed" in note for note in summary["notes"])


def test_replay_as_if_live_takes_its_time(program, recorded):
    begun = time.monotonic()
    summary = summary_of(program, "--backend", f"replay:{BURSTY}", "--interval", "0.02", command=("sleep", "0.6"))
    assert time.monotonic() - begun >= 0.6
    first = recorded[0]["t_s"]
    within = sum(row["t_s"] - first <= 0.6 for row in recorded)
    assert summary["duration_s"] >= 0.6
    assert within / 2 <= summary["n_samples"] <= within * (summary["duration_s"] / 0.6) + 5


def test_the_commands_streams_and_status_are_its_own(program):
    outcome = program.run("--backend", "none", "--", "sh", "-c", "cat; echo err >&2; exit 7", stdin=b"in\x00put")
    assert (outcome.status, outcome.stdout) == (7, b"in\x00put")
    assert outcome.errors[0] == "err"
    assert "no GPU was sampled" in outcome.errors[1]
    same = program.run("profile", "--backend", "none", "--", "sh", "-c", "exit 7")
    assert same.status == 7


@pytest.mark.parametrize("options", [["--backend", "none"], ["profile"], ["record", "-o", "OUT"], ["bench", "--show-output", "--max-samples", "1"]])
def test_every_word_of_the_command_is_its_own(program, options, tmp_path):
    options = [str(tmp_path / "run.gpuprof") if word == "OUT" else word for word in options]
    words = ["[1, 2]", '["a","b"]', "{}", "--", "-o", "", "a=b"]
    code = "import sys; print(sys.argv[1:])"
    done = program.run(*options, "--", sys.executable, "-c", code, *words)
    assert repr(words) in (done.stdout + done.stderr).decode()


def test_without_a_gpu_the_reason_is_said(program):
    summary = summary_of(program, "--backend", "nvml")
    assert summary["n_samples"] == 0
    assert summary["util_gpu_mean"] is None
    assert any("libnvidia-ml.so.1" in note for note in summary["notes"])


def test_strict_refuses_and_does_not_run_the_command(program, tmp_path):
    witness = tmp_path / "ran"
    outcome = program.run("--strict", "--backend", "nvml", "--", "touch", witness)
    assert outcome.status == 4
    assert len(outcome.errors) == 1
    assert "libnvidia-ml.so.1" in outcome.errors[0]
    assert not witness.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--interval", "0", "--", "true"], "--interval"),
        (["--interval", "nan", "--", "true"], "--interval"),
        (["--warmup", "-1", "--", "true"], "--warmup"),
        (["--repeats", "0", "--", "true"], "--repeats"),
        (["--bogus", "--", "true"], "--bogus"),
        (["--backend", "nvlm", "--", "true"], "nvlm"),
        (["--json"], "needs a command"),
        (["--json", "--"], "no command"),
        (["--output", "/no/such/folder/x", "--", "true"], "/no/such/folder/x"),
        (["--csv", "/no/such/folder/x", "--", "true"], "/no/such/folder/x"),
    ],
)
def test_wrong_command_lines_are_one_clear_line(program, arguments, words):
    outcome = program.run(*arguments)
    assert outcome.stdout == b""
    assert any(words in line for line in outcome.errors)
    if "--output" not in arguments:
        assert outcome.status == 2
        assert len(outcome.errors) == 1


def test_wrong_replays_say_what_is_wrong(program, tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("nothing here\n")
    for file, words in [(tmp_path / "missing.csv", "missing.csv"), (tmp_path, "file"), (text, "notes.txt")]:
        outcome = program.run("--strict", "--backend", f"replay:{file}", "--", "true")
        assert outcome.status in (2, 3)
        assert len(outcome.errors) == 1
        assert words in outcome.errors[0]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_killed_command_still_gets_a_summary_and_its_death_is_passed_on(program, number):
    outcome = program.run("--backend", REPLAY, "--", "sh", "-c", f"kill -{int(number)} $$")
    assert outcome.status == -number
    assert any("samples" in line for line in outcome.errors)


def test_signals_reach_the_command(program):
    script = "trap 'echo got; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    with subprocess.Popen([program.path, "--backend", REPLAY, "--", "sh", "-c", script],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=HANGS_S)
    assert (process.returncode, out) == (5, b"got\n")
    assert b"samples" in err


def test_control_c_reaches_the_command_once_and_the_summary_comes(program):
    script = "import time\ntry:\n  print('ready', flush=True); time.sleep(20)\nexcept KeyboardInterrupt:\n  print('interrupted', flush=True)\n"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(program.path, [program.path, "--backend", REPLAY, "--", sys.executable, "-c", script])
    text = b""
    while b"ready" not in text:
        text += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    try:
        while chunk := os.read(terminal, 1000):
            text += chunk
    except OSError:
        pass
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert text.count(b"interrupted") == 1
    assert b"samples" in text


def test_csv_can_be_replayed_and_the_capture_reported(program, tmp_path):
    series, capture = tmp_path / "series.csv", tmp_path / "series.gpuprof"
    direct = summary_of(program, "--backend", REPLAY, "--csv", series, "--capture", capture)
    again = summary_of(program, "--backend", f"replay:{series}@max")
    for key in ("n_samples", "util_gpu_mean", "util_gpu_p95", "power_mean_w", "energy_j", "temp_max_c"):
        assert again[key] == pytest.approx(direct[key], rel=1e-9), key
    rows = program.report(capture, "samples")["samples"].by("metric")
    assert rows["util.gpu"]["count"] == direct["n_samples"]
    assert rows["util.gpu"]["mean"] == pytest.approx(direct["util_gpu_mean"])
    assert rows["util.gpu"]["std"] == pytest.approx(direct["util_gpu_std"])
    assert rows["power"]["max"] == pytest.approx(direct["power_max_w"])
    assert rows["power"]["unit"] == "W"


def test_warmup_is_left_out(program):
    whole = summary_of(program, "--backend", f"replay:{BURSTY}", "--interval", "0.01", command=("sleep", "0.4"))
    part = summary_of(program, "--backend", f"replay:{BURSTY}", "--interval", "0.01", "--warmup", "0.3",
                      command=("sleep", "0.4"))
    assert part["duration_s"] < whole["duration_s"] - 0.2
    assert 0 < part["n_samples"] < whole["n_samples"]


def test_repeats_are_compared(program, tmp_path):
    count = tmp_path / "count"
    outcome = program.run("--backend", REPLAY, "--repeats", "3", "--warmup-runs", "2", "--json", "--",
                          "sh", "-c", f"echo x >> {count}")
    assert outcome.status == 0
    assert count.read_text() == "x\n" * 5
    answer = json.loads(outcome.stdout)
    assert len(answer["runs"]) == 3
    assert len(answer["stats"]["util_gpu"]["values"]) == 3
    assert answer["stats"]["util_gpu"]["std"] == 0
    failed = program.run("--backend", "none", "--repeats", "3", "--", "false")
    assert failed.status == 1
    assert any("failed in run 1 of 3" in line for line in failed.errors)


def test_the_json_line_comes_last_or_goes_to_the_file(program, tmp_path):
    outcome = program.run("--backend", REPLAY, "--json", "--", "echo", "first")
    lines = outcome.stdout.decode().splitlines()
    assert lines[0] == "first"
    assert json.loads(lines[1])["n_samples"] > 0
    file = tmp_path / "summary.json"
    outcome = program.run("--backend", REPLAY, "--output", file, "--", "echo", "first")
    assert outcome.stdout == b"first\n"
    assert json.loads(file.read_text())["n_samples"] > 0


def test_many_short_commands(program):
    for _ in range(30):
        assert program.run("--backend", REPLAY, "--", "true").status == 0
