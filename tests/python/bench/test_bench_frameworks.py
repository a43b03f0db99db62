"""bench() on the simulated device of the fake libcuda (tests/fakes/cuda/sim.h): times are exact there. PyTorch, CuPy and JAX
are stood in for by modules of a few lines, which put kernels on streams as theirs do: what is tested is which clock and
stream are chosen, and what is waited for; nothing about the frameworks. Each in a process of its own."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import gpu_profile
from patience import HANGS_S

QUICK = "dict(min_time_s=0, min_warmup_s=0, min_samples=10, max_samples=10)"

PRELUDE = f'''
import ctypes, json, os, sys, types
import gpu_profile
from gpu_profile import Error, bench, bench_compare, memory
device = ctypes.CDLL(os.environ["GPUPROF_CUDA"])
QUICK = {QUICK}

def script(text):
    assert device.fake_cuda_set(text.encode(), 1) == 0, text

def launch(number, stream=0):
    assert device.fake_cuda_launch(number, ctypes.c_void_p(stream)) == 0

def say(found, **more):
    print(json.dumps(dict(found.to_dict(), **more)))
'''

TORCH = '''
class Tensor:
    __module__ = "torch"
    def __init__(self, is_cuda): self.is_cuda = is_cuda

class Stream:
    waited = []
    def __init__(self, handle=0x900): self.cuda_stream = handle
    def __enter__(self): torch.now = self
    def __exit__(self, *_): torch.now = default
    def synchronize(self): Stream.waited.append(self)

torch = types.ModuleType("torch")
default = torch.now = Stream(0x700)
torch.cuda = types.SimpleNamespace(
    is_available=lambda: True, is_initialized=lambda: torch.started, current_device=lambda: 0,
    current_stream=lambda: torch.now, Stream=Stream, stream=lambda stream: stream)
torch.started = False
sys.modules["torch"] = torch

def kernel(x=None):
    torch.started = True
    launch(1, torch.now.cuda_stream)
    return Tensor(True)
'''

CUPY = '''
class ndarray:
    __module__ = "cupy"

class Stream:
    def __init__(self, non_blocking=False, ptr=0x500): self.ptr = ptr
    def __enter__(self): cupy.now = self
    def __exit__(self, *_): cupy.now = default
    def synchronize(self): pass

cupy = types.ModuleType("cupy")
default = cupy.now = Stream(ptr=0)
cupy.cuda = types.SimpleNamespace(get_current_stream=lambda: cupy.now, Stream=Stream, Device=lambda: types.SimpleNamespace(id=0))
sys.modules["cupy"] = cupy

def kernel(x):
    launch(1, cupy.now.ptr)
    return ndarray()
'''

JAX = '''
waited = []
class Array:
    __module__ = "jaxlib.xla_extension"
    def block_until_ready(self): waited.append(self); return self
sys.modules["jax"] = types.ModuleType("jax")
'''


@pytest.fixture(scope="session")
def fake():
    library = Path(gpu_profile.binary()).parent / "fakes" / "libcuda.so.1"
    if not library.exists():
        pytest.skip(f"{library} is not built")
    return library


@pytest.fixture
def answers(fake):
    """What a program of its own prints, a JSON object a line."""

    def run(*parts):
        program = "\n".join([PRELUDE, *(textwrap.dedent(part) for part in parts)])
        environment = {**os.environ, "GPUPROF_CUDA": str(fake), "GPUPROF_NVML": "/nonexistent/libnvidia-ml.so.1"}
        environment.pop("CUDA_VISIBLE_DEVICES", None)
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=HANGS_S, check=False)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


def test_a_raw_stream_is_timed_by_events(answers):
    (found,) = answers('''
        script("kernel 1 constant 50000")
        say(bench(lambda: launch(1, 0x100), stream=0x100, bytes=1e6, **QUICK))
    ''')
    assert found["timer"] == "cuda events"
    assert found["samples"] == pytest.approx([50_000] * 10, rel=1e-3)
    assert found["bytes_per_s"] == pytest.approx(1e6 / 50e-6, rel=1e-3)
    assert (found["device"], found["cold"], found["batch"]) == (0, True, 1)
    assert found["host_ns"] > 0
    assert found["throttle"] is None
    assert any("throttling" in note for note in found["notes"])


@pytest.mark.parametrize("stream", [
    "types.SimpleNamespace(cuda_stream=0x100)", "types.SimpleNamespace(ptr=0x100)", "types.SimpleNamespace(handle=0x100)",
    "types.SimpleNamespace(handle=ctypes.c_void_p(0x100))", "types.SimpleNamespace(__cuda_stream__=lambda: (0, 0x100))",
])
def test_stream_objects(answers, stream):
    (found,) = answers(f'''
        script("kernel 1 constant 50000")
        say(bench(lambda: launch(1, 0x100), stream={stream}, **QUICK))
    ''')
    assert found["median_ns"] == pytest.approx(50_000, rel=1e-3)


def test_what_is_no_stream():
    with pytest.raises(gpu_profile.Error, match="stream of type str: ") as caught:
        gpu_profile.bench(len, (), stream="first")
    assert caught.value.code == 2


def test_numba_default_stream_is_a_null_pointer():
    import ctypes
    import types

    from gpu_profile.bench_stream import handle_of

    assert handle_of(types.SimpleNamespace(handle=ctypes.c_void_p(0))) == 0
    assert handle_of(types.SimpleNamespace(handle=ctypes.c_void_p(7))) == 7


def test_cold_and_hot(answers):
    cold, hot = answers('''
        script("kernel 1 constant 200000; cold 1.5; latency_ns 0")  # the simulated host does not wait for arrivals
        for cold in (True, False):
            say(bench(lambda: launch(1, 0x100), stream=0x100, cold=cold, **QUICK))
    ''')
    assert cold["median_ns"] == pytest.approx(300_000, rel=1e-3)
    assert hot["median_ns"] == pytest.approx(200_000, rel=1e-3)
    assert (cold["cold"], hot["cold"]) == (True, False)


def test_statistics_are_those_of_the_simulated_noise(answers):
    (found,) = answers('''
        script("kernel 1 normal 100000 0.01 7")
        say(bench(lambda: launch(1, 0x100), stream=0x100, min_time_s=0, min_warmup_s=0, min_samples=400, max_samples=400))
    ''')
    assert found["median_ns"] == pytest.approx(100_000, rel=0.005)
    assert found["noise"] == pytest.approx(0.01, rel=0.2)
    assert found["interval"]["low"] < found["median_ns"] < found["interval"]["high"]


def test_pytorch_by_its_arguments(answers):
    (found,) = answers(TORCH, '''
        script("kernel 1 constant 70000")
        torch.started = True
        say(bench(kernel, [{"x": Tensor(True)}], **QUICK))
    ''')
    assert (found["timer"], found["name"]) == ("cuda events", "kernel")
    assert found["median_ns"] == pytest.approx(70_000, rel=1e-3)
    assert not any("called once" in note for note in found["notes"])


def test_pytorch_by_its_result(answers):
    found, again = answers(TORCH, '''
        script("kernel 1 constant 70000")
        say(bench(kernel, **QUICK))
        say(bench(lambda: launch(1, 0x700), **QUICK))
    ''')
    assert found["timer"] == again["timer"] == "cuda events"
    assert found["median_ns"] == again["median_ns"] == pytest.approx(70_000, rel=1e-3)
    assert any(note.startswith("called once before the warm-up") for note in found["notes"])


def test_pytorch_on_another_stream(answers):
    (found,) = answers(TORCH, '''
        script("kernel 1 constant 70000")
        with Stream(0x300):
            say(bench(kernel, Tensor(True), **QUICK))
    ''')
    assert found["median_ns"] == pytest.approx(70_000, rel=1e-3)


def test_pytorch_on_the_processor(answers):
    (found,) = answers(TORCH, '''
        torch.started = True
        say(bench(lambda x: x, Tensor(False), **QUICK))
    ''')
    assert found["timer"] == "host"
    assert any("host's clock" in note for note in found["notes"])


def test_pytorch_by_the_hosts_clock_is_warned_of(answers):
    (found,) = answers(TORCH, '''
        say(bench(kernel, Tensor(True), **{**QUICK, "timer": "host"}))
    ''')
    assert found["timer"] == "host"
    assert "not when the device is done" in found["notes"][0]


def test_graphs_go_to_a_stream_of_their_own(answers):
    (found,) = answers(TORCH, '''
        default.cuda_stream = 0
        script("kernel 1 constant 70000")
        say(bench(kernel, Tensor(True), graph=True, **QUICK), restored=torch.now is default, waited=Stream.waited == [default])
    ''')
    assert found["graph"]
    assert found["restored"]
    assert found["waited"], "the inputs may not be there yet"
    assert found["median_ns"] == pytest.approx(70_000, rel=1e-3)


def test_cupy(answers):
    plain, graph, none = answers(CUPY, '''
        script("kernel 1 constant 30000")
        say(bench(kernel, ndarray(), **QUICK))
        say(bench(kernel, ndarray(), graph=True, **QUICK))
        say(bench(kernel, 1, **QUICK))
    ''')
    for found in (plain, graph, none):
        assert found["timer"] == "cuda events"
        assert found["median_ns"] == pytest.approx(30_000, rel=1e-3)
    assert graph["graph"]


@pytest.mark.parametrize("arguments", ["Array()", "1"])
def test_jax_is_waited_for_inside_of_the_call(answers, arguments):
    (found,) = answers(JAX, f'''
        calls = []
        def step(x):
            calls.append(x)
            return {{"loss": Array(), "state": (Array(), 3)}}
        found = bench(step, {arguments}, **QUICK)
        say(found, seen=len(calls), waited=len(waited))
    ''')
    assert found["timer"] == "host"
    assert any("JAX" in note for note in found["notes"])
    probed = arguments == "1"
    assert found["waited"] == 2 * (found["seen"] - probed)


def test_jax_by_events_is_refused(answers):
    (found,) = answers(JAX, '''
        try:
            bench(lambda x: x, Array(), timer="cuda", **QUICK)
        except Error as problem:
            print(json.dumps([problem.code, problem.message]))
    ''')
    assert found[0] == 2
    assert "pass a stream" in found[1]


def test_exceptions_on_the_device_path(answers):
    (found,) = answers('''
        script("kernel 1 constant 1000")
        calls = []
        def fails():
            calls.append(1)
            if len(calls) == 4:
                raise LookupError("mine")
            launch(1, 0x100)
        try:
            bench(fails, stream=0x100, **QUICK)
        except LookupError as problem:
            again = bench(lambda: launch(1, 0x100), stream=0x100, cold=False, **QUICK)
            print(json.dumps([str(problem), len(calls), again.median_ns]))
    ''')
    assert found[:2] == ["mine", 4]
    assert found[2] == pytest.approx(1000, rel=0.01)


def test_a_driver_that_fails_is_told(answers):
    (found,) = answers('''
        script("kernel 1 constant 1000; fail cuMemAlloc_v2 2")
        try:
            bench(lambda: launch(1, 0x100), stream=0x100, timer="cuda", **QUICK)
        except Error as problem:
            print(json.dumps([problem.code, problem.message]))
    ''')
    assert "out of memory" in found[1]
    assert "\n" not in found[1]


def test_no_driver_when_one_is_asked_for(tmp_path):
    code = "import gpu_profile\ntry: gpu_profile.bench(len, (), timer='cuda')\nexcept gpu_profile.Error as problem: print(problem.code, problem)"
    environment = {**os.environ, "GPUPROF_CUDA": str(tmp_path / "libcuda.so.1")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("3 ")
    assert "CUDA driver" in done.stdout


def test_two_in_turn_on_a_drifting_device(answers):
    (found,) = answers('''
        script("kernel 1 normal 100000 0.01 3; kernel 2 normal 97000 0.01 4; kernel 3 normal 100000 0.01 5; drift 0.1")
        functions = {f"k{n}": (lambda n=n: launch(n, 0x100)) for n in (1, 2, 3)}
        found = bench_compare(functions, stream=0x100, min_time_s=0, min_warmup_s=0, min_samples=300, max_samples=300)
        print(json.dumps(dict(found.to_dict(), fastest=found.fastest, text=str(found).splitlines())))
    ''')
    assert found["comparisons"]["k2"]["verdict"] == "faster"
    assert found["comparisons"]["k2"]["speedup"] == pytest.approx(100 / 97, rel=0.005)
    assert found["comparisons"]["k3"]["verdict"] in ("same", "cannot tell")
    assert found["fastest"] == "k2"
    assert "faster, speedup 1.03" in found["text"][2]


def test_device_memory_by_the_driver(answers):
    (found,) = answers('''
        from gpu_profile.bench_native import device_memory
        script("memory 1000000")
        print(json.dumps(device_memory(0)))
    ''')
    assert found == [1_000_000, 1_000_000]
