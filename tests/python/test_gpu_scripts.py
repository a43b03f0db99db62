"""The scripts for a machine with a GPU (tests/gpu): that they are sound, and say why when they cannot run."""

import ast
import os
import shutil
import subprocess
import sys

import pytest
from recordings_of_cupti import ROOT

SCRIPTS = sorted((ROOT / "tests/gpu").glob("*.sh"))
PROGRAMS = sorted((ROOT / "tests/gpu/workloads").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_it_parses(script):
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    if shutil.which("shellcheck"):
        assert subprocess.run(["shellcheck", "-x", script.name], cwd=script.parent, check=False).returncode == 0


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_its_programs_parse(program):
    ast.parse(program.read_text())


@pytest.mark.parametrize("script", ["bench.sh", "overhead.sh", "record.sh"])
def test_it_says_why_it_did_not_run(program, script):
    def run(binary):
        return subprocess.run([ROOT / "tests/gpu" / script], env={**os.environ, "GPUPROF_BIN": binary}, capture_output=True,
                              text=True, timeout=60, check=False)

    done = run("/nowhere/gpu-profile")
    assert (done.returncode, done.stdout.count("\n")) == (77, 1)
    assert done.stdout.startswith("not run: no gpu-profile at /nowhere/gpu-profile")
    if shutil.which("nvidia-smi"):
        pytest.skip("there may be a GPU here, and the script takes minutes: run it by hand")
    done = run(str(program.path))
    assert (done.returncode, done.stdout) == (77, "not run: no GPU here: there is no nvidia-smi\n")


NVBENCH = """
import json, sys, types
registered = []
register = registered.append
def run_all_benchmarks(arguments):
    from gpu_profile import bench
    assert arguments[:3] == ["--quiet", "--devices", "0"] and arguments[3] == "--json"
    found = []
    for benchmark in registered:
        said = {}
        stream = types.SimpleNamespace(addressof=lambda: 0x777)
        launch = types.SimpleNamespace(get_stream=lambda: stream)
        def execute(launcher, batched):
            assert batched is False
            said["value"] = bench(lambda: launcher(launch), stream=0x777, timer="cuda").median_ns / 1e9
        benchmark(types.SimpleNamespace(exec=execute))
        data = [{"name": "value", "type": "float64", "value": str(said["value"])}]
        found.append({"name": benchmark.__name__, "states": [{"summaries": [{"tag": "nv/cold/time/gpu/median", "data": data}]}]})
    json.dump({"benchmarks": found}, open(arguments[4], "w"))
"""
TRITON = """
from gpu_profile import do_bench
def do_bench_cudagraph(function, return_mode):
    return plain(function, return_mode=return_mode)
"""
# An add of 64 K, 1 M and 16 M elements, softmax of 16 M, a product of 4 M.
SIMULATED = "kernel 117 constant 2000; kernel 121 constant 9000; kernel 125 constant 70000; kernel 225 constant 60000; " \
            "kernel 323 constant 55000; cold 1.2; latency_ns 0"


def bench_over_the_fakes(program, folder, wrong=1.0, script=SIMULATED):
    """tests/gpu/bench.sh on the simulated device: stand-ins for PyTorch, nvbench and Triton, an nvidia-smi of one line."""
    for name, text in {"cuda/__init__.py": "", "cuda/bench.py": NVBENCH, "triton/__init__.py": "",
                       "triton/testing.py": TRITON + f"plain = do_bench\ndef do_bench(function, quantiles):\n    return {wrong} * plain(function, quantiles=quantiles)\n"}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "nvidia-smi").write_text("#!/bin/sh\necho 'GPU 0: simulated'\n")
    (folder / "nvidia-smi").chmod(0o755)
    fake = program.path.parent / "fakes" / "libcuda.so.1"
    if not fake.exists():
        pytest.skip(f"{fake} is not built")
    environment = {**os.environ, "GPUPROF_BIN": str(program.path), "GPUPROF_CUDA": str(fake), "GPUPROF_FAKE_CUDA_SIM": script,
                   "GPUPROF_NVML": "/nonexistent/libnvidia-ml.so.1", "PYTHON": sys.executable,
                   "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": f"{folder}:{ROOT / 'tests/fakes/frameworks'}"}
    environment.setdefault("GPUPROF_LIBRARY", str(program.path.parent / "libgpuprof.so"))
    return subprocess.run([ROOT / "tests/gpu/bench.sh", "2"], env=environment, capture_output=True, text=True, timeout=300, check=False)


def test_bench_runs_over_the_fakes(program, tmp_path):
    done = bench_over_the_fakes(program, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]] for line in done.stdout.splitlines() if line.startswith("|")}
    assert list(rows)[2:] == ["tiny", "reread", "add", "softmax", "matmul", "chain"]
    assert rows["add"][0] == "84.00" and rows["add"][1] == "70.00", "cold takes 1.2 times as long here"
    assert rows["add"][6] == "+0.00 %" and rows["add"][9] == "+0.00 %"
    assert "(not right here)" in rows["chain"][9]
    for said in ("ok: timer: cuda events", "ok: what fits the L2 cache", "ok: 100 launches", "energy per call: not known"):
        assert said in done.stdout
    assert "left out" not in done.stdout


def test_bench_tells_of_a_broken_bound(program, tmp_path):
    done = bench_over_the_fakes(program, tmp_path, wrong=1.05)
    assert done.returncode == 1
    assert "FAILED: add: do_bench is +5.00 % away, more than 2.0 %" in done.stderr
