"""More of the stand-in for PyTorch, for programs of tests/gpu/workloads that are recorded and not timed: whatever is called is one
launch and gives `Anything`, a tensor that has whatever is asked of it. Nothing is computed. `install` puts it into the module."""

import contextlib
import gzip
import json
import sys
import time
import types

import launches


class Anything:
    shape = (1, 1, 1)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return operator

    def __call__(self, *given, **named):
        return operator()

    def __iter__(self):
        return iter((self, self, self))

    def _operator(self, *_):
        return operator()

    __add__ = __radd__ = __mul__ = __rmul__ = __matmul__ = __sub__ = __getitem__ = _operator

    def to(self, *_given, **_named):
        return self

    cpu = cuda = pin_memory = parameters = to


def operator(*_given, **_named):
    """Any function of the framework."""
    launches.launch()
    return Anything()


def quiet(*_given, **_named):
    """What launches nothing: a layer, a seed, an optimizer."""
    return Anything()


class Any(types.ModuleType):
    """A module with everything; names of classes make layers."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return quiet if name[0].isupper() else operator


class Layer:
    def __init__(self, *_given, **_named):
        pass

    def __call__(self, *given):
        return self.forward(*given)

    forward = staticmethod(operator)


class Session:
    """torch.profiler.profile: counts launches while it is open. PyTorch's is a client of CUPTI, which the fakes have elsewhere."""

    def __init__(self, activities=()):
        assert [str(each) for each in activities] == ["CPU", "CUDA"], "activities are given one by one"
        self.launched = 0

    def __enter__(self):
        self.launched = -launches.count
        return self

    def __exit__(self, *_):
        self.launched += launches.count

    def events(self):
        span = types.SimpleNamespace(elapsed_us=lambda: 1.0)
        return [types.SimpleNamespace(device_type="CUDA", name="add_nothing_spin", time_range=span)] * self.launched

    def export_chrome_trace(self, path):
        with gzip.open(path, "wt") as file:
            json.dump({"traceEvents": []}, file)


class Dataset:
    pass


class DataLoader:
    def __init__(self, dataset, batch_size, num_workers):
        self.dataset, self.batch_size = dataset, batch_size

    def __iter__(self):
        for number in range(1 << 20):
            self.dataset[number]
            yield Anything(), Anything()


class Stream(Anything):
    """A wait for an event of the other stream plays the recording of that event and the wait for it."""

    name = "side"

    def wait_event(self, _event):
        launches.launch(f"wait_on_{self.name}.script")


class MainStream(Stream):
    name = "main"


class Timed:
    """An event by the host's clock."""

    def __init__(self, enable_timing=False):
        self.at = None

    def record(self, stream=None):
        self.at, self.stream = time.perf_counter(), stream

    def synchronize(self):
        time.sleep(0.001)

    def elapsed_time(self, end):
        return (end.at - self.at) * 1e3


# Ranges are NVTX's where launches are seen and its client is installed, as PyTorch's are.
try:
    import nvtx
except ImportError:
    nvtx = None
if not launches.seen:
    nvtx = None


@contextlib.contextmanager
def span(*_given, **_named):
    yield


def marked(name):
    return nvtx.annotate(name) if nvtx else span()


def push(name):
    return nvtx.push_range(name) if nvtx else None


def pop():
    return nvtx.pop_range() if nvtx else None


def install(torch):
    names = ("nn", "nn.functional", "utils", "utils.data", "optim", "profiler", "autograd")
    for name in names:
        sys.modules[f"torch.{name}"] = Any(f"torch.{name}")
    for name in names:
        parent, _, child = name.rpartition(".")
        setattr(sys.modules[f"torch.{parent}"] if parent else torch, child, sys.modules[f"torch.{name}"])
    torch.nn.Module = Layer
    torch.utils.data.Dataset, torch.utils.data.DataLoader = Dataset, DataLoader
    torch.profiler.profile = Session
    torch.profiler.ProfilerActivity = types.SimpleNamespace(CPU="CPU", CUDA="CUDA")
    torch.autograd.DeviceType = types.SimpleNamespace(CUDA="CUDA")
    torch.manual_seed = torch.Generator = quiet
    torch.randn = torch.randint = torch.rand = torch.ones = torch.empty = torch.empty_like = quiet
    torch.add = torch.mm = torch.matmul = torch.tanh = torch.softmax = operator
    torch.autocast = span
    torch.cuda.nvtx = types.SimpleNamespace(range=marked, range_push=push, range_pop=pop)
    torch.cuda.graph, torch.cuda.CUDAGraph, torch.cuda.Stream, torch.cuda.Event = span, Anything, Stream, Timed
    torch.cuda.current_stream, torch.cuda.synchronize = MainStream, lambda *_: None
    torch.cuda.stream = span
