"""Steps of a known kind on a GPU: steps.py KIND STEPS prints the time of each in ms, one a line.

small_kernels is bound by launches, memory by bandwidth, matmul by the tensor pipes. The first steps are not printed.
"""

import sys
import time

import torch


def small_kernels():
    x, b = torch.randn(256, 256, device="cuda"), torch.randn(256, device="cuda")

    def step():
        y = x
        for _ in range(300):
            y = torch.relu(y + b) * 0.99 + b

    return step


def memory():
    x, g = torch.randn(64, 4096, 1024, device="cuda"), torch.randn(1024, device="cuda")
    return lambda: torch.tanh(x * g + g).sum()


def matmul():
    a, b = (torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16) for _ in range(2))

    def step():
        for _ in range(10):
            torch.matmul(a, b)

    return step


def main():
    step = {"small_kernels": small_kernels, "memory": memory, "matmul": matmul}[sys.argv[1]]()
    warmup = 10
    for number in range(int(sys.argv[2]) + warmup):
        began = time.perf_counter()
        step()
        torch.cuda.synchronize()
        if number >= warmup:
            print(f"{(time.perf_counter() - began) * 1e3:.4f}")


if __name__ == "__main__":
    main()
