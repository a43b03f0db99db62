"""memory() and bench(memory=True): Python's allocations here, PyTorch's and CuPy's counters by small stand-ins."""

import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

import gpu_profile
from gpu_profile import Error, MemoryLimitError, bench, memory

MIB = 1 << 20
QUICK = {"min_time_s": 0, "min_warmup_s": 0, "min_samples": 6, "max_samples": 6, "timer": "host"}


def allocate(mib):
    return bytearray(mib * MIB)


def test_peak_and_current_of_python():
    with memory() as block:
        kept = allocate(2)
        allocate(8)
    assert block.source == "tracemalloc"
    assert block.peak_allocated_bytes == pytest.approx(10 * MIB, rel=0.01)
    assert block.allocated_bytes == pytest.approx(2 * MIB, rel=0.01)
    assert (block.peak_mb, block.current_mb) == pytest.approx((10, 2), rel=0.01)
    assert block.reserved_bytes is None
    assert block.device_used_bytes is None
    assert "Python's allocations" in block.notes[0]
    assert json.loads(json.dumps(block.use.to_dict()))["source"] == "tracemalloc"
    assert "peak 10 MiB" in str(block)
    del kept


def test_blocks_within_each_other_keep_their_peaks():
    with memory() as outer:
        allocate(16)
        with memory() as inner:
            allocate(4)
        allocate(1)
    assert outer.peak_mb == pytest.approx(16, rel=0.01)
    assert inner.peak_mb == pytest.approx(4, rel=0.01)
    with memory() as outer, memory() as inner:
        allocate(8)
    assert (outer.peak_mb, inner.peak_mb) == pytest.approx((8, 8), rel=0.01)


def test_so_far_and_after_an_exception():
    block = memory()
    with pytest.raises(Error, match="has not begun"):
        _ = block.use
    with pytest.raises(ZeroDivisionError), block:
        allocate(4)
        assert block.use.peak_mb == pytest.approx(4, rel=0.01)
        with pytest.raises(Error, match="already open"), block:
            pass
        1 / 0
    assert block.use.peak_mb == pytest.approx(4, rel=0.01)


def test_tracing_of_the_program_goes_on():
    import tracemalloc

    tracemalloc.start()
    try:
        kept = allocate(3)
        with memory() as block:
            allocate(1)
        assert tracemalloc.is_tracing()
        assert block.peak_mb == pytest.approx(1, rel=0.01)
        del kept
    finally:
        tracemalloc.stop()
    with memory():
        pass
    assert not tracemalloc.is_tracing()


def test_memory_of_a_benchmark():
    found = bench(allocate, 5, memory=True, **QUICK)
    assert found.memory.peak_mb == pytest.approx(5, rel=0.01)
    assert "memory peak 5 MiB" in str(found)
    assert found.to_dict()["memory"]["source"] == "tracemalloc"


def test_a_limit():
    assert bench(allocate, 2, max_memory_mb=3, **QUICK).memory.peak_mb == pytest.approx(2, rel=0.01)
    with pytest.raises(MemoryLimitError, match=r"^Constraint violated: peak memory 5MB exceeds limit 3MB$") as caught:
        bench(allocate, 5, max_memory_mb=3, **QUICK)
    assert caught.value.code == 1
    with pytest.raises(Error, match="max_memory_mb .*-1"):
        bench(allocate, 5, max_memory_mb=-1, **QUICK)


class Pool:
    """Counts as a caching allocator: reserved is what was ever in use at once."""

    def __init__(self, used=0):
        self.used = self.peak = self.reserved = self.peak_reserved = used

    def take(self, size):
        self.used += size
        self.peak = max(self.peak, self.used)
        self.reserved = max(self.reserved, self.used)
        self.peak_reserved = max(self.peak_reserved, self.reserved)

    def give(self, size):
        self.used -= size

    def reset(self):
        self.peak, self.peak_reserved = self.used, self.reserved


@pytest.fixture
def torch(monkeypatch):
    module, pool = types.ModuleType("torch"), Pool(100)
    module.pool = pool
    module.cuda = types.SimpleNamespace(
        is_available=lambda: True, init=lambda: None, reset_peak_memory_stats=pool.reset,
        memory_allocated=lambda: pool.used, max_memory_allocated=lambda: pool.peak,
        memory_reserved=lambda: pool.reserved, max_memory_reserved=lambda: pool.peak_reserved,
        mem_get_info=lambda: (10_000 - 700 - pool.reserved, 10_000),
    )
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def test_counters_of_pytorch(torch):
    torch.pool.take(5000)
    torch.pool.give(5000)
    with memory() as block:
        torch.pool.take(2000)
        torch.pool.give(1500)
    assert block.source == "torch"
    assert (block.peak_allocated_bytes, block.allocated_bytes, block.reserved_bytes) == (2100, 600, 5100)
    assert (block.device_used_bytes, block.device_total_bytes, block.outside_bytes) == (5800, 10_000, 700)
    assert "other processes" in block.notes[-1]


def test_pytorch_that_cannot_ask_the_driver(torch):
    def broken():
        raise RuntimeError("no such device")

    torch.cuda.mem_get_info = broken
    with memory() as block:
        pass
    assert (block.device_used_bytes, block.outside_bytes) == (None, None)
    assert "no such device" in block.notes[-1]


def test_pytorch_for_the_processor_only(torch):
    """CPU tensors are invisible to tracemalloc: the 112 bytes of the object around one are no answer."""
    torch.cuda.is_available = lambda: False
    with memory() as block:
        pass
    assert (block.source, block.peak_mb, block.allocated_bytes) == ("torch", None, None)
    assert "keeps no counters" in block.notes[0] and str(block) == "unknown (torch)"


class Hook:
    active = None

    def __enter__(self):
        Hook.active = self
        return self

    def __exit__(self, *_):
        Hook.active = None


@pytest.fixture
def cupy(monkeypatch):
    module, pool = types.ModuleType("cupy"), Pool(100)

    def take(size):
        pool.take(size)
        if Hook.active is not None:
            Hook.active.malloc_postprocess(size=size)

    module.take, module.pool = take, pool
    counts = types.SimpleNamespace(used_bytes=lambda: pool.used, total_bytes=lambda: pool.reserved)
    module.get_default_memory_pool = lambda: counts
    runtime = types.SimpleNamespace(getDeviceCount=lambda: 1, memGetInfo=lambda: (9000 - pool.reserved, 10_000))
    module.cuda = types.SimpleNamespace(runtime=runtime, MemoryHook=Hook)
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def test_pool_of_cupy(cupy):
    with memory() as block:
        cupy.take(300)
        cupy.pool.give(300)
        cupy.take(50)
    assert Hook.active is None
    assert block.source == "cupy"
    assert (block.peak_allocated_bytes, block.allocated_bytes, block.reserved_bytes) == (400, 150, 400)
    assert (block.device_used_bytes, block.outside_bytes) == (1400, 1000)


def test_cupy_without_hooks_has_no_peak(cupy):
    del cupy.cuda.MemoryHook
    with memory() as block:
        cupy.take(300)
    assert (block.peak_allocated_bytes, block.allocated_bytes) == (None, 400)
    assert "peaks are unknown" in block.notes[0]
    with pytest.raises(Error, match="max_memory_mb: .*peak"):
        bench(lambda: None, max_memory_mb=1, **QUICK)


def test_a_framework_without_counters_by_the_driver(tmp_path):
    fake = Path(gpu_profile.binary()).parent / "fakes" / "libcuda.so.1"
    if not fake.exists():
        pytest.skip(f"{fake} is not built")
    code = """
import ctypes, json, os, sys, types
from gpu_profile import memory
device = ctypes.CDLL(os.environ["GPUPROF_CUDA"])
device.fake_cuda_set(b"memory 1000000; current", 1)
sys.modules["pycuda"] = types.ModuleType("pycuda")
pointer = ctypes.c_uint64()
device.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(1000))
with memory() as block:
    device.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(5000))
print(json.dumps(block.use.to_dict()))
"""
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "GPUPROF_CUDA": str(fake)}, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert (found["source"], found["allocated_bytes"], found["peak_allocated_bytes"]) == ("driver", 5000, None)
    assert (found["device_used_bytes"], found["device_total_bytes"]) == (6000, 1_000_000)


def test_a_driver_that_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "pycuda", types.ModuleType("pycuda"))
    monkeypatch.setenv("GPUPROF_CUDA", "/nonexistent/libcuda.so.1")
    with memory() as block:
        pass
    assert block.source == "tracemalloc"
