"""`evaluate` with work on a device: PyTorch and CuPy are the stand-ins of tests/fakes/frameworks on the simulated device,
whose clock runs with the machine's here (`live`). Kernels take exactly what the script says, launches what they take."""

import json
import re
from pathlib import Path

import pytest
from test_evaluate import evaluate  # noqa: F401

import gpu_profile

FRAMEWORKS = Path(__file__).resolve().parents[2] / "fakes" / "frameworks"
SCRIPT = "live; current; kernel 0 constant 1000; kernel 1 constant 800000; kernel 2 constant 400000; kernel 3 constant 9000000"
KERNEL = "import numpy, {name}\ndef kernel(x):\n    return {name}.run({number}, numpy.negative, x)\n"


@pytest.fixture
def judge(evaluate):  # noqa: F811
    fake = Path(gpu_profile.binary()).parent / "fakes" / "libcuda.so.1"
    if not fake.exists():
        pytest.skip(f"{fake} is not built")

    def run(optimized, *options, baseline=1, name="torch", script=SCRIPT, inputs=None, nvml=None, settings=None, **more):
        made = [KERNEL.format(name=name, number=each) if isinstance(each, int) else each for each in (baseline, optimized)]
        environment = {"GPUPROF_CUDA": str(fake), "GPUPROF_FAKE_CUDA_SIM": script, "PYTHONPATH": str(FRAMEWORKS),
                       **(nvml or {"GPUPROF_NVML": "/nonexistent/libnvidia-ml.so.1", "PATH": "/nonexistent"}), **(settings or {})}
        shape = [] if inputs else ["--shape", "64x64"]
        return evaluate(made[1], *shape, *options, baseline=made[0], inputs=inputs, environment=environment, **more)

    return run


@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_times_are_the_devices(judge, name):
    done = judge(2, "--json", name=name)
    found = json.loads(done.text)
    assert (done.status, found["violations"], found["failures"], found["timer"]) == (0, [], [], "cuda events")
    assert found["timer_reason"] is None
    assert found["baseline_kernel_ms"] == pytest.approx(0.8, rel=1e-6)
    assert found["kernel_time_ms"] == pytest.approx(0.4, rel=1e-6), "launches kept out"
    assert 0.4 <= found["optimized_ms"] <= found["optimized_host_ms"], "with launches; with the way to the device and back"
    assert found["speedup"] > 1.2


def test_table_and_lines(judge):
    done = judge(2, plain=False)
    assert "timer: cuda events" in done.text
    for row in ("without launch gaps", "by the host's clock"):
        assert row in done.text
    assert done.figures["kernel_time_ms"] == 0.4


def test_inputs_on_the_processor_are_timed_by_the_host(judge):
    on_cpu = "import torch\nimport numpy\ndef kernel(x):\n    return torch.from_numpy(-x.cpu().numpy())\n"
    inputs = "import numpy, torch\ndef inputs(seed):\n    return (torch.from_numpy(numpy.random.default_rng(seed).random((8, 8))),)\n"
    assert json.loads(judge(on_cpu, "--json", baseline=on_cpu).text)["timer"] == "cuda events", "made inputs are on the device"
    found = json.loads(judge(on_cpu, "--json", baseline=on_cpu, inputs=inputs).text)
    assert (found["timer"], found["timer_reason"]) == ("host", "no input is an array on a CUDA device")


ELSEWHERE = """
import numpy, torch
side = torch.Stream(0x900)
def kernel(x):
    with torch.cuda.stream(side):
        return torch.run(1, numpy.negative, x)
"""


def test_work_on_another_stream(judge):
    done = judge(ELSEWHERE)
    assert done.status == 1
    assert any(said.startswith("work is done on another stream: the device is busy for ") for said in done.violations)
    assert all(done.figures[name] != done.figures[name] for name in ("speedup", "optimized_ms", "kernel_time_ms")), "nan"
    assert done.figures["baseline_ms"] > 0


def test_another_stream_that_is_waited_for_is_in_the_time(judge):
    waits = ELSEWHERE.replace("        return torch.run(1, numpy.negative, x)", "        out = torch.run(1, numpy.negative, x)\n    side.synchronize()\n    return out")
    done = judge(waits)
    assert (done.status, done.violations) == (0, [])
    assert done.figures["optimized_ms"] >= 0.8
    assert done.figures["speedup"] < 1.1


def test_a_baseline_that_works_elsewhere_is_timed_by_the_host(judge):
    found = json.loads(judge(ELSEWHERE, "--json", baseline=ELSEWHERE).text)
    assert (found["timer"], found["violations"]) == ("host", [])
    assert found["timer_reason"].startswith("baseline: work is done on another stream")
    assert found["optimized_ms"] >= 0.8


def test_work_that_waits_for_the_device_has_no_time_without_gaps(judge):
    waits = KERNEL.format(name="torch", number=2).replace("return", "out =") + "    torch.cuda.synchronize()\n    return out\n"
    found = json.loads(judge(waits, "--json").text)
    assert (found["timer"], found["violations"]) == ("cuda events", [])
    assert found["kernel_time_ms"] == found["optimized_ms"] >= 0.4


@pytest.mark.parametrize(("patch", "refused"), [
    ("torch.cuda.current_stream = lambda device=None: torch.Stream(0x999)\n", ["torch.cuda.current_stream was replaced"]),
    ("import os\nos.environ['GPUPROF_CUDA'] = '/nonexistent/libcuda.so.1'\n", []),
    ("import ctypes\nctypes.CDLL.__getattr__ = lambda *_: lambda *_: 0\n", []),
])
def test_what_was_taken_before_the_import_stays(judge, patch, refused):
    """The stream, the driver and the functions of the library are those of before."""
    found = json.loads(judge(KERNEL.format(name="torch", number=2) + patch, "--json").text)
    assert (found["timer"], [violation["text"] for violation in found["violations"]]) == ("cuda events", refused)
    assert min(found["optimized_samples_ms"]) >= 0.4


def test_no_events_without_a_driver(judge):
    found = json.loads(judge(2, "--json", script=SCRIPT + "; fail cuEventRecord 719").text)
    assert (found["timer"], found["violations"]) == ("host", [])
    assert "cuEventRecord" in found["timer_reason"] and "719" in found["timer_reason"]
    assert found["optimized_ms"] > 0


def test_faster_than_memory_on_the_device(judge):
    """A constant needs no kernel; copying the inputs takes one of 9 ms here."""
    script = SCRIPT.replace("kernel 0 constant 1000", "kernel 0 constant 9000000")
    ones = "import numpy, torch\nones = torch.run(3, numpy.ones_like, torch.from_numpy(numpy.zeros((64, 64), 'f4')))\ndef kernel(x):\n    return ones\n"
    done = judge(ones, baseline="import numpy, torch\ndef kernel(x):\n    return torch.run(3, numpy.ones_like, x)\n", script=script)
    assert any("is below the floor: moving 0.0 MB takes" in said for said in done.violations), done.text


HUNGRY = """
import numpy, {name}
def kernel(x):
    more = {name}.run(0, lambda a: numpy.zeros(40 << 20, 'u1'), x)
    return {name}.run(2, numpy.negative, x)
"""


@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_memory_is_the_frameworks(judge, name):
    found = json.loads(judge(HUNGRY.format(name=name), "--json", name=name).text)
    own, plain = found["memory"]["optimized"], found["memory"]["baseline"]
    assert own["source"] == plain["source"] == name
    assert own["peak_mb"] - plain["peak_mb"] == pytest.approx(40, abs=0.5)
    assert found["peak_memory_mb"] == own["peak_mb"] and found["current_memory_mb"] < 2
    assert own["device_used_mb"] is None and own["outside_mb"] is None
    assert own["device_reason"]
    limited = judge(HUNGRY.format(name=name), "--max-memory-mb", "20", name=name)
    assert limited.violations == [f"peak memory {own['peak_mb']:.0f}MB exceeds limit 20MB"]


def test_memory_of_the_device_by_nvml(judge, program, tmp_path):
    from fake_driver import DEVICE, fake_driver

    driver = fake_driver(program, tmp_path, DEVICE.replace("mem_used_mb 1000", "mem_used_mb 1234"))
    nvml = {name: driver[name] for name in ("GPUPROF_NVML", "GPUPROF_FAKE_NVML")}
    done = judge(HUNGRY.format(name="torch"), "--json", nvml=nvml)
    own = json.loads(done.text)["memory"]["optimized"]
    assert own["device_used_mb"] == 1234 and own["device_reason"] is None
    assert own["outside_mb"] == pytest.approx(1234 - own["reserved_mb"])
    table = judge(2, plain=False, nvml=nvml).text
    assert "device in use (NVML)" in table and "1234.00 MB" in table and "not reserved by the side" in table


def test_a_framework_without_device_memory_is_no_source(judge):
    """PyTorch with a device, and arrays of NumPy: the process is what counts."""
    code = "import numpy, torch\ndef kernel(x):\n    return numpy.sqrt(x)\n"
    inputs = "import numpy\ndef inputs(seed):\n    return (numpy.random.default_rng(seed).random((64, 64)),)\n"
    found = json.loads(judge(code, "--json", baseline=code, inputs=inputs).text)
    assert found["memory"]["optimized"]["source"] == "process"
    assert found["peak_memory_mb"] > 5


@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_complete_template_on_a_device(judge, name):
    """baseline.kernel(x), optimized.kernel(x), with events, and exactly these lines."""
    done = judge(2, name=name)
    assert (done.status, done.errors) == (0, "")
    assert re.fullmatch(
        r"speedup: \d+\.\d{4}\nbaseline_ms: \d+\.\d{4}\noptimized_ms: \d+\.\d{4}\nkernel_time_ms: 0\.4000\n"
        r"peak_memory_mb: \d+\.\d\d\ncurrent_memory_mb: \d+\.\d\d\n", done.text)


def failure_of(done, side):
    """The one line about a side that failed; the other's time is there."""
    assert done.status == 3, done.text
    (line,) = [line for line in done.errors.splitlines() if line.startswith("gpu-profile: ")]
    assert line.startswith(f"gpu-profile: {side}: ") and "Traceback" not in done.errors
    assert done.figures["baseline_ms" if side == "optimized" else "optimized_ms"] > 0
    return line


@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_one_side_is_out_of_device_memory(judge, name):
    done = judge(HUNGRY.format(name=name), name=name, script=SCRIPT + "; memory 30000000")
    line = failure_of(done, "optimized")
    assert "ran out of memory: OutOfMemoryError: CUDA out of memory. Tried to allocate 40.00 MiB. (" in line
    assert line.endswith("while checking it")


def test_no_gpu(judge):
    plain = "import torch\ndef kernel(x):\n    return torch.from_numpy(-x.numpy())\n"
    done = judge("import torch\ndef kernel(x):\n    return x.cuda()\n", baseline=plain, settings={"WITHOUT_A_GPU": "1"})
    assert "optimized: RuntimeError: No CUDA GPUs are available (" in failure_of(done, "optimized")
