"""Our declarations of NVML (collect/device/nvml/nvml_abi.h) against NVIDIA's own Python binding, nvidia-ml-py: sizes, offsets and
constants, printed by print_nvml_abi; and the binding's functions called on the fake library that our tests use."""

import ctypes
import json
import os
import subprocess
import sys

import pynvml
import pytest
from conftest import find_program

FAKES = find_program().parent / "fakes"

SCRIPT = """
driver 580.159.04
device uuid=GPU-1 name=NVIDIA_H200 pci=00000000:06:00.0 memory_mib=1000
mig 0 uuid=MIG-1 memory_mib=100 gi=3
set 0 util_gpu 73
set 0 util_mem 21
set 0 mem_used_mb 512
set 0 power_w 412.5
set 0 gpm_sm_active 88.5
process 0 4242 77 30
fail nvmlDeviceGetTotalEnergyConsumption 4
"""

CALLS = """
import json, pynvml
from pynvml import *
nvmlInit()
gpu = nvmlDeviceGetHandleByIndex(0)
mig = nvmlDeviceGetMigDeviceHandleByIndex(gpu, 0)
def code(call, *arguments):
    try:
        call(*arguments)
    except NVMLError as error:
        return error.value
process = nvmlDeviceGetComputeRunningProcesses(gpu)[0]
used = nvmlDeviceGetProcessUtilization(gpu, 0)[0]
samples = [nvmlGpmSampleAlloc() for _ in range(2)]
for sample in samples:
    nvmlGpmSampleGet(gpu, sample)
request = c_nvmlGpmMetricsGet_t(version=NVML_GPM_METRICS_GET_VERSION, numMetrics=1, sample1=samples[0], sample2=samples[1])
request.metrics[0].metricId = NVML_GPM_METRIC_SM_UTIL
nvmlGpmMetricsGet(request)
print(json.dumps({
    "count": nvmlDeviceGetCount(), "driver": nvmlSystemGetDriverVersion(), "name": nvmlDeviceGetName(gpu),
    "uuid": nvmlDeviceGetUUID(gpu), "bus": nvmlDeviceGetPciInfo(gpu).busId,
    "util": [nvmlDeviceGetUtilizationRates(gpu).gpu, nvmlDeviceGetUtilizationRates(gpu).memory],
    "memory": nvmlDeviceGetMemoryInfo(gpu).used, "memory_v2": nvmlDeviceGetMemoryInfo(gpu, version=nvmlMemory_v2).total,
    "power": nvmlDeviceGetPowerUsage(gpu), "process": [process.pid, process.usedGpuMemory],
    "process_util": [used.pid, used.smUtil], "mig_util": code(nvmlDeviceGetUtilizationRates, mig),
    "mig_uuid": nvmlDeviceGetUUID(mig), "energy": code(nvmlDeviceGetTotalEnergyConsumption, gpu),
    "sm": request.metrics[0].value,
}))
"""


def printed():
    return json.loads(subprocess.run([FAKES / "print_nvml_abi"], check=True, capture_output=True).stdout)


@pytest.mark.parametrize("what", printed())
def test_declaration(what):
    kind, name = what.split()
    structure, _, field = name.partition(".")
    theirs = getattr(pynvml, structure)
    expected = {"sizeof": lambda: ctypes.sizeof(theirs), "offsetof": lambda: getattr(theirs, field).offset,
                "constant": lambda: theirs}[kind]()
    assert printed()[what] == expected


def test_binding_on_the_fake(tmp_path):
    script = tmp_path / "script"
    script.write_text(SCRIPT)
    environment = dict(os.environ, LD_LIBRARY_PATH=str(FAKES), GPUPROF_FAKE_NVML=str(script))
    done = subprocess.run([sys.executable, "-c", CALLS], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "count": 1, "driver": "580.159.04", "name": "NVIDIA H200", "uuid": "GPU-1", "bus": "00000000:06:00.0", "util": [73, 21],
        "memory": 512 << 20, "memory_v2": 1000 << 20, "power": 412500, "process": [4242, 77 << 20], "process_util": [4242, 30],
        "mig_util": pynvml.NVML_ERROR_NOT_SUPPORTED, "mig_uuid": "MIG-1", "energy": pynvml.NVML_ERROR_NO_PERMISSION, "sm": 88.5,
    }
