"""Steps of ten matrix products, of which one has 200 and a pause: slow_steps.py STEPS SLOW. Prints, as JSON, the products of the slow
step and of another one."""

import json
import sys
import time

import torch

import gpu_profile

steps, slow = int(sys.argv[1]), int(sys.argv[2])
few, many = 10, 200
a = torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16)
torch.matmul(a, a)
torch.cuda.synchronize()
for number in range(1, steps + 1):
    gpu_profile.step()
    for _ in range(many if number == slow else few):
        torch.matmul(a, a)
    torch.cuda.synchronize()
    time.sleep(0.5 if number == slow else 0.01)
gpu_profile.step()
print(json.dumps({"slow": many, "other": few}))
