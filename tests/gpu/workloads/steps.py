"""PyTorch programs of known shape: steps.py NAME STEPS [--profile JSON]

NAME: launches (1,200 tiny kernels a step, bound by launching them) or transformer (a training step of a small GPT in bf16).
Prints milliseconds per step. With --profile, torch.profiler records the same steps, and the JSON says how many kernels,
copies and fills it saw and how long they took (ns).
"""

import contextlib
import json
import sys
import time

import torch
import torch.nn.functional as F

DEVICE = "cuda"


def launches():
    x, bias = torch.randn(256, 256, device=DEVICE), torch.randn(256, device=DEVICE)

    def step():
        y = x
        for _ in range(300):
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


def totals(profile):
    """What torch.profiler saw on the device: a count and ns by category."""
    found = {}
    for event in profile.events():
        if event.device_type != torch.autograd.DeviceType.CUDA:
            continue
        kind = "memcpy" if event.name.startswith("Memcpy") else "memset" if event.name.startswith("Memset") else "kernel"
        count, time_ns = found.get(kind, (0, 0))
        found[kind] = (count + 1, time_ns + round(event.time_range.elapsed_us() * 1000))
    return found


def main():
    name, steps = sys.argv[1], int(sys.argv[2])
    torch.manual_seed(0)
    step = {"launches": launches, "transformer": transformer}[name]()
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    profiled = "--profile" in sys.argv
    session = torch.profiler.profile(activities=list(torch.profiler.ProfilerActivity)[:2]) if profiled else contextlib.nullcontext()
    with session as profile:
        if profiled:
            torch.cuda.nvtx.range_push("profiled")
        begun = time.perf_counter()
        for _ in range(steps):
            with torch.cuda.nvtx.range("step"):
                step()
        torch.cuda.synchronize()
        passed = time.perf_counter() - begun
        if profiled:
            torch.cuda.nvtx.range_pop()
    print(f"{passed / steps * 1e3:.4f}")
    if profiled:
        with open(sys.argv[sys.argv.index("--profile") + 1], "w") as file:
            json.dump(totals(profile), file)


if __name__ == "__main__":
    main()
