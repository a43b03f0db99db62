"""PyTorch programs of known shape: steps.py NAME STEPS [--profile JSON [--trace FILE] [--window]]

NAME: launches (1,200 tiny kernels a step, bound by launching them), transformer (a training step of a small GPT in bf16), memory (bound by
bandwidth), matmul (bound by the tensor pipes), busy (products for STEPS seconds). Prints milliseconds per step. With --profile,
torch.profiler records the same steps, and the JSON says how many kernels, copies and fills it saw and how long they took (ns), in all
and of each kernel; --trace keeps its own file. --window opens and closes a window of `record --capture-range start-stop` with it.
GPU_CHECKS_DEVICE=cpu tries the program where there is no GPU.
"""

import contextlib
import json
import os
import sys
import time

import torch
import torch.nn.functional as F

import gpu_profile

DEVICE = os.environ.get("GPU_CHECKS_DEVICE", "cuda")
SMALL = DEVICE == "cpu" or "GPU_CHECKS_SMALL" in os.environ  # only to see that it runs
ACTIVITY = torch.profiler.ProfilerActivity


def synchronize():
    if DEVICE != "cpu":
        torch.cuda.synchronize()


def launches():
    x, bias = torch.randn(256, 256, device=DEVICE), torch.randn(256, device=DEVICE)

    def step():
        y = x
        for _ in range(3 if SMALL else 300):
            y = F.relu(y + bias) * 0.99 + bias

    return step


class Layer(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.mix, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        split = self.mix(self.before(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.after(x))))


def transformer(width=1024, layers=8, words=32000, length=1024):
    if SMALL:
        width, layers, words, length = 64, 2, 100, 16
    model = torch.nn.Sequential(torch.nn.Embedding(words, width), *[Layer(width, 16) for _ in range(layers)],
                                torch.nn.LayerNorm(width), torch.nn.Linear(width, words, bias=False)).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    text = torch.randint(0, words, (8, length + 1), device=DEVICE)

    def step():
        with torch.cuda.nvtx.range("forward"), torch.autocast(DEVICE, torch.bfloat16):
            guess = model(text[:, :-1])
            loss = F.cross_entropy(guess.view(-1, words), text[:, 1:].reshape(-1))
        with torch.cuda.nvtx.range("backward"):
            loss.backward()
        with torch.cuda.nvtx.range("optimizer"):
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    return step


def memory():
    x, g = torch.randn(1 if SMALL else 64, 4096, 1024, device=DEVICE), torch.randn(1024, device=DEVICE)
    return lambda: torch.tanh(x * g + g).sum()


def matmul(size=4096):
    size = 64 if SMALL else size
    a, b = (torch.randn(size, size, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))

    def step():
        for _ in range(10):
            torch.matmul(a, b)

    return step


def busy(seconds):
    """Matrix products for `seconds` s, timed by events."""
    step, kernels, ms, begun = matmul(), 0, 0.0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        events = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        events[0].record()
        step()
        events[1].record()
        events[1].synchronize()
        kernels, ms = kernels + 10, ms + events[0].elapsed_time(events[1])
    print(json.dumps({"kernels": kernels, "timed_kernels": kernels, "events_ms": ms}))


def totals(profile):
    """What torch.profiler saw on the device: a count and ns by category, and of each kernel under "names"."""
    found, names = {}, {}
    for event in profile.events():
        if event.device_type != torch.autograd.DeviceType.CUDA:
            continue
        kind = "memcpy" if event.name.startswith("Memcpy") else "memset" if event.name.startswith("Memset") else "kernel"
        count, time_ns = found.get(kind, (0, 0))
        passed = round(event.time_range.elapsed_us() * 1000)
        found[kind] = (count + 1, time_ns + passed)
        if kind == "kernel":
            count, time_ns = names.get(event.name, (0, 0))
            names[event.name] = (count + 1, time_ns + passed)
    return {**found, "names": names}


def main():
    name, steps = sys.argv[1], float(sys.argv[2])
    torch.manual_seed(0)
    if name == "busy":
        return busy(steps)
    steps = int(steps)
    step = {"launches": launches, "transformer": transformer, "memory": memory, "matmul": matmul}[name]()
    for _ in range(3):
        step()
    synchronize()
    profiled = "--profile" in sys.argv
    session = torch.profiler.profile(activities=[ACTIVITY.CPU, ACTIVITY.CUDA]) if profiled else contextlib.nullcontext()
    with session as profile:
        if profiled:
            if "--window" in sys.argv:
                gpu_profile.start()
            torch.cuda.nvtx.range_push("profiled")
        begun = time.perf_counter()
        for _ in range(steps):
            with torch.cuda.nvtx.range("step"):
                step()
        synchronize()
        passed = time.perf_counter() - begun
        if profiled:
            torch.cuda.nvtx.range_pop()
            if "--window" in sys.argv:
                gpu_profile.stop()
    print(f"{passed / steps * 1e3:.4f}")
    if profiled:
        with open(sys.argv[sys.argv.index("--profile") + 1], "w") as file:
            json.dump(totals(profile), file)
        if "--trace" in sys.argv:
            profile.export_chrome_trace(sys.argv[sys.argv.index("--trace") + 1])


if __name__ == "__main__":
    main()
