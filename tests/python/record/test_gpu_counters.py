"""tests/gpu/counters.sh with the fakes: what it leaves can be evaluated elsewhere, and another call continues.

On a GPU its commands are the same; the program of nine kernels is replaced by the fake one.
"""

import json
import os
import shutil
import subprocess
import sys

import pytest
from injected import sanitized
from patience import HANGS_S
from played import fake_environment
from recordings_of_cupti import lines, script_of_records

from conftest import FIXTURES

MAKE = FIXTURES.parents[1] / "tests" / "gpu" / "counters" / "make.py"


@pytest.fixture
def environment(program, tmp_path):
    if sanitized(program):
        pytest.skip("Python does not load a sanitized libcuda")
    programs = tmp_path / "programs"
    programs.mkdir()
    script = script_of_records(lines(), tmp_path)
    for name in ("storm", "kernels"):
        (programs / name).write_text(f'#!/bin/sh\nexec {program.fakes}/fake_program --script {script} --play "time=start inline" --nvtx\n')
        (programs / name).chmod(0o755)
    return fake_environment(program, GPUPROF_FAKE_COUNTERS="", GPUPROF_BIN=str(program.path), GPUPROF_GPU_PROGRAMS=str(programs),
                            PYTHON=sys.executable)


def make(environment, out, *options):
    return subprocess.run([sys.executable, MAKE, "--out", out, *options], env=environment, capture_output=True, text=True, timeout=HANGS_S, check=False)


def test_a_call_records_and_the_next_one_continues(environment, program, tmp_path):
    out = tmp_path / "out"
    done = make(environment, out, "--only", "available", "--only", "set.triage", "--only", "range")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| set.triage | ok |" in done.stdout
    results = json.loads((out / "results.json").read_text())
    assert set(results["items"]) == {"available", "set.triage", "range"}
    assert "set.triage.images/counters.plan" in results["items"]["set.triage"]["files"]
    before = os.stat(out / "set.triage.gpuprof").st_mtime_ns
    assert make(environment, out, "--only", "available", "--only", "set.triage", "--only", "range").returncode == 0
    assert os.stat(out / "set.triage.gpuprof").st_mtime_ns == before


def test_kept_images_give_the_same_values_elsewhere(environment, program, tmp_path):
    out = tmp_path / "out"
    assert make(environment, out, "--only", "set.triage").returncode == 0
    images = out / "set.triage.images"
    (images / "beside-kernel-counters.gpuprof").unlink()
    again = tmp_path / "again.gpuprof"
    done = subprocess.run([program.path, "record", "--quiet", "--merge", images, "-o", again], env=environment, capture_output=True, timeout=HANGS_S,
                          check=False)
    assert done.returncode == 0, done.stderr
    values = [[(row["launch"], row["metric"], row["value"]) for row in program.stored(file, "kernel_counter")]
              for file in (out / "set.triage.gpuprof", again)]
    assert values[0] == values[1]
    assert values[0]


def test_without_a_gpu_it_says_so(environment, tmp_path):
    environment = {**environment, "LD_LIBRARY_PATH": ""}
    if shutil.which("nvidia-smi"):
        pytest.skip("there is a GPU here")
    done = make(environment, tmp_path / "out")
    assert done.returncode == 77
    assert "not run: no GPU" in done.stdout


def test_samples_and_counters_of_instructions_are_recorded(environment, program, tmp_path):
    out = tmp_path / "out"
    done = make(environment, out, "--only", "stalls.14", "--only", "stalls.traced", "--only", "source")
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"| {name} | ok |" in done.stdout for name in ("stalls.14", "stalls.traced", "source"))
    assert list((out / "stalls.14.spool").iterdir())
