"""gpu_profile.torch with a fake PyTorch: it waits for the right devices at the right time, never initialises CUDA, and
says what is missing where there is no PyTorch."""

import sys
import types

import pytest
import replayed

import gpu_profile.torch as for_torch
from gpu_profile import GpuMonitor, gpu_profile


class FakeCuda:
    def __init__(self, initialized=True, current=0, count=2):
        self.initialized, self.current, self.count = initialized, current, count
        self.waits = []

    def is_initialized(self):
        return self.initialized

    def current_device(self):
        assert self.initialized, "asking for the current device initialises CUDA"
        return self.current

    def device_count(self):
        return self.count

    def synchronize(self, device=None):
        assert self.initialized, "synchronize() initialises CUDA"
        self.waits.append(device)


class FakeDevice:
    """As torch.device: it has a type and an index, and since PyTorch 2 it can be called as a decorator."""

    def __init__(self, index, kind="cuda"):
        self.type, self.index = kind, index

    def __call__(self, fn):
        raise AssertionError("the device was taken for a function")


@pytest.fixture
def cuda(monkeypatch):
    torch = types.ModuleType("torch")
    torch.cuda = FakeCuda()
    monkeypatch.setitem(sys.modules, "torch", torch)
    return torch.cuda


@pytest.fixture
def recording(tmp_path):
    devices = [0, 1] * 2
    return replayed.write(tmp_path / "s.csv", time_s=[0, 0, 1, 1], device=devices, util_gpu=[10, 80, 20, 100])


def test_current_device_is_monitored_and_waited_for(cuda, recording):
    cuda.current = 1
    with for_torch.GpuMonitor(backend=recording) as monitor:
        assert cuda.waits == [1]
    assert cuda.waits == [1, 1]
    assert (monitor.summary.device, monitor.summary.util_gpu_mean) == (1, 90)


def test_current_device_is_asked_for_when_the_region_begins(cuda, recording):
    seen = []
    work = for_torch.gpu_profile(backend=recording, report=lambda summary: seen.append(summary.device))(lambda: None)
    cuda.current = 1
    work()
    cuda.current = 0
    work()
    assert seen == [1, 0]


def test_cuda_is_not_initialised(cuda, recording):
    cuda.initialized = False
    with for_torch.GpuMonitor(backend=recording) as monitor:
        cuda.initialized = True  # the program's first use of CUDA
    assert cuda.waits == [0]
    assert monitor.summary.device == 0


@pytest.mark.parametrize("device, waits", [(1, [1]), ([0, 1], [0, 1]), ("all", [0, 1]), ("GPU-1", [0, 1])])
def test_devices_that_are_named(cuda, recording, device, waits):
    monitor = for_torch.GpuMonitor(device=device, backend=recording)
    monitor._wait()
    assert cuda.waits == waits


def test_device_objects(cuda, recording):
    seen = []
    gpu_profile(FakeDevice(1), backend=recording, report=seen.append)(lambda: None)()
    gpu_profile(FakeDevice(None), backend=recording, report=seen.append)(lambda: None)()
    for_torch.gpu_profile(FakeDevice(1), backend=recording, report=seen.append)(lambda: None)()
    with GpuMonitor([FakeDevice(0), 1], backend=recording) as monitor:
        pass
    assert [summary.device for summary in seen] == [1, 0, 1]
    assert [summary.device for summary in monitor.summaries] == [0, 1]


def test_bare_and_own_sync_fn(cuda, recording, capsys):
    assert for_torch.gpu_profile(lambda: "value")() == "value"
    assert capsys.readouterr().err.startswith("gpu-profile: ")
    cuda.waits.clear()
    own = []
    with for_torch.GpuMonitor(backend=recording, sync_fn=lambda: own.append(1)):
        pass
    assert (own, cuda.waits) == ([1, 1], [])


def test_profile_repeats(cuda, recording):
    result = for_torch.profile_repeats(lambda: None, repeats=3, warmup_runs=1, backend=recording)
    assert result.util_gpu.values == (15, 15, 15)
    assert len(cuda.waits) == 6


def test_same_arguments_as_without_torch():
    import inspect

    for name in ("gpu_profile", "GpuMonitor", "profile_repeats"):
        plain = inspect.signature(getattr(sys.modules["gpu_profile"], name)).parameters
        there = inspect.signature(getattr(for_torch, name)).parameters
        assert list(there) == list(plain), name
        assert [there[one].default for one in there if one != "device"] == [plain[one].default for one in plain if one != "device"]


def test_without_torch(monkeypatch, recording):
    monkeypatch.setitem(sys.modules, "torch", None)
    message = "pip install torch"
    with pytest.raises(ImportError, match=message):
        for_torch.GpuMonitor(backend=recording).start()
    with pytest.raises(ImportError, match=message):
        for_torch.gpu_profile(backend=recording)(lambda: None)()
    for_torch.gpu_profile(backend=recording)  # decorating needs no PyTorch
