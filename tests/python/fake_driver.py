"""The environment in which the fake libnvidia-ml.so.1 of the build plays a script (format:
tests/fakes/nvml/nvml_script.h)."""

import os
from pathlib import Path

DEVICE = """
device name=NVIDIA_H200 uuid=GPU-one
set 0 util_gpu 75
set 0 util_mem 20
set 0 mem_used_mb 1000
set 0 power_w 300
set 0 power_limit_w 700
set 0 temp_c 50
set 0 sm_clock_mhz 1500
set 0 sm_clock_max_mhz 1980
set 0 mem_clock_mhz 3201
set 0 energy_j 10
set 0 throttle_reasons 4
set 0 pstate 0
"""


def fake_driver(program, folder, script=DEVICE):
    library = program.fakes / "libnvidia-ml.so.1"
    assert library.exists(), f"{library} is not built"
    file = folder / "driver.txt"
    file.write_text(script)
    environment = dict(os.environ, GPUPROF_NVML=str(library), GPUPROF_FAKE_NVML=str(file))
    environment.pop("CUDA_VISIBLE_DEVICES", None)
    return environment


def no_driver():
    return dict(os.environ, GPUPROF_NVML="/nonexistent/libnvidia-ml.so.1", PATH="/nonexistent")


def children_of(pid):
    """Return the processes started by any thread of a process."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return sorted(int(word) for children in lists for word in children.read_text().split())
