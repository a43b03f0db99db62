"""One process of a pair: measure.py NAME before|after STEPS [--trace FILE]; prints a JSON object with the time of a step.

`step_ms` has the mean step of each of several windows of STEPS steps, from one synchronisation to the next. With --trace, torch.profiler
records one more window, and `step_ms` is the step of that window; under `gpu-profile record` all windows are recorded, so there is one
window only (--windows 1). Every step is a range "step". Warm-up steps are in no range.
"""

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import time

import torch
from programs import PROGRAMS

WARM_UP = 5
SEED = 0
INJECTED = ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")


@contextlib.contextmanager
def named_step():
    """A range for our recorder (NVTX), and for torch.profiler."""
    torch.cuda.nvtx.range_push("step")
    with torch.profiler.record_function("step"):
        yield
    torch.cuda.nvtx.range_pop()


def window(step, steps):
    """Milliseconds of a step."""
    torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(steps):
        with named_step():
            step()
    torch.cuda.synchronize()
    return (time.perf_counter() - begun) / steps * 1e3


def start_second_rank(given):
    """Pairs of two GPUs: this process is rank 0, and a second one does the same without being measured."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK="0")
    # The recorder, if any, records this rank only.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GPUPROF_") and name not in INJECTED}
    windows = 2 if given.trace else given.windows
    command = [sys.executable, __file__, given.name, given.side, str(given.steps), "--windows", str(windows)]
    return subprocess.Popen(command, env={**plain, "RANK": "1"}, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=PROGRAMS)
    parser.add_argument("side", choices=("before", "after"))
    parser.add_argument("steps", type=int)
    parser.add_argument("--windows", type=int, default=3)
    parser.add_argument("--trace", metavar="FILE")
    given = parser.parse_args()
    second = start_second_rank(given) if given.name == "ddp" and "RANK" not in os.environ else None
    torch.manual_seed(SEED)
    step = PROGRAMS[given.name](given.side == "after")
    for _ in range(WARM_UP):
        step()
    if given.trace:
        window(step, given.steps)
        activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as profile:
            times = [window(step, given.steps)]
        profile.export_chrome_trace(given.trace)
    else:
        times = [window(step, given.steps) for _ in range(given.windows)]
    if second is not None and second.wait() != 0:
        sys.exit(f"the second rank ended with status {second.returncode}")
    print(json.dumps({"step_ms": times, "steps": given.steps, "device": torch.cuda.get_device_name(), "torch": torch.__version__,
                      "cuda": torch.version.cuda, "python": sys.version.split()[0]}))


if __name__ == "__main__":
    main()
