"""A stand-in for PyTorch on the simulated device; see simulated.py. `run(kernel, function, *tensors)` is its operator; a few
have names, for tests/gpu/workloads/timings.py."""

import contextlib
import os
import sys
import types

import numpy
import simulated


class DType:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return f"torch.{self.name}"

    def __eq__(self, other):
        return isinstance(other, DType) and other.name == self.name

    def __hash__(self):
        return hash(self.name)


class Tensor(simulated.Array):
    __module__ = "torch"

    @property
    def is_cuda(self):
        return self.on_device

    @property
    def dtype(self):
        return DType(self.values.dtype.name)

    def numel(self):
        return self.values.size

    def element_size(self):
        return self.values.itemsize

    def data_ptr(self):
        return self.values.__array_interface__["data"][0]

    def detach(self):
        return self

    contiguous = detach

    def cpu(self):
        if self.is_cuda:
            cuda.synchronize()
        return Tensor(self.values, False)

    def numpy(self):
        return self.values

    def clone(self):
        return run(0, numpy.copy, self)

    def double(self):
        return Tensor(self.values.astype("f8"), self.on_device)

    def __matmul__(self, other):
        return mm(self, other)

    def __mul__(self, factor):
        return run(0, lambda values: values * values.dtype.type(factor), self)

    def copy_(self, other):
        self[...] = other
        return self

    def view(self, _dtype):
        return Tensor(self.values.view("u1"), False)

    def cuda(self):
        if not cuda.is_available():
            raise RuntimeError("No CUDA GPUs are available")
        return self.to("cuda")

    def to(self, device=None, dtype=None):
        return Tensor(self.values, device == "cuda")

    def __setitem__(self, place, given):
        self.values[place] = given.values if isinstance(given, Tensor) else given
        if self.is_cuda:
            simulated.launch(0, cuda.now.cuda_stream)


class Stream:
    def __init__(self, handle=0x900):
        self.cuda_stream = handle

    def synchronize(self):
        simulated.synchronize_stream(self.cuda_stream)

    def wait_stream(self, _other):
        pass

    def __enter__(self):
        self.before, cuda.now = cuda.now, self

    def __exit__(self, *_):
        cuda.now = self.before


def run(kernel, function, *tensors):
    """The result of a function of NumPy, which takes as long as that kernel of the device, on the current stream."""
    simulated.launch(kernel, cuda.now.cuda_stream)
    return Tensor(function(*(tensor.values for tensor in tensors)))


def randn(*shape, device, dtype=None):
    return Tensor(numpy.broadcast_to(numpy.float32(1), shape))


def _timed(kernel):
    """An operator that takes what the script says of a kernel: its own number and that of its size's leading bit."""

    def operator(tensor, *_more, out=None):
        simulated.launch(kernel + tensor.numel().bit_length(), cuda.now.cuda_stream)
        return out or Tensor(tensor.values)

    return operator


add, softmax, mm = _timed(100), _timed(200), _timed(300)


def tanh(tensor):
    return run(0, numpy.tanh, tensor)


def manual_seed(seed):
    numpy.random.seed(seed % (1 << 32))


def from_numpy(values):
    return Tensor(values, False)


def compile(function):
    return function


def inference_mode():
    return contextlib.nullcontext()


def empty_like(tensor):
    return Tensor(numpy.empty_like(tensor.values), tensor.on_device)


class Event(simulated.Event):
    def record(self):
        self.record_on(cuda.now.cuda_stream)


def _reset():
    simulated.pool.peak = simulated.pool.used


__version__ = "0 (a stand-in)"
bfloat16, float32, uint8 = DType("bfloat16"), DType("float32"), DType("uint8")
cuda = types.ModuleType("torch.cuda")
cuda.now = Stream(0x700)
cuda.Stream, cuda.stream, cuda.current_stream = Stream, lambda stream: stream, lambda device=None: cuda.now
cuda.ExternalStream, cuda.Event = Stream, Event
cuda.is_available = cuda.is_initialized = lambda: "WITHOUT_A_GPU" not in os.environ
cuda.OutOfMemoryError = OutOfMemoryError = simulated.OutOfMemoryError
cuda.init, cuda.current_device, cuda.synchronize = lambda: None, lambda: 0, simulated.synchronize
cuda.memory_allocated = cuda.memory_reserved = lambda: simulated.pool.used
cuda.max_memory_allocated = cuda.max_memory_reserved = lambda: simulated.pool.peak
cuda.reset_peak_memory_stats = _reset
cuda.mem_get_info = lambda: (80 << 30, 100 << 30)
sys.modules["torch.cuda"] = cuda

if os.path.basename(sys.argv[0]) in os.environ.get("GPUPROF_FAKE_TORCH_ANY", "").split(":"):  # programs that are recorded and not timed
    import torch_more

    torch_more.install(sys.modules[__name__])
