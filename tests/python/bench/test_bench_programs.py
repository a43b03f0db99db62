"""`gpu-profile bench -- CMD`: runs, CPU time, memory, GPU; failing programs. And `bench compare`, on invented samples."""

import csv
import io
import json
import os
import random
import subprocess
import sys

import pytest
from bench_command import bench_in, kept
from fake_driver import fake_driver
from patience import HANGS_S

FEW = ("--min-time", "0", "--min-samples", "6", "--max-samples", "6")


@pytest.fixture
def bench(program, tmp_path):
    return lambda *words, **more: bench_in(tmp_path, program, *words, **more)


def program_of(done):
    (one,) = done.document["benchmarks"]
    return one["measurement"], one["program"]


def test_every_run_is_kept(bench, tmp_path):
    done = bench(*FEW, "--warmup-runs", "2", "--format", "json", "--", sys.executable, "-c", "open('count', 'a').write('x'); print('out')")
    found, use = program_of(done)
    assert (done.status, done.said) == (0, [])
    assert "out" not in done.errors
    assert (tmp_path / "count").read_text() == "x" * 8
    assert (len(use["warmup"]), len(use["runs"])) == (2, 6)
    assert found["samples"] == [run["wall_ns"] for run in use["runs"]]
    assert (found["timer"], found["warmup"]["calls"]) == ("host", 2)
    assert all(run["exit_status"] == run["signal"] == 0 for run in use["runs"])


def test_processor_time_and_memory_are_the_programs_and_its_childrens(bench):
    child = "import time; end = time.process_time() + 0.2\nwhile time.process_time() < end: pass\nx = bytearray(64 << 20)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    ballast = bytearray(300 << 20)  # what started gpu-profile is large: none of that is the program's
    _, use = program_of(bench("--min-time", "0", "--min-samples", "2", "--max-samples", "2", "--format", "json", "--", sys.executable, "-c", parent))
    for run in use["runs"]:
        assert 0.2e9 <= run["user_ns"] + run["system_ns"] <= run["wall_ns"] * 2
        assert 64 << 20 < run["peak_memory_bytes"] < 256 << 20
    assert len(ballast) == 300 << 20


def test_memory_that_cannot_be_told_is_absent(bench):
    _, use = program_of(bench(*FEW, "--format", "json", "--", "true"))
    assert {run["peak_memory_bytes"] for run in use["runs"]} == {None}
    assert "gpu-profile itself" in use["no_memory_because"]


def test_without_a_device_the_reason_is_given(bench):
    done = bench(*FEW, "--backend", "none", "--", "true")
    assert "GPU busy time, energy and memory are unknown: " in done.text.replace("\n      ", " ")


def test_a_device_is_sampled_beside_the_runs(bench, program, tmp_path):
    environment = fake_driver(program, tmp_path)
    done = bench("--min-time", "1", "--max-samples", "20", "--format", "json", "--", sys.executable, "-c", "import time; time.sleep(0.1)",
                 environment=environment)
    found, use = program_of(done)
    (device,) = use["devices"]
    assert device["name"] == "NVIDIA H200"
    assert device["busy_pct"] == pytest.approx(75)
    assert device["peak_memory_bytes"] == pytest.approx(1000 * 2**20)
    # Of one run, gaps between runs included: a little more than the share of the wall time.
    mean_s = sum(found["samples"]) / len(found["samples"]) / 1e9
    assert 0.5 * mean_s < device["busy_s_per_run"] < 1.5 * mean_s


def test_csv_and_text(bench):
    (row,) = csv.DictReader(io.StringIO(bench(*FEW, "--format", "csv", "--", "true").text))
    assert (row["name"], row["runs"], row["warmup_runs"], row["failed"], row["peak_memory"]) == ("true", "6", "1", "0", "")
    assert float(row["wall_min"]) <= float(row["wall"]) <= float(row["wall_max"])
    text = bench(*FEW, "--", "true").text
    assert "programs" in text and "wall" in text


def test_output_is_shown_on_standard_error(bench):
    done = bench(*FEW, "--show-output", "--format", "json", "--", "echo", "hello")
    assert done.errors.count("hello") == 7
    assert "hello" not in done.document["benchmarks"][0]["measurement"]["timer"]


def test_nothing_comes_from_standard_input(bench):
    assert bench(*FEW, "--", sys.executable, "-c", "import sys; sys.exit(len(sys.stdin.read()))").status == 0


@pytest.mark.parametrize(("code", "said"), [
    ("import sys; sys.exit(3)", "exited with status 3 in warm-up run 1"),
    ("import os; os.kill(os.getpid(), 9)", "was killed by signal 9 (Killed) in warm-up run 1"),
    ("import os, sys; n = len(os.listdir('.')); open(f'file{n}', 'w'); sys.exit(n > 3)", "exited with status 1 in run 4"),
])
def test_a_run_that_fails(bench, tmp_path, code, said):
    done = bench(*FEW, "--", sys.executable, "-c", code)
    assert (done.status, done.text) == (3, "")
    (line,) = done.said
    assert said in line
    assert "--show-output" in line and "--ignore-failure" in line


def test_failures_that_count(bench):
    done = bench(*FEW, "--ignore-failure", "--format", "csv", "--", "false")
    (row,) = csv.DictReader(io.StringIO(done.text))
    assert (done.status, row["failed"], row["runs"]) == (0, "6", "6")


def test_a_first_run_that_stands_out_is_said(bench):
    code = "import os, time; first = not os.path.exists('seen'); open('seen', 'w'); time.sleep(0.5 if first else 0.02)"
    done = bench(*FEW, "--warmup-runs", "0", "--format", "json", "--", sys.executable, "-c", code)
    found, _ = program_of(done)
    assert found["warmup"]["settled"] is False
    assert any("--warmup-runs" in note for note in found["notes"])


def test_stops_when_the_time_is_over(bench):
    found, use = program_of(bench("--time-out", "0.3", "--format", "json", "--", "sleep", "0.15"))
    assert found["stopped"] == "time-out"
    assert 2 <= len(use["runs"]) < 10


# ---- compare


def samples(median, seed=1, count=60, noise=0.001):
    drawn = random.Random(seed)
    return [median * drawn.gauss(1, noise) for _ in range(count)]


def compared(done):
    (row,) = csv.DictReader(io.StringIO(done.text))
    return row


@pytest.mark.parametrize(("after", "verdict", "fails"), [
    (500.0, "faster", []), (1000.0, "same", []), (1030.0, "slower", ["slower", "slower>2%"]), (1200.0, "slower", ["slower", "slower>2%", "slower>10"]),
])
def test_verdicts_and_conditions(bench, tmp_path, after, verdict, fails):
    before = kept("before", samples(1000.0), tmp_path)
    now = kept("after", samples(after, 2), tmp_path)
    row = compared(bench("compare", before, now, "--format", "csv"))
    assert row["verdict"] == verdict
    assert float(row["speedup"]) == pytest.approx(1000 / after, rel=0.01)
    assert float(row["speedup_low"]) <= float(row["speedup"]) <= float(row["speedup_high"])
    assert float(row["change_pct"]) == pytest.approx(100 * (1 / float(row["speedup"]) - 1))
    for condition in ("slower", "slower>2%", "slower>10", "cannot-tell"):
        done = bench("compare", before, now, "--fail-on", condition)
        assert done.status == (1 if condition in fails else 0), condition
        assert len(done.said) == done.status


def runs_of(name, medians, tmp_path, noise=0.01, load=None, value=1000.0):
    """A result with one entry per run, of the same benchmark."""
    path = tmp_path / kept(name, [1.0], tmp_path)
    document = json.loads(path.read_text())
    document["machine"]["load"] = load
    document["benchmarks"] = [
        {"measurement": {"name": "x", "timer": "host", "samples": samples(median * value, seed, noise=noise)}} for seed, median in enumerate(medians)]
    path.write_text(json.dumps(document))
    return path.name


def test_one_run_does_not_know_what_runs_differ_by(bench, tmp_path):
    """The medians of two noisy processes are 3 % apart, which 60 samples each resolve; runs of the same code differ as much."""
    row = compared(bench("compare", runs_of("a", [1.0], tmp_path), runs_of("b", [1.03], tmp_path), "--format", "csv"))
    assert row["verdict"] == "cannot tell"
    assert "runs of the same code are assumed to differ by 0." in row["reason"] and "measure several runs per side" in row["reason"]


def test_several_runs_are_measured(bench, tmp_path):
    """Five runs a side: 3 % is found if runs differ by 0.5 %, and not if they differ by 5 %; one row for all runs."""
    steady, shaky = [1.0, 1.005, 0.995, 1.003, 0.998], [1.0, 1.06, 0.95, 1.04, 0.97]
    row = compared(bench("compare", runs_of("a", steady, tmp_path), runs_of("b", [1.03 * each for each in steady], tmp_path), "--format", "csv"))
    assert row["verdict"] == "slower" and "(runs of the same code differ by 0." in row["reason"]
    row = compared(bench("compare", runs_of("a", shaky, tmp_path), runs_of("b", [1.03 * each for each in shaky], tmp_path), "--format", "csv"))
    assert row["verdict"] == "cannot tell"
    assert float(row["speedup_low"]) < 1 < float(row["speedup_high"])


@pytest.mark.parametrize(("load", "value", "verdict"), [(8.0, 5e6, "cannot tell"), (1.0, 5e6, "slower"), (None, 5e6, "slower"), (8.0, 1e5, "slower")])
def test_long_times_on_a_machine_with_too_much_work(bench, tmp_path, load, value, verdict):
    """The machine of these results has one CPU. A call of 5 ms waits for others, one of 0.1 ms fits into a turn."""
    before, after = runs_of("a", [1.0], tmp_path, 0.001, load, value), runs_of("b", [1.3], tmp_path, 0.001, load, value)
    assert compared(bench("compare", before, after, "--format", "csv"))["verdict"] == verdict


def test_too_few_samples_cannot_tell(bench, tmp_path):
    before, now = kept("a", [1.0, 1.1, 1.2], tmp_path), kept("b", [2.0, 2.1], tmp_path)
    assert compared(bench("compare", before, now, "--format", "csv"))["verdict"] == "cannot tell"
    assert bench("compare", before, now, "--fail-on", "slower", "--fail-on", "cannot-tell").status == 1


@pytest.mark.parametrize(("before", "after", "why"), [
    ({}, {"timer": "cuda events", "device": 0}, "timed differently: host and cuda events, hot"),
    ({"timer": "cuda events", "device": 0, "cold": True}, {"timer": "cuda events", "device": 0}, "timed differently: cuda events, cold and cuda events, hot"),
])
def test_times_that_mean_different_things(bench, tmp_path, before, after, why):
    done = bench("compare", kept("a", samples(9.0), tmp_path, **before), kept("b", samples(5.0), tmp_path, **after), "--format", "csv")
    row = compared(done)
    assert (row["verdict"], row["speedup"], row["reason"]) == ("cannot tell", "", why)


def test_another_machine_or_device_is_noted(bench, tmp_path):
    device = {"timer": "cuda events", "device": 0}
    before = kept("a", samples(9.0), tmp_path, **device, device_name="NVIDIA H100")
    now = kept("b", samples(5.0), tmp_path, host="two", **device, device_name="NVIDIA H200")
    document = json.loads(bench("compare", before, now, "--format", "json").text)
    (table,) = document["tables"]
    assert any("measured on one (p, 1 CPUs), candidate on two" in note for note in table["notes"])
    assert any("NVIDIA H100" in note and "NVIDIA H200" in note for note in table["notes"])


def test_several_are_paired_by_name(bench, tmp_path):
    def several(name, **medians):
        path = tmp_path / kept(name, [1.0], tmp_path)
        document = json.loads(path.read_text())
        document["benchmarks"] = [{"measurement": {"name": key, "timer": "host", "samples": samples(value)}} for key, value in medians.items()]
        path.write_text(json.dumps(document))
        return path.name

    done = bench("compare", several("a", x=10.0, gone=1.0), several("b", new=1.0, x=5.0), "--format", "csv")
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(done.text))}
    assert {name: row["verdict"] for name, row in rows.items()} == {"new": "", "x": "faster", "gone": ""}
    assert (rows["new"]["reason"], rows["gone"]["reason"]) == ("only in the candidate", "only in the baseline")
    done = bench("compare", several("a", x=1.0, y=1.0), several("b", z=1.0, v=1.0))
    assert (done.status, done.said) == (3, ["gpu-profile: cannot compare: the two results have no benchmark in common"])


def test_a_saved_result_compares_with_itself(bench):
    assert bench(*FEW, "--save", "one", "--", "true").status == 0
    row = compared(bench("compare", "one", ".gpu-profile/bench/one.json", "--format", "csv"))
    assert (row["name"], float(row["speedup"])) == ("true", 1.0)


@pytest.mark.parametrize(("text", "why"), [
    ("", "not a JSON object"), ("[1]", "not a JSON object"), ("{}", 'it lacks "document": "bench"'),
    ('{"document": "bench", "schema": 2}', "its schema is 2, but this program reads 1"),
    ('{"document": "bench", "schema": 1, "benchmarks": 3}', "member 'benchmarks' has the wrong type"),
    ('{"document": "bench", "schema": 1, "benchmarks": [{"measurement": {"name": "x", "timer": "host", "samples": ["1"]}}]}', "member 'samples' has the wrong type"),
    ('{"document": "bench", "schema": 1, "benchmarks": [{"measurement": {"name": "x", "timer": "host", "samples": [-1]}}]}', "a sample of 'x' is not a valid time"),
    ('{"document": "bench", "schema": 1, "benchmarks": [{"measurement": {}}]}', "a measurement has no name or no timer"),
])
def test_files_that_are_no_result(bench, tmp_path, text, why):
    (tmp_path / "bad.json").write_text(text)
    done = bench("compare", "bad.json", "bad.json")
    assert (done.status, done.said) == (3, [f"gpu-profile: bad.json is not a result of gpu-profile bench: {why}"])


@pytest.mark.parametrize("what", ["a pipe", "/dev/zero", "/dev/full"])
def test_what_never_ends_is_no_result(bench, tmp_path, what):
    file = tmp_path / "result.json"
    if what == "a pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(what)
    done = bench("compare", file, file)
    assert done.status == 3 and "it is not a regular file" in done.errors


@pytest.mark.parametrize("part", [".gpu-profile", ".gpu-profile/bench", ".gpu-profile/bench/a.json"])
def test_a_link_in_a_received_folder_leads_nowhere(bench, program, tmp_path, part):
    """The usual place in the current folder, which nobody gave."""
    received, elsewhere = tmp_path / "received", tmp_path / "elsewhere"
    (received / part).parent.mkdir(parents=True)
    if not part.endswith(".json"):
        elsewhere.mkdir()
    (received / part).symlink_to(elsewhere)
    environment = {name: value for name, value in os.environ.items() if name != "GPUPROF_BENCH_DIR"}
    done = subprocess.run([program.path, "bench", "--save", "a", "--", "true"], cwd=received, env=environment, capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 5 and f"{part} is a link, which is only followed if it is given with GPUPROF_BENCH_DIR" in done.stderr
    assert not elsewhere.exists() or not list(elsewhere.iterdir())


def test_a_result_that_is_not_there(bench):
    done = bench("compare", "never", "never")
    assert done.status == 3
    assert "cannot read .gpu-profile/bench/never.json: No such file or directory" in done.said[0]


@pytest.mark.parametrize("condition", ["faster", "slower>", "slower>x", "slower>-1", "slower>0.5%"])
def test_conditions_that_are_none(bench, tmp_path, condition):
    name = kept("a", samples(1.0), tmp_path)
    assert bench("compare", name, name, "--fail-on", condition).status == 2


def test_secrets_are_not_kept_and_command_lines_can_be_left_out(bench):
    command = (sys.executable, "-c", "", "--api-key", "hush", "https://me:hush@host/x")
    done = bench("--max-samples", "2", "--min-samples", "2", "--min-time", "0", "--format", "json", "--", *command)
    assert "hush" not in done.text and done.document["benchmarks"][0]["measurement"]["name"].endswith("--api-key *** https://***@host/x")
    assert done.document["command_line"].endswith("--api-key *** https://***@host/x")
    done = bench("--max-samples", "2", "--min-samples", "2", "--min-time", "0", "--format", "json", "--no-command-line", "--", *command)
    assert done.document["benchmarks"][0]["measurement"]["name"].startswith("python")
    assert done.document["command_line"] == "" and "api-key" not in done.text
