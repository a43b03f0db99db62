"""A stand-in for CuPy on the simulated device; see simulated.py. `run(kernel, function, *arrays)` is its one operator."""

import types

import numpy
import simulated


class ndarray(simulated.Array):
    __module__ = "cupy"

    @property
    def dtype(self):
        return self.values.dtype

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.values.__array_interface__["data"][0])

    def __matmul__(self, other):
        return matmul(self, other)

    def astype(self, dtype):
        return ndarray(self.values.astype(dtype))

    def __setitem__(self, place, given):
        self.values[place] = given.values if isinstance(given, ndarray) else given
        simulated.launch(0, cuda.now.ptr)


class Stream:
    def __init__(self, non_blocking=False, ptr=0x900):
        self.ptr = ptr

    def synchronize(self):
        simulated.synchronize_stream(self.ptr)

    def __enter__(self):
        self.before, cuda.now = cuda.now, self

    def __exit__(self, *_):
        cuda.now = self.before


class Event(simulated.Event):
    def record(self):
        self.record_on(cuda.now.ptr)


class MemoryHook:
    name = "hook"

    def malloc_postprocess(self, **_):
        pass

    def __enter__(self):
        simulated.pool.hooks.append(self)

    def __exit__(self, *_):
        simulated.pool.hooks.remove(self)


class MemoryPool:
    def used_bytes(self):
        return simulated.pool.used

    total_bytes = used_bytes


def run(kernel, function, *arrays):
    simulated.launch(kernel, cuda.now.ptr)
    return ndarray(function(*(array.values for array in arrays)))


def matmul(one, other):
    return run(300 + one.values.size.bit_length(), lambda a, b: a, one, other)


def asnumpy(array):
    simulated.synchronize()
    return array.values


def asarray(values):
    return ndarray(values)


def empty_like(array):
    return ndarray(numpy.empty_like(array.values))


def get_default_memory_pool():
    return MemoryPool()


uint8 = numpy.uint8
cuda = types.ModuleType("cupy.cuda")
cuda.now = Stream(ptr=0)
cuda.Stream, cuda.MemoryHook, cuda.get_current_stream = Stream, MemoryHook, lambda: cuda.now
random = types.SimpleNamespace(rand=lambda *shape: ndarray(numpy.broadcast_to(1.0, shape)))
cuda.Event, cuda.get_elapsed_time = Event, lambda start, end: start.elapsed_time(end)
cuda.Device = lambda: types.SimpleNamespace(id=0)
cuda.runtime = types.SimpleNamespace(deviceSynchronize=simulated.synchronize, getDeviceCount=lambda: 1,
                                     memGetInfo=lambda: (80 << 30, 100 << 30))
