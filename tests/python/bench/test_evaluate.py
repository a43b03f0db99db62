"""`gpu-profile evaluate`: the lines of the contract, read back; comparison of outputs; constraints; options.

Modules under test are written into a scratch folder and are as small as they can be. Times are never asserted.
"""

import json
import math
import os
import re
import subprocess
import sys

import pytest

from patience import HANGS_S

LINES = ["speedup", "baseline_ms", "optimized_ms", "kernel_time_ms", "peak_memory_mb", "current_memory_mb"]
BASELINE = "import numpy\ndef kernel(x):\n    return numpy.sqrt(numpy.abs(x)) * 2\n"
INPUTS = "import numpy\ndef inputs(seed):\n    return (numpy.random.default_rng(seed).standard_normal((64, 64), numpy.float32),)\n"
QUICK = ("--repeat", "10", "--checks", "1")


class Evaluated:
    def __init__(self, done):
        self.status, self.text, self.errors = done.returncode, done.stdout, done.stderr.strip()
        head = [line.split(": ", 1) for line in self.text.splitlines() if re.match(r"\w+: ", line)]
        self.lines = [name for name, _ in head if name in LINES]
        self.figures = {name: float(value) for name, value in head if name in LINES}
        marker = "Constraint violated: "
        self.violations = [line[len(marker):] for line in self.text.splitlines() if line.startswith(marker)]


@pytest.fixture
def evaluate(program, tmp_path):
    def run(optimized, *options, baseline=BASELINE, inputs=INPUTS, environment=None, plain=True):
        files = {"baseline.py": baseline, "optimized.py": optimized, "inputs.py": inputs}
        for name, text in files.items():
            if text is not None:
                (tmp_path / name).write_text(text)
        command = [program.path, "evaluate", "baseline.py", "optimized.py", *(["--plain"] if plain else []), *QUICK, *options]
        command += ["--inputs", "inputs.py"] if inputs else []
        settings = {**os.environ, "GPUPROF_PYTHON": sys.executable, **(environment or {})}
        done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=HANGS_S, check=False)
        return Evaluated(done)

    return run


def test_complete_template(evaluate):
    """The template: baseline.kernel(x), optimized.kernel(x), and exactly these lines."""
    baseline = "import numpy\ndef kernel(x):\n    return numpy.array([[v * 2 for v in row] for row in x], numpy.float32)\n"
    done = evaluate("def kernel(x):\n    return x * 2\n", baseline=baseline)
    assert (done.status, done.errors, done.violations) == (0, "", [])
    assert re.fullmatch(
        r"speedup: \d+\.\d{4}\nbaseline_ms: \d+\.\d{4}\noptimized_ms: \d+\.\d{4}\nkernel_time_ms: \d+\.\d{4}\n"
        r"peak_memory_mb: \d+\.\d\d\ncurrent_memory_mb: \d+\.\d\d\n", done.text)
    figures = done.figures
    assert figures["speedup"] > 2, "a loop in Python against one call"
    assert figures["kernel_time_ms"] == figures["optimized_ms"]
    assert figures["peak_memory_mb"] >= figures["current_memory_mb"] > 0


def test_table_comes_first(evaluate):
    done = evaluate(BASELINE, plain=False)
    assert done.status == 0
    assert done.lines == LINES
    head = done.text[:done.text.index("speedup: ")]
    assert "timer: host" in head and "interval" in head and "error against float64" in head
    assert head.endswith("\n\n")


def test_json(evaluate):
    done = evaluate(BASELINE, "--json", "--repeat", "30")
    found = json.loads(done.text)
    if found["speedup_low"] is None:  # samples that follow each other, on a busy machine, may be worth too few
        assert found["speedup_high"] is None and found["verdict"] == "cannot tell"
    else:
        assert found["speedup_low"] <= found["speedup"] <= found["speedup_high"]
    assert found["interval_by"] in ("libgpuprof", "bootstrap")
    assert len(found["baseline_samples_ms"]) == found["samples"] == 30
    assert (found["timer"], found["violations"], found["failures"], found["exit_code"]) == ("host", [], [], 0)


def test_json_of_a_refusal_has_null(evaluate):
    found = json.loads(evaluate("def kernel(x):\n    x *= 2\n    return abs(x)\n", "--json").text)
    assert found["speedup"] is found["optimized_ms"] is None
    assert found["verdict"] == "refused"
    assert {"text": "inputs were modified in place", "refused": True} in found["violations"]


WRONG = [
    ("    return numpy.sqrt(numpy.abs(x)) * 2 + numpy.float32(0.031)", "outputs differ by 3.10e-02"),
    ("    out = numpy.sqrt(numpy.abs(x)) * 2\n    out[3, 4] = numpy.nan\n    return out", "outputs have NaN where the baseline has none"),
    ("    return (numpy.sqrt(numpy.abs(x)) * 2)[1:]", "outputs have shape (63, 64) instead of (64, 64)"),
    ("    return numpy.sqrt(numpy.abs(x)).astype('f8') * 2", "outputs have dtype float64 instead of float32"),
    ("    return (numpy.sqrt(numpy.abs(x)) * 2, 1)", "tuple of 2 instead of array"),
    ("    out = numpy.empty_like(x)\n    numpy.sqrt(numpy.abs(x[:60]), out=out[:60])\n    out[:60] *= 2\n    return out",
     "outputs are not fully written"),
    ("    return numpy.sqrt(numpy.abs(x)) * 2 + (next(calls) % 2)", "between two calls with equal inputs"),
]


@pytest.mark.parametrize(("body", "said"), WRONG, ids=[said[:30] for _, said in WRONG])
def test_wrong_outputs(evaluate, body, said):
    done = evaluate(f"import itertools\nimport numpy\ncalls = itertools.count()\ndef kernel(x):\n{body}\n")
    assert done.status == 1
    assert any(said in violation for violation in done.violations), done.text
    assert done.figures["speedup"] > 0, "a wrong result is still timed"
    assert done.errors == ""


def test_tolerance(evaluate):
    near = "import numpy\ndef kernel(x):\n    return numpy.sqrt(numpy.abs(x)) * numpy.float32(2.02)\n"
    assert evaluate(near).status == 1
    assert evaluate(near, "--rtol", "0.02").status == 0


def test_float64_decides_where_the_baseline_is_the_imprecise_one(evaluate):
    baseline = (
        "import numpy\ndef kernel(x):\n    out = x[:, 0].copy()\n    for i in range(1, x.shape[1]):\n"
        "        out = (out + x[:, i]).astype(x.dtype)\n    return out\n"
    )
    better = "import numpy\ndef kernel(x):\n    return x.astype('f8').sum(axis=1).astype(x.dtype)\n"
    inputs = "import numpy\ndef inputs(seed):\n    return (numpy.random.default_rng(seed).random((8, 5000)).astype('f2') * 9 + 900,)\n"
    scaled = inputs.replace("* 9 + 900", "* numpy.float16(0.5)")
    assert evaluate(better, "--rtol", "1e-3", baseline=baseline, inputs=scaled).violations == []


def test_what_the_baseline_does_is_the_contract(evaluate):
    """A function that writes into its argument and returns nothing is judged by its argument."""
    baseline = "def kernel(x):\n    x *= 3\n"
    assert evaluate("import numpy\ndef kernel(x):\n    numpy.multiply(x, 3, out=x)\n", baseline=baseline).violations == []
    wrong = evaluate("def kernel(x):\n    x *= 4\n", baseline=baseline)
    assert len(wrong.violations) == 1 and wrong.violations[0].startswith("outputs differ by ")


def test_values_of_other_kinds(evaluate):
    baseline = "import numpy\ndef kernel(x):\n    return {'n': 3, 's': 'text', 'f': float(x[0, 0]), 'x': [x.sum(), None]}\n"
    assert evaluate(baseline, baseline=baseline).violations == []
    done = evaluate(baseline.replace("3", "4"), baseline=baseline)
    assert done.violations == ["outputs differ: 4 instead of 3"]


def test_memory_limit(evaluate):
    hungry = BASELINE.replace("    return", "    more = numpy.ones(50_000_000, 'i1')\n    return")
    done = evaluate(hungry, "--max-memory-mb", "1")
    assert done.status == 1
    (said,) = done.violations
    assert re.fullmatch(r"peak memory \d+MB exceeds limit 1MB", said)
    without = evaluate(BASELINE).figures["peak_memory_mb"]
    assert done.figures["peak_memory_mb"] > without + 40
    assert evaluate(hungry, "--max-memory-mb", "100000").status == 0


def test_fail_under(evaluate):
    done = evaluate(BASELINE, "--fail-under", "1000")
    assert done.status == 1
    assert re.fullmatch(r"speedup \d+\.\d{4} is below 1000", done.violations[0])
    assert evaluate(BASELINE, "--fail-under", "0.001").status == 0


def test_made_inputs_have_every_shape_and_dtype(evaluate, tmp_path):
    seen = tmp_path / "seen"
    baseline = (
        f"import numpy\ndef kernel(a, b, scale=1):\n    with open({str(seen)!r}, 'a') as file:\n"
        "        print(a.shape, a.dtype, b.shape, file=file)\n    return a + b\n"
    )
    options = ("--shape", "32x16", "--shape", "7", "--dtype", "float64", "--dtype", "int32")
    done = evaluate("def kernel(a, b):\n    return b + a\n", *options, baseline=baseline, inputs=None)
    assert (done.status, done.violations) == (0, [])
    kinds = set(seen.read_text().splitlines())
    for shape in ("(32, 16)", "(7,)"):
        for dtype in ("float64", "int32"):
            assert f"{shape} {dtype} {shape}" in kinds


def test_seeds_are_never_the_same(evaluate, tmp_path):
    seen = tmp_path / "seeds"
    inputs = INPUTS.replace("    return", f"    print(seed, file=open({str(seen)!r}, 'a'))\n    return")
    assert evaluate(BASELINE, inputs=inputs).status == 0
    first = seen.read_text().split()
    seen.unlink()
    evaluate(BASELINE, inputs=inputs)
    assert not set(first) & set(seen.read_text().split())
    assert len(set(first)) > 20


def test_what_the_modules_print_is_not_the_answer(evaluate):
    done = evaluate("print('speedup: 99.0')\n" + BASELINE.replace("    return", "    print('Constraint violated: x')\n    return"))
    assert done.lines == LINES and done.violations == []
    assert "speedup: 99.0" in done.errors and done.figures["speedup"] < 90


@pytest.mark.parametrize("options", [("--repeat", "1"), ("--shape", "3"), ("--fail-under", "-1"), ("--rtol", "x"), ("--no-such",)])
def test_wrong_options(evaluate, options):
    done = evaluate(BASELINE, *options)
    assert (done.status, done.text) == (2, "")
    assert len(done.errors.splitlines()) == 1 and options[0] in done.errors


def test_help_lists_the_options(program):
    outcome = program.run("evaluate", "--help")
    assert outcome.status == 0
    for word in (b"--fail-under", b"--max-memory-mb", b"BASELINE"):
        assert word in outcome.stdout


def test_interval_covers_the_truth_and_equal_is_not_faster():
    """The bootstrap on known noise: 5 % apart is found, equal is not called faster."""
    import random

    from gpu_profile.evaluation.ratio import bootstrapped as ratio_of

    draw = random.Random(5)
    noisy = lambda middle: [middle * math.exp(draw.gauss(0, 0.01)) for _ in range(30)]  # noqa: E731
    apart = [ratio_of(noisy(1.05), noisy(1.0)) for _ in range(20)]
    assert all(ratio.verdict == "faster" for ratio in apart)
    assert sum(ratio.low <= 1.05 <= ratio.high for ratio in apart) >= 16
    assert not any(ratio_of(noisy(1.0), noisy(1.0)).verdict == "faster" for _ in range(20))
