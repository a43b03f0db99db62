"""`gpu-profile bench`: what goes wrong is one line and the right exit status, and what could be measured is shown."""

import os
import signal
import subprocess
import sys
import time

import pytest
from bench_command import QUICK, bench_in
from patience import HANGS_S

FINE = "def kernel():\n    return 1\n"
FAULTS = {
    "no such function": ("def other(): pass\n", [], "bench_me.py:other"),
    "no function at all": ("x = 1\n", [], "'kernel' in bench_me.py"),
    "import error": ("import no_such_module\n", [], "bench_me.py: ModuleNotFoundError: No module named 'no_such_module' (bench_me.py:1), while importing it"),
    "syntax error": ("def kernel(\n", [], "SyntaxError"),
    "exit while importing": ("import sys\nsys.exit(0)\n", [], "bench_me.py: SystemExit: 0 (bench_me.py:2), while importing it"),
    "raises": ("def kernel():\n    raise ValueError('not today')\n", [], "kernel: ValueError: not today (bench_me.py:2)"),
    "key error": ("def kernel():\n    return {}['key']\n", [], "kernel: KeyError: 'key' (bench_me.py:2)"),
    "wrong arguments": (FINE, ["--args", "1"], "kernel: TypeError: kernel() takes 0 positional arguments but 1 was given"),
    "crash": ("import os, signal\ndef kernel():\n    os.kill(os.getpid(), signal.SIGSEGV)\n", [], "bench_me.py was killed by signal 11 (Segmentation fault); its results are discarded"),
    "exits": ("import os\ndef kernel():\n    os._exit(0)\n", [], "bench_me.py exited before anything was measured"),
    "generator": ("def kernel():\n    yield 1\n", [], "kernel: cannot benchmark kernel"),
    "figure of a sweep": (
        "from gpu_profile import Benchmark, perf_report\n@perf_report(Benchmark(['x'], [1], 'l', [1], ['a'], 'p', {}))\ndef f(x, l): return 1.0\n",
        [], "p[x=1, l=a]: TypeError: a sweep function returned float"),
}


@pytest.fixture
def bench(program, tmp_path):
    return lambda file, *words, **more: bench_in(tmp_path, program, *words, *QUICK, file=file, **more)


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_the_file(bench, name):
    file, words, wanted = FAULTS[name]
    done = bench(file, "bench_me.py", *words)
    assert "Traceback" not in done.errors
    (line,) = done.said
    assert wanted in line
    assert (done.status, done.text) == (2 if name == "generator" else 3, "")


@pytest.mark.parametrize(("words", "wanted", "status"), [
    (["missing.py"], "cannot read missing.py: no such file", 3),
    ([], "nothing to bench", 2),
    (["bench_me.py", "other.py"], "unexpected argument 'other.py'", 2),
    (["bench_me.py", "--args", "3 +"], "--args '3 +'", 2),
    (["bench_me.py", "--args", "3", "--inputs", "x.py"], "--args and --inputs", 2),
    (["bench_me.py", "--inputs", "bench_me.py"], "inputs(seed) in 'bench_me.py'", 3),
    (["bench_me.py", "--timer", "sundial"], "'sundial'", 2),
    (["bench_me.py", "--stop", "never"], "'never'", 2),
    (["bench_me.py", "--format", "xml"], "xml", 2),
    (["bench_me.py", "--precision", "2"], "--precision: expected a share between 0 and 1", 2),
    (["bench_me.py", "--min-time", "-1"], "--min-time", 2),
    (["bench_me.py", "--warmup-runs", "2"], "--warmup-runs does not apply to functions", 2),
    (["bench_me.py", "--fail-on", "slower"], "--fail-on does not apply to functions", 2),
    (["--hot", "--", "true"], "--hot does not apply to programs", 2),
    (["--", "/no/such/program"], "cannot start /no/such/program", 127),
    (["--"], "nothing to bench", 2),
    (["--backend", "tape", "--", "true"], "tape", 2),
    (["compare", "one"], "compare needs two results", 2),
])
def test_wrong_command_lines(program, tmp_path, words, wanted, status):
    dashes = words.index("--") if "--" in words else len(words)
    quick = () if "compare" in words or "--min-time" in words else QUICK
    done = bench_in(tmp_path, program, *words[:dashes], *quick, *words[dashes:], file=FINE)
    assert (done.status, done.text) == (status, "")
    (line,) = done.said
    assert wanted in line


def test_one_of_several_fails(bench):
    file = ("from gpu_profile import benchmark\n@benchmark(timer='host')\ndef bad(): raise OSError('late')\n"
            "@benchmark(timer='host')\ndef good(): return 1\n")
    done = bench(file, "bench_me.py", "--save", "half.json", "--format", "json")
    assert (done.status, list(done.measurements)) == (3, ["good"])
    assert [line for line in done.said if "bad: OSError: late (bench_me.py:3)" in line]
    assert [line for line in done.said if "result not saved to half.json: some benchmarks failed" in line]


def test_memory_limit(bench):
    file = "def kernel():\n    return bytearray(8 << 20)\n"
    done = bench(file, "bench_me.py", "--max-memory-mb", "4")
    assert done.status == 1
    assert "kernel: " in done.said[0] and "MB" in done.said[0]
    assert bench(file, "bench_me.py", "--max-memory-mb", "64").status == 0


def test_time_out_is_said(bench, program, tmp_path):
    file = "import random, time\ndef kernel():\n    time.sleep(random.random() / 500)\n"
    done = bench_in(tmp_path, program, "bench_me.py", "--time-out", "0.3", "--format", "json", file=file)
    (found,) = done.measurements.values()
    assert done.status == 0
    assert found["stopped"] == "time-out"
    assert any("timeout came before" in note for note in found["notes"])


@pytest.mark.parametrize("words", [["bench_me.py"], ["--", "sh", "-c", "touch started; exec sleep 30"]])
@pytest.mark.parametrize("key", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(program, tmp_path, words, key):
    (tmp_path / "bench_me.py").write_text("import pathlib, time\ndef kernel():\n    pathlib.Path('started').touch()\n    time.sleep(30)\n")
    run = subprocess.Popen([program.path, "bench", "--save", "x.json", *words], cwd=tmp_path, text=True, stdin=subprocess.DEVNULL,
                           env={**os.environ, "GPUPROF_PYTHON": sys.executable}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + HANGS_S
    while not (tmp_path / "started").exists():
        assert run.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    (tmp_path / "started").unlink()
    run.send_signal(key)
    text, errors = run.communicate(timeout=HANGS_S)
    assert (run.returncode, text) == (128 + key, "")
    assert len([line for line in errors.splitlines() if line.startswith("gpu-profile: ")]) == 1, errors
    assert "Traceback" not in errors
    assert os.listdir(tmp_path) in (["bench_me.py"], ["__pycache__", "bench_me.py"], ["bench_me.py", "__pycache__"]), "nothing is kept"


def test_ctrl_c_at_any_moment(tmp_path):
    """Of a function so short that most signals come between it and the library, where ctypes ignores exceptions."""
    (tmp_path / "often.py").write_text(
        "import os, signal, threading, time\nfrom gpu_profile import bench\nended = 0\nfor i in range(40):\n"
        "    threading.Timer(0.03 + i / 2000, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    begun = time.monotonic()\n"
        "    try:\n        bench(int, timer='host', min_time_s=5, stop='time')\n"
        "    except KeyboardInterrupt:\n        ended += time.monotonic() - begun < 4\n"
        "    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\nprint(ended)\n")
    done = subprocess.run([sys.executable, "often.py"], cwd=tmp_path, capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert (done.stdout, done.stderr) == ("40\n", "")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_cannot_be_written(bench, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    done = bench(FINE, "bench_me.py", "--save", "locked/x.json")
    assert done.status == 5


def test_save_where_no_folder_can_be(bench, tmp_path):
    (tmp_path / "file").write_text("")
    done = bench("print('ran')\n" + FINE, "bench_me.py", "--save", "file/below/x")
    assert (done.status, done.text) == (5, "")
    assert "cannot create folder file/below" in done.said[0]
    assert "ran" not in done.errors, "known before anything is measured"


def test_no_python_and_no_package(bench, tmp_path):
    done = bench(FINE, "bench_me.py", environment={"GPUPROF_PYTHON": "/no/python"})
    assert (done.status, len(done.said)) == (6, 1)
    assert "'/no/python' cannot be started" in done.said[0]


def test_a_planted_python_in_the_current_folder_is_not_run(bench, tmp_path):
    """An empty entry of PATH is the current folder."""
    planted = tmp_path / "python3"
    planted.write_text(f"#!/bin/sh\n: > {tmp_path}/was-run\n")
    planted.chmod(0o755)
    done = bench(FINE, "bench_me.py", environment={"GPUPROF_PYTHON": "", "PATH": ":/nowhere"})
    assert "'python3' cannot be started" in done.said[0]
    assert not (tmp_path / "was-run").exists()
