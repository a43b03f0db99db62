"""What goes wrong in one side of `evaluate`: one line that names the side, exit 3, and the other side's figures."""

import os
import subprocess
import sys
import time

import pytest
from patience import HANGS_S
from test_evaluate import BASELINE, LINES, evaluate  # noqa: F401

GOOD = BASELINE
FAULTS = {
    "ModuleNotFoundError: No module named 'no_such_module' (SIDE.py:1), while importing it": "import no_such_module\n",
    "SyntaxError: ": "def kernel(x)\n    return x\n",
    "no function 'kernel' in SIDE.py; found other; select one with --entry, while importing it": "def other(x):\n    return x\n",
    "ValueError: not with these (SIDE.py:2), while checking it": "def kernel(x):\n    raise ValueError('not with these')\n",
    "SystemExit: 0 (SIDE.py:3), while checking it": "import sys\ndef kernel(x):\n    sys.exit(0)\n",
    "was killed by SIGSEGV, while checking it": "import os, signal\ndef kernel(x):\n    os.kill(os.getpid(), signal.SIGSEGV)\n",
    "was killed by SIGKILL, possibly out of memory, while importing it": "import os\nos.kill(os.getpid(), 9)\n",
    "exited with status 0, while checking it": "import os\ndef kernel(x):\n    os._exit(0)\n",
    "gave no answer within 2 s, while checking it": "import time\ndef kernel(x):\n    time.sleep(100)\n",
    "ran out of memory: ": (
        "import numpy, resource\nresource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "def kernel(x):\n    return numpy.ones(1 << 40, 'i1')\n"
    ),
    "sent a message that the evaluator's worker code cannot produce": (
        "import os, socket, stat\ndef kernel(x):\n    for fd in range(3, 600):\n        try:\n"
        "            if stat.S_ISSOCK(os.fstat(fd).st_mode):\n                os.write(fd, b'\\0\\0\\0\\x16{\"ns\": 1, \"blocks\": []}')\n"
        "        except OSError:\n            pass\n    return x\n"
    ),
}


@pytest.mark.parametrize("side", ["baseline", "optimized"])
@pytest.mark.parametrize("said", FAULTS, ids=lambda said: said[:24].strip())
def test_one_side_fails(evaluate, side, said):  # noqa: F811
    if side == "baseline":
        done = evaluate(GOOD, "--time-out", "2", baseline=FAULTS[said])
    else:
        done = evaluate(FAULTS[said], "--time-out", "2")
    assert done.status == 3, done.text
    (line,) = [line for line in done.errors.splitlines() if line.startswith("gpu-profile: ")]
    assert line.startswith(f"gpu-profile: {side}: ")
    assert said.replace("SIDE", side) in line
    assert "Traceback" not in done.errors
    assert done.lines == LINES
    other = "baseline_ms" if side == "optimized" else "optimized_ms"
    assert done.figures[other] > 0, "the other side's result"
    assert done.figures["speedup"] != done.figures["speedup"], "nan"


def test_failure_after_the_checks(evaluate):  # noqa: F811
    late = "import itertools\ncalls = itertools.count()\n" + BASELINE.replace("    return", "    if next(calls) > 12: raise OSError('late')\n    return")
    done = evaluate(late)
    assert done.status == 3
    assert "optimized: OSError: late (optimized.py:5), while timing it" in done.errors
    assert done.figures["baseline_ms"] > 0


def test_both_fail(evaluate):  # noqa: F811
    done = evaluate("import nothing_a\n", baseline="import nothing_b\n")
    assert done.status == 3
    assert [line.split(":")[1].strip() for line in done.errors.splitlines()] == ["baseline", "optimized"]
    assert all(value != value for value in done.figures.values())


@pytest.mark.parametrize(("inputs", "said"), [
    ("x = 1\n", "inputs(seed) in 'inputs.py'"),
    ("def inputs(seed):\n    raise KeyError('shape')\n", "KeyError"),
])
def test_inputs_that_fail(evaluate, inputs, said):  # noqa: F811
    done = evaluate(GOOD, inputs=inputs)
    assert done.status == 3
    assert said in done.errors and "Traceback" not in done.errors


def test_baseline_that_cannot_be_compared(evaluate):  # noqa: F811
    odd = "class Odd: pass\ndef kernel(x):\n    return Odd()\n"
    done = evaluate(odd, baseline=odd)
    assert done.status == 3
    assert "baseline: returns a value that cannot be compared" in done.errors


def test_absent_file(program):
    outcome = program.run("evaluate", "no_such_baseline.py", "no_such.py")
    assert (outcome.status, outcome.errors) == (3, ["gpu-profile: cannot read no_such_baseline.py: no such file"])


def test_folder(program, tmp_path):
    done = program.run("evaluate", tmp_path, tmp_path)
    assert (done.status, done.errors) == (3, [f"gpu-profile: cannot read {tmp_path}: it is a folder; name a Python file in it"])


def run_with(program, tmp_path, **environment):
    (tmp_path / "a.py").write_text(BASELINE)
    return subprocess.run([program.path, "evaluate", "a.py", "a.py"], cwd=tmp_path, env={**os.environ, **environment},
                          capture_output=True, text=True, timeout=HANGS_S, check=False)


def test_no_python(program, tmp_path):
    done = run_with(program, tmp_path, GPUPROF_PYTHON="/nonexistent/python")
    assert done.returncode == 6
    assert "'/nonexistent/python' cannot be started" in done.stderr and "GPUPROF_PYTHON" in done.stderr


def test_no_package(program, tmp_path):
    """The program by itself in a folder, and an interpreter that has no package."""
    (tmp_path / "program").mkdir()
    alone = tmp_path / "program" / "gpu-profile"
    alone.write_bytes(program.path.read_bytes())
    alone.chmod(0o755)
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    (tmp_path / "python").chmod(0o755)
    (tmp_path / "a.py").write_text(BASELINE)
    done = subprocess.run([alone, "evaluate", "a.py", "a.py"], cwd=tmp_path, capture_output=True, text=True, timeout=HANGS_S, check=False,
                          env={**os.environ, "GPUPROF_PYTHON": str(tmp_path / "python")})
    assert done.returncode == 6
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("gpu-profile: evaluate ") and "Python package gpu_profile" in done.stderr


def test_no_numpy(program, tmp_path):
    (tmp_path / "b.py").write_text("def kernel(x):\n    return x\n")
    (tmp_path / "lonely.py").write_text("raise ImportError('none here')\n")
    (tmp_path / "numpy.py").write_text("raise ImportError('none here')\n")
    done = subprocess.run([program.path, "evaluate", "b.py", "b.py"], cwd=tmp_path, capture_output=True, text=True, timeout=HANGS_S, check=False,
                          env={**os.environ, "GPUPROF_PYTHON": sys.executable, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 3
    assert "NumPy is not installed; install it, or use --inputs" in done.stderr


def test_nothing_stays_behind(evaluate, tmp_path):  # noqa: F811
    mark = tmp_path / "process"
    evaluate(f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\ndef kernel(x):\n    time.sleep(100)\n", "--time-out", "1")
    deadline = time.monotonic() + HANGS_S
    while os.path.exists(f"/proc/{mark.read_text()}") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{mark.read_text()}")
