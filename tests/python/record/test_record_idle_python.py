"""Idle GPU time is attributed to the Python function that ran at the same time: `record --python HZ` of a program that computes in
`augment` between bursts of kernels, which the fake CUPTI delivers.
"""

import json
import subprocess
import sys

import pytest
from patience import HANGS_S
from played import fake_environment
from recordings_of_cupti import FIXTURES, burst, lines, script_of_records

PROGRAM = """
import ctypes, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0

def augment():
    until = time.monotonic() + 0.12
    while time.monotonic() < until:
        pass

def step(turn):
    assert cuda.fake_cuda_play(sys.argv[1].encode(), b"time=start live inline first=%d" % turn) == 0

for turn in range(8):
    augment()
    step(turn)
"""


@pytest.fixture(scope="module")
def capture(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("idle")
    code, capture = folder / "train.py", folder / "run.gpuprof"
    code.write_text(PROGRAM)
    script = script_of_records(burst(lines(FIXTURES / "memory_bound.jsonl.xz")), folder)
    done = subprocess.run([program.path, "record", "-o", capture, "--sample", "0", "--quiet", "--python", "200", "--", sys.executable, code,
                           script], env=fake_environment(program), capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    if "not permitted" in done.stderr or "ptrace" in done.stderr:
        pytest.skip(f"stacks cannot be read here: {done.stderr.strip()}")
    return capture


def test_the_idle_table_names_the_function(program, capture):
    rows = [row for row in program.report(capture, "idle")["idle"].rows if row["python"]]
    assert any("augment (train.py:" in row["python"] for row in rows)


def test_the_first_answer_names_it_too(program, capture):
    answer = json.loads(program.run("report", capture, "--format", "json").stdout)
    assert "augment (train.py:" in json.dumps(answer["findings"])


def test_stacks_are_mostly_in_it(program, capture):
    rows = program.report(capture, "stacks")["stacks"].rows
    assert any("augment" in json.dumps(row) for row in rows)
