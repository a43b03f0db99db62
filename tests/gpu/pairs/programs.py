"""PyTorch programs in two versions: PROGRAMS[NAME](changed) is a step, with one thing changed or not.

Each is the smallest program in which that thing costs something. Written for this project; seeds are fixed and nothing is read.
"""

import os

import torch
import torch.nn.functional as F
from torch import nn

DEVICE = "cuda"


def item(changed, every=1):
    """Sixty matrix products, and `.item()` after every one, or every tenth; changed: none."""
    weights = torch.randn(2048, 2048, device=DEVICE)
    total = torch.zeros((), device=DEVICE)

    def step():
        for number in range(60):
            mean = torch.mm(weights, weights).mean()
            if not changed and number % every == 0:
                mean.item()
            else:
                total.add_(mean)

    return step


def item_tenth(changed):
    return item(changed, every=10)


def chain(x, bias):
    """1,200 elementwise kernels."""
    for _ in range(300):
        x = F.relu(x + bias) * 0.99 + bias
    return x


def graph(changed):
    """Bound by launches; changed: one CUDA graph."""
    x, bias = torch.randn(256, 256, device=DEVICE), torch.randn(256, device=DEVICE)
    if not changed:
        return lambda: chain(x, bias)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        chain(x, bias)
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        chain(x, bias)
    return captured.replay


def compile_small(changed):
    """The same kernels, a tenth of them: changed: compiled into few."""
    x, bias = torch.randn(256, 256, device=DEVICE), torch.randn(256, device=DEVICE)

    def short(x, bias):
        for _ in range(30):
            x = F.relu(x + bias) * 0.99 + bias
        return x

    run = torch.compile(short) if changed else short
    return lambda: run(x, bias)


def compile_memory(changed):
    """Bound by memory bandwidth: kernels over 1 GiB; changed: compiled."""
    x, gain = torch.randn(64, 4096, 1024, device=DEVICE), torch.randn(1024, device=DEVICE)

    def forward(x, gain):
        return torch.tanh(F.gelu(x * gain + gain) * gain)

    run = torch.compile(forward) if changed else forward
    return lambda: run(x, gain)


def pinned(changed):
    """A copy of 64 MiB from pageable memory in each step; changed: from pinned memory, asynchronous."""
    host = torch.randn(16 << 20)
    if changed:
        host = host.pin_memory()
    return lambda: (host.to(DEVICE, non_blocking=changed) * 2).sum()


def allocation(changed):
    """The cache of allocations is emptied in each step, so that each allocates again; changed: it is kept."""
    x = torch.randn(4 << 20, device=DEVICE)

    def step():
        y = x
        for _ in range(8):
            y = y * 1.01 + x
        del y
        if not changed:
            torch.cuda.empty_cache()

    return step


def tf32(changed):
    """FP32 matrix products; changed: on tensor cores."""
    torch.backends.cuda.matmul.allow_tf32 = changed
    weights = torch.randn(4096, 4096, device=DEVICE)

    def step():
        for _ in range(4):
            torch.mm(weights, weights)

    return step


def ddp(changed):
    """Data-parallel training on two GPUs; changed: gradients are not exchanged. measure.py starts the second rank."""
    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", rank=rank, world_size=2)
    layers = [layer for _ in range(8) for layer in (nn.Linear(4096, 4096), nn.ReLU())]
    model = nn.parallel.DistributedDataParallel(nn.Sequential(*layers).to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(512, 4096, device=rank)

    def train():
        model(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    def step():
        if not changed:
            return train()
        with model.no_sync():
            return train()

    return step


PROGRAMS = {"item": item, "item-tenth": item_tenth, "graph": graph, "compile-small": compile_small, "compile-memory": compile_memory,
            "pinned": pinned, "allocation": allocation, "tf32": tf32, "ddp": ddp}
