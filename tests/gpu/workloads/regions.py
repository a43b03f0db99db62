"""Regions of known length under GpuMonitor: regions.py SECONDS...

Each region runs matrix products that long, and waits for them; 0.05 and 0.1 are as short as what the energy counter cannot resolve.
Prints a JSON object: {"regions": [{"asked_s", "summary"}], "decorated": whether @gpu_profile returned what the function did}.
"""

import json
import sys
import time

import torch
from steps import matmul

from gpu_profile import GpuMonitor, gpu_profile


def main():
    step, reports = matmul(), []
    step()
    torch.cuda.synchronize()
    regions = []
    for seconds in map(float, sys.argv[1:]):
        with GpuMonitor(interval_s=0.1, sync_fn=torch.cuda.synchronize) as monitor:
            until = time.perf_counter() + seconds
            while time.perf_counter() < until:
                step()
                torch.cuda.synchronize()
        regions.append({"asked_s": seconds, "summary": monitor.summary.to_dict()})
    decorated = gpu_profile(report=reports.append, sync_fn=torch.cuda.synchronize)(lambda: step() or 7)()
    print(json.dumps({"regions": regions, "decorated": decorated == 7 and len(reports) == 1}))


if __name__ == "__main__":
    main()
