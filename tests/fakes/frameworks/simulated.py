"""Arrays and launches of the stand-ins for PyTorch and CuPy in this folder: values are NumPy's, times the simulated
device's (tests/fakes/cuda/sim.h, in the library that GPUPROF_CUDA names). A result is there at once; how long it takes
is what the script says of its kernel. Nothing here is like a framework but the names that gpu_profile uses.
"""

import ctypes
import os

import launches
import numpy

_device = ctypes.CDLL(os.environ["GPUPROF_CUDA"])
_launch, _wait, _wait_for_stream = _device.fake_cuda_launch, _device.cuCtxSynchronize, _device.cuStreamSynchronize


class OutOfMemoryError(RuntimeError):
    """Of both frameworks, by this name."""


class Pool:
    """The memory of arrays, and the most that it was. The driver is asked for it, array by array."""

    def __init__(self):
        self.used = self.peak = 0
        self.hooks = []

    def take(self, size):
        place = ctypes.c_uint64()
        if _device.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(size)) != 0:
            raise OutOfMemoryError(f"CUDA out of memory. Tried to allocate {size / 2**20:.2f} MiB.")
        self.used += size
        self.peak = max(self.peak, self.used)
        for hook in self.hooks:
            hook.malloc_postprocess(size=size)
        return place

    def give_back(self, place, size):
        self.used -= size
        _device.cuMemFree_v2(place)


pool = Pool()


def launch(kernel, stream):
    launches.launch()
    assert _launch(kernel, ctypes.c_void_p(stream)) == 0


def synchronize(*_device):
    assert _wait() == 0


def synchronize_stream(stream):
    assert _wait_for_stream(ctypes.c_void_p(stream)) == 0


class Event:
    """An event of the driver."""

    def __init__(self, enable_timing=True):
        self.handle = ctypes.c_void_p()
        assert _device.cuEventCreate(ctypes.byref(self.handle), 0) == 0

    def record_on(self, stream):
        assert _device.cuEventRecord(self.handle, ctypes.c_void_p(stream)) == 0

    def synchronize(self):
        assert _device.cuEventSynchronize(self.handle) == 0

    def elapsed_time(self, end):
        found = ctypes.c_float()
        assert _device.cuEventElapsedTime(ctypes.byref(found), self.handle, end.handle) == 0
        return found.value


class Array:
    """What both frameworks' arrays have in common."""

    def __init__(self, values, on_device=True):
        self.values, self.on_device, self.place = numpy.asarray(values), on_device, None
        if on_device:
            self.place = pool.take(self.values.nbytes)

    def __del__(self):
        if self.place is not None:
            pool.give_back(self.place, self.values.nbytes)

    @property
    def shape(self):
        return self.values.shape

    @property
    def nbytes(self):
        return self.values.nbytes

    def __getitem__(self, place):
        return type(self)(self.values[place], self.on_device)
