"""A driver that hangs, crashes or lies costs a gap and a sentence; the command and the report are unharmed.

The fake libnvidia-ml.so.1 of the build (tests/fakes/nvml, script format in script.h) plays the driver.
"""

import json
import os
import subprocess
import time

import pytest
from lengthened import lengthened
from patience import HANGS_S

DEVICE = """
device name=NVIDIA_H200
set 0 util_gpu 75
set 0 util_mem 20
set 0 mem_used_mb 1000
set 0 power_w 300
set 0 temp_c 50
set 0 sm_clock_mhz 1500
set 0 mem_clock_mhz 3201
set 0 energy_j 10
set 0 throttle_reasons 0
set 0 pstate 0
"""



class Driver:
    def __init__(self, program, folder):
        library = program.fakes / "libnvidia-ml.so.1"
        assert library.exists(), f"{library} is not built"
        self.script = folder / "driver.txt"
        self.program = program
        self.took_s = None
        self.environment = {**os.environ, "GPUPROF_NVML": str(library), "GPUPROF_FAKE_NVML": str(self.script)}
        self.environment.pop("CUDA_VISIBLE_DEVICES", None)

    def sample(self, script, *options, command=("sleep", "0.4"), device=DEVICE):
        """The summary. A call that hangs never returns, so that a program that waits for it does not end in time either."""
        self.script.write_text(device + script)
        begun = time.monotonic()
        done = subprocess.run([self.program.path, "--backend", "nvml", *(options or ("--interval", "0.02")), "--json", "--",
                               *command], capture_output=True, timeout=HANGS_S, env=self.environment, check=False)
        self.took_s = time.monotonic() - begun
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def sample_within(self, seconds, script, command=("sleep", "0.4")):
        """The summary of a run that ended soon. A busy machine delays some runs, a call that holds up the end delays every one."""
        for _ in range(10):
            summary = self.sample(script, command=command)
            if self.took_s < seconds:
                return summary
        raise AssertionError(f"every run took longer than {seconds} s")

    def sample_while(self, seconds, enough, script, *options):
        """The summary of a command that takes as many seconds, or longer until the summary has enough."""
        return lengthened(lambda length: self.sample(script, *options, command=("sleep", str(length * seconds))), enough)


@pytest.fixture
def driver(program, tmp_path):
    return Driver(program, tmp_path)


def said(summary, *words):
    return any(all(word in note for word in words) for note in summary["notes"])


def test_known_numbers(driver):
    summary = driver.sample_while(0.4, lambda found: found["n_samples"] >= 10, "")
    assert summary["n_samples"] >= 10
    expected = {"util_gpu_mean": 75, "util_gpu_std": 0, "util_gpu_p99": 75, "util_mem_mean": 20, "mem_used_max_mb": 1000,
                "mem_total_mb": 143771, "power_mean_w": 300, "temp_max_c": 50, "sm_clock_mean_mhz": 1500,
                "throttle_pct": 0, "gap_s": 0, "idle_pct": 0, "active_pct": 100}
    assert {key: summary[key] for key in expected} == pytest.approx(expected)
    assert summary["name"] == "NVIDIA H200"
    assert (summary["energy_j"], summary["energy_basis"]) == (None, "")  # the counter stands still
    assert said(summary, "energy_j is absent", "did not update twice")


def test_energy_is_absent_or_right_within_what_is_said(driver):
    script = "counter 0 energy_j 300 100\n"  # 300 W in steps of 100 ms
    short = driver.sample(script, command=("sleep", "0.05"))
    assert short["energy_j"] is None
    summary = driver.sample_while(1, lambda found: found["energy_basis"] == "counter", script, "--interval", "0.2")
    assert summary["energy_basis"] == "counter"
    assert summary["energy_j"] == pytest.approx(300 * summary["duration_s"], abs=summary["energy_uncertainty_j"])
    assert summary["energy_uncertainty_j"] <= summary["energy_j"] / 2
    assert said(summary, "energy counter, which updates at least every")


@pytest.mark.parametrize("function", ["nvmlDeviceGetTemperature", "nvmlDeviceGetUtilizationRates"])
def test_a_function_that_hangs_is_named_and_left_out(driver, function):
    summary = driver.sample_while(4, lambda found: found["n_samples"] > 20 and driver.took_s < found["duration_s"] + 2, f"hang {function} after 5\n")
    assert driver.took_s < summary["duration_s"] + 2
    assert said(summary, function, "did not answer")
    assert 1 < summary["gap_s"] < summary["duration_s"]
    assert summary["n_samples"] > 20  # it went on
    assert summary["power_mean_w"] == 300


def test_a_function_that_hangs_does_not_hold_up_the_end(driver):
    summary = driver.sample_within(2, "hang nvmlDeviceGetPowerUsage after 3\n", command=("sleep", "0.5"))
    assert said(summary, "nvmlDeviceGetPowerUsage")


def test_a_function_that_crashes_is_named_and_left_out(driver):
    summary = driver.sample_while(1, lambda found: found["n_samples"] > 20, "crash nvmlDeviceGetPowerUsage after 5\n")
    assert said(summary, "signal 11", "nvmlDeviceGetPowerUsage")
    assert summary["n_samples"] > 20
    assert summary["util_gpu_mean"] == 75


@pytest.mark.parametrize("act", ["hang", "crash"])
def test_a_library_that_cannot_even_start(driver, act):
    summary = driver.sample_within(3, f"{act} nvmlInit_v2\n", command=("sleep", "0.3"))
    assert summary["n_samples"] == 0
    assert said(summary, "nvmlInit_v2")


def test_crashing_again_and_again_ends_sampling_not_the_command(driver):
    functions = ["nvmlDeviceGetPowerUsage", "nvmlDeviceGetTemperature", "nvmlDeviceGetUtilizationRates",
                 "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetClockInfo", "nvmlDeviceGetPerformanceState"]
    summary = driver.sample_while(4, lambda found: said(found, "three restarts"), "".join(f"crash {f}\n" for f in functions))
    assert said(summary, "three restarts")


# NOT_SUPPORTED, NO_PERMISSION, UNINITIALIZED, TIMEOUT, GPU_IS_LOST, version mismatch, UNKNOWN
@pytest.mark.parametrize("code", [3, 4, 1, 10, 15, 18, 999])
def test_every_call_failing_from_the_start_or_half_way(driver, code):
    for after in ("", " after 8"):
        summary = driver.sample_within(3, f"fail * {code}{after}\n")
        assert summary["notes"]
        if not after:
            assert summary["util_gpu_mean"] is None


def test_garbage_is_not_believed(driver):
    summary = driver.sample("garbage *\n")
    for key in ("util_gpu_mean", "power_mean_w", "temp_mean_c", "mem_used_max_mb"):
        assert summary[key] is None, key


def test_a_device_that_disappears_half_way(driver):
    device = DEVICE + "device name=NVIDIA_H200\nset 1 util_gpu 10\nset 1 power_w 100\n"
    driver.script.write_text(device + "fail * 15 device 1 after 30\n")

    def sample(length):
        done = subprocess.run([driver.program.path, "--backend", "nvml", "--interval", "0.02", "--device", "all", "--json", "--",
                               "sleep", str(1.5 * length)], capture_output=True, timeout=HANGS_S, env=driver.environment, check=False)
        return json.loads(done.stdout)["devices"]

    first, second = lengthened(sample, lambda devices: devices[0]["n_samples"] > 70)
    assert first["n_samples"] > 50
    assert second["n_samples"] < first["n_samples"] / 2
    assert second["gap_s"] > 0.5
    assert any("GPU 1" in note for note in second["notes"])


def test_eight_devices_and_a_selection(driver):
    device = "".join(f"device uuid=GPU-0000000{i}\nset {i} util_gpu {10 * i}\n" for i in range(8))
    driver.script.write_text(device)

    def devices(selection, **environment):
        done = subprocess.run([driver.program.path, "--backend", "nvml", "--device", selection, "--interval", "0.02",
                               "--json", "--", "sleep", "0.2"], capture_output=True, timeout=HANGS_S, check=True,
                              env={**driver.environment, **environment})
        answer = json.loads(done.stdout)
        return {s["device"]: s["util_gpu_mean"] for s in answer.get("devices", [answer])}

    assert devices("all") == {i: 10 * i for i in range(8)}
    assert devices("0,2") == {0: 0, 2: 20}
    assert devices("0", CUDA_VISIBLE_DEVICES="5,3") == {0: 50}
    assert devices("all", CUDA_VISIBLE_DEVICES="5,3") == {0: 50, 1: 30}
    assert devices("GPU-00000007") == {7: 70}
