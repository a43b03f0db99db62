"""docs/guides/bench-python.md: every Python block runs, on the simulated device of the fake libcuda. PyTorch, CuPy and
JAX are modules of a few lines, so that the page shows that it uses this package rightly; nothing about the frameworks."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gpu_profile
from patience import HANGS_S

PAGE = Path(__file__).resolve().parents[3] / "docs" / "guides" / "bench-python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)

DEVICE = '''
import ctypes, os
_device = ctypes.CDLL(os.environ["GPUPROF_CUDA"])
_device.fake_cuda_set(b"kernel 1 constant 50000; latency_ns 0", 1)

def launch(stream):
    assert _device.fake_cuda_launch(1, ctypes.c_void_p(stream)) == 0
'''
MODULES = {
    "device_work.py": DEVICE,
    "torch.py": '''
import types
from device_work import launch

class Tensor:
    is_cuda = True
    def numel(self): return 4096 * 4096
    def clone(self): return Tensor()

def randn(*_shape, device):
    return Tensor()

def softmax(x, dim):
    assert isinstance(x, Tensor) and dim == -1
    launch(0x700)
    return Tensor()

cuda = types.SimpleNamespace(is_initialized=lambda: True, is_available=lambda: False, current_device=lambda: 0,
                             current_stream=lambda: types.SimpleNamespace(cuda_stream=0x700), Stream=None, stream=None)
''',
    "cupy.py": '''
import types
from device_work import launch

class ndarray:
    pass

def matmul(a, b):
    launch(0x500)
    return ndarray()

random = types.SimpleNamespace(rand=lambda *_: ndarray())
cuda = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=0x500), Stream=None,
                             Device=lambda: types.SimpleNamespace(id=0),
                             runtime=types.SimpleNamespace(getDeviceCount=lambda: 0))
''',
    "jax/__init__.py": "jit = lambda function: function\n",
    "jax/numpy.py": '''
class Array:
    def __matmul__(self, other): return Array()
    def block_until_ready(self): return self

def ones(shape):
    return Array()
''',
}


# Where times are noisy a benchmark samples for as long as it may, 15 s. What the page says does not depend on it.
SHORT = """
import gpu_profile.benchmarking as of
of.bench.__kwdefaults__["timeout_s"] = 1.0
of.Options.__new__.__defaults__ = tuple({**of.Options._field_defaults, "timeout_s": 1.0}.values())
"""


def test_page(tmp_path):
    fake = Path(gpu_profile.binary()).parent / "fakes" / "libcuda.so.1"
    if not fake.exists():
        pytest.skip(f"{fake} is not built")
    for name, text in MODULES.items():
        (tmp_path / "modules" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "modules" / name).write_text(text)
    blocks = BLOCK.findall(PAGE.read_text())
    # A framework's block runs in a separate program: once imported, the framework is also queried for CPU functions.
    plain = [block for block in blocks if not re.search(r"import (torch|cupy|jax)$", block, re.MULTILINE)]
    frameworks = [block for block in blocks if block not in plain]
    assert (len(plain), len(frameworks)) == (6, 5)
    printed = [run(plain, tmp_path, fake)]
    printed += [run([block], tmp_path, fake) for block in frameworks]
    assert "Constraint violated: peak memory 8MB exceeds limit 4MB" in printed[0]
    assert "timer: host\n  loop" in printed[0]
    assert "tracemalloc 8.0" in printed[0]
    assert (tmp_path / "results" / "builtins.csv").exists()
    first, counted = printed[1].splitlines()
    assert counted == "None", "the stand-in's device has no known peak"
    timer, median_ms, rate = first.rsplit(maxsplit=2)
    assert timer == "cuda events"
    assert float(median_ms) == pytest.approx(0.05, rel=0.01)
    assert float(rate) == pytest.approx(2 * 4096 * 4096 * 4 / 50e-6, rel=0.01)
    assert float(printed[2].split()[0]) == pytest.approx(50_000, rel=0.01)
    assert json.loads(printed[3]) == pytest.approx([0.05] * 3, rel=0.01)
    assert "TFLOP/s" in printed[4]
    assert printed[5] == "host\n"


def run(blocks, folder, fake):
    environment = {**os.environ, "GPUPROF_CUDA": str(fake), "PYTHONPATH": str(folder / "modules"),
                   "GPUPROF_NVML": "/nonexistent/libnvidia-ml.so.1"}
    done = subprocess.run([sys.executable, "-W", "error", "-"], input="\n".join([SHORT, *blocks]), cwd=folder, env=environment,
                          capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
