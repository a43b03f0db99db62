"""PyTorch programs whose bottleneck is known (truth.json): labelled.py NAME STEPS

Each is the smallest program that has its bottleneck; seeds are fixed and nothing is read. Prints milliseconds per step.
"""

import sys
import time

import torch
import torch.nn.functional as F
from steps import DEVICE, SMALL, launches, synchronize, transformer
from torch import nn
from torch.utils.data import DataLoader, Dataset


def elements(*shape):
    return torch.randn(*(min(each, 32) for each in shape) if SMALL else shape, device=DEVICE)


class Slow(Dataset):
    """Images that are augmented on the CPU, slowly."""

    def __len__(self):
        return 100_000

    def __getitem__(self, number):
        image = torch.rand(3, 112, 112, generator=torch.Generator().manual_seed(number))
        for _ in range(4):
            image = F.avg_pool2d(image[None], 3, 1, 1)[0]
        return image, number % 100


def input_bound():
    widths = ((3, 64), (64, 128), (128, 256), (256, 512))
    layers = [layer for before, after in widths for layer in (nn.Conv2d(before, after, 3, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU())]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 100)).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = iter(DataLoader(Slow(), batch_size=2 if SMALL else 64, num_workers=0))

    def step():
        images, labels = next(batches)
        loss = F.cross_entropy(model(images.to(DEVICE)), labels.to(DEVICE))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def memory_bound():
    x, gain = elements(64, 4096, 1024), elements(1024)

    def step():
        y = torch.tanh(x * gain + gain)
        F.gelu(F.layer_norm(y, gain.shape)).sum()

    return step


def h2d_heavy():
    host = torch.randn(64 if SMALL else 16 << 20)  # pageable
    return lambda: (host.to(DEVICE) * 2).sum()


def graph():
    model = nn.Sequential(*[layer for _ in range(2 if SMALL else 20) for layer in (nn.Linear(512, 512), nn.ReLU())]).to(DEVICE)
    x = torch.randn(32, 512, device=DEVICE)
    if DEVICE == "cpu":
        return lambda: model(x)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(side)
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        model(x)

    def step():
        for _ in range(10):
            recorded.replay()

    return step


def overlap():
    weights = elements(4096, 4096)
    if DEVICE == "cpu":
        return lambda: weights @ weights
    host = [torch.randn(16, 1024, 1024).pin_memory() for _ in range(2)]
    side, device = torch.cuda.Stream(), [torch.empty(16, 1024, 1024, device=DEVICE) for _ in range(2)]
    turn = iter(range(1 << 30))

    def step():
        now = next(turn) % 2
        with torch.cuda.stream(side):
            device[now].copy_(host[now], non_blocking=True)
        for _ in range(4):
            torch.mm(weights, weights)
        torch.cuda.current_stream().wait_stream(side)
        device[now].sum()

    return step


def sync_item():
    weights = elements(2048, 2048)

    def step():
        for _ in range(2 if SMALL else 60):
            torch.mm(weights, weights).mean().item()

    return step


PROGRAMS = {"transformer": transformer, "small_kernels": launches, "memory_bound": memory_bound, "input_bound": input_bound,
            "h2d_heavy": h2d_heavy, "graph": graph, "overlap": overlap, "sync_item": sync_item}


def main():
    name, steps = sys.argv[1], int(sys.argv[2])
    torch.manual_seed(0)
    step = PROGRAMS[name]()
    for _ in range(2):
        step()
    synchronize()
    begun = time.perf_counter()
    for _ in range(steps):
        with torch.cuda.nvtx.range("step"):
            step()
    synchronize()
    print(f"{(time.perf_counter() - begun) / steps * 1e3:.4f}")


if __name__ == "__main__":
    main()
