"""Pages about benchmarks: the section "Benchmarks" of each framework's page and docs/guides/cpu-timing.md run, on the stand-ins of
tests/fakes/frameworks over the simulated device. Its clock runs with the machine's, so that a CPU clock read at the same time is as
wrong as on a GPU. What is shown is that the pages use this package rightly; nothing about the frameworks."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gpu_profile
from patience import HANGS_S

ROOT = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
# softmax (2xx) and matrix product (3xx) of 16 M and 4 M elements, adding (1xx), a Triton kernel (400)
SCRIPT = "; ".join(["live", "current", *(f"kernel {number} constant {ns}" for number, ns in {
    225: 1_500_000, 325: 3_000_000, 323: 2_000_000, 125: 900_000, 121: 300_000, 400: 700_000}.items())])


def printed(page, tmp_path, heading=None, script=SCRIPT):
    """What the Python blocks of a page print, run as one program, line by line."""
    fake = Path(gpu_profile.binary()).parent / "fakes" / "libcuda.so.1"
    if not fake.exists():
        pytest.skip(f"{fake} is not built")
    text = (ROOT / page).read_text()
    if heading:
        _, text = text.split(f"\n## {heading}\n")
    environment = {**os.environ, "GPUPROF_CUDA": str(fake), "GPUPROF_FAKE_CUDA_SIM": script, "GPUPROF_NVML": "/nonexistent/libnvidia-ml.so.1",
                   "PYTHONPATH": str(ROOT / "tests" / "fakes" / "frameworks")}
    program = tmp_path / "page.py"
    program.write_text("\n".join(BLOCK.findall(text)))
    done = subprocess.run([sys.executable, "-W", "error", program], cwd=tmp_path, env=environment, capture_output=True, text=True,
                          timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_six_clocks(tmp_path):
    """The event-timing templates of PyTorch and CuPy, beside clocks that are wrong and bench()."""
    by_torch, by_cupy = printed("docs/guides/cpu-timing.md", tmp_path)
    naive, late, waits, events, hot, cold = map(float, by_torch.split())
    assert naive < 1.5, "the time to enqueue"
    assert late > naive and waits >= 1.5
    assert 1.5 <= events
    assert hot == pytest.approx(1.5, rel=1e-3)
    assert cold == pytest.approx(1.5, rel=1e-3)
    assert float(by_cupy) >= 2.0


def test_pytorch(tmp_path):
    lines = printed("docs/guides/pytorch.md", tmp_path, "Benchmarks")
    text = "\n".join(lines)
    assert "1.5 ms (" in lines[0] and lines[0].endswith("timer: cuda events")
    assert "at least 89.48 GB/s" in text, "two tensors of 64 MiB in 1.5 ms"
    assert "45.81 TFLOP/s" in text
    assert "share of peak unknown: the arithmetic peak of Fake GPU for fp32 is unknown" in text
    assert "1.5" in lines, "a graph"
    assert lines[-1].startswith("compiled ") and "eager: same, speedup 1 (" in lines[-1]


def test_triton(tmp_path):
    lines = printed("docs/guides/triton.md", tmp_path, "Benchmarks")
    median_ms, rate = map(float, lines[0].split())
    assert median_ms == pytest.approx(0.7, rel=1e-3)
    assert rate == pytest.approx(2 * 64 * 2**20 / 0.7e-3, rel=1e-3)
    assert json.loads(lines[1]) == pytest.approx([0.7] * 3, rel=1e-3)
    assert lines[3].split() == ["size", "Triton", "PyTorch"]
    assert list(map(float, lines[5].split())) == pytest.approx([1 << 24, 2 * 64 * 2**20 / 0.7e6, 2 * 64 * 2**20 / 0.9e6], rel=1e-3)


def test_cupy(tmp_path):
    text = "\n".join(printed("docs/guides/cupy.md", tmp_path, "Benchmarks"))
    assert "timer: cuda events" in text and "8.59 TFLOP/s" in text
    assert "(cupy)" in text


def test_jax(tmp_path):
    lines = printed("docs/guides/jax.md", tmp_path, "Benchmarks")
    assert "timer: host" in lines[0]
    assert lines[-1] in ("same", "cannot tell", "slower", "faster")
