"""Pairs of recordings whose truth is known, for judge_compare.py: drawn lengths of steps with the noise of real machines, and
simulated programs whose host runs ahead of the device."""

import json
import math
import random

from machine import Kernel, Machine

STEPS = 40
DEVICE = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132, "totalGlobalMem": 85_017_624_576}


# Lengths of steps, relative to the mean. Each kind gets the generator of one recording.


def normal(r):
    return [r.gauss(1, 0.03) for _ in range(STEPS)]


def lognormal(r):
    return [math.exp(r.gauss(0, 0.03)) for _ in range(STEPS)]


def wide_lognormal(r):
    return [math.exp(r.gauss(0, 0.1)) for _ in range(STEPS)]


def dependent(r):
    state, found = r.gauss(0, 1), []
    for _ in range(STEPS):
        state = 0.5 * state + math.sqrt(0.75) * r.gauss(0, 1)
        found.append(math.exp(0.03 * state))
    return found


def tail(r):
    return [math.exp(r.gauss(0, 0.02)) * (2 if r.random() < 0.05 else 1) for _ in range(STEPS)]


def runs(r):
    run = math.exp(r.gauss(0, 0.015))
    return [run * math.exp(r.gauss(0, 0.02)) for _ in range(STEPS)]


def drift(r):
    whole = r.uniform(-0.1, 0.1)
    return [(1 + whole * step / STEPS) * math.exp(r.gauss(0, 0.02)) for step in range(STEPS)]


def states(r):
    """Two clock states 10 % apart; a recording has about three stretches."""
    slow, found = r.random() < 0.5, []
    for _ in range(STEPS):
        slow ^= r.random() < 3 / STEPS
        found.append((1.1 if slow else 1) * math.exp(r.gauss(0, 0.01)))
    return found


NOISE = {"normal, 3 %": normal, "lognormal, 3 %": lognormal, "lognormal, 10 %": wide_lognormal, "half of 3 % kept from step to step": dependent,
         "5 % of the steps doubled": tail, "runs differ by 1.5 %": runs, "drift of up to 10 % within a run": drift,
         "two clock states 10 % apart": states}  # fmt: skip


def drawn(path, lengths):
    """A loop that synchronises at the end of each step, as torch.profiler records it."""
    events, now = [], 1000.0
    for step, relative in enumerate(lengths):
        length, launch = 1000 * relative, step + 1
        events += [
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": now, "dur": length},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": now + 50, "dur": 5, "args": {"correlation": launch}},
            {"ph": "X", "cat": "kernel", "name": "work", "pid": 0, "tid": 7, "ts": now + 60, "dur": length - 100,
             "args": {"device": 0, "stream": 7, "correlation": launch}},
        ]  # fmt: skip
        now += length
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [DEVICE], "traceEvents": events}))
    return str(path)


class Loop:
    """A program that launches the kernels of a step, and synchronises after every `every` steps (0: only at the end)."""

    def __init__(self, r, name):
        self.every = r.choice((1, 2, 3, 5, 10, 20, 0))
        self.kernels = [Kernel(f"{name}_{i % 7}", round(math.exp(r.gauss(math.log(60_000), 0.8))), "compute") for i in range(r.randrange(6, 24))]
        work = sum(kernel.alone for kernel in self.kernels)
        # Host time of a step, relative to its work on the device: mostly ahead, sometimes behind.
        self.host = max(0, work * math.exp(r.uniform(math.log(0.15), math.log(1.6))) / len(self.kernels) - 4_500)
        self.steps = r.randrange(30, 60) + 2 * self.every
        self.between = r.random() < 0.3  # host code between the ranges

    def run(self, seed, kernel_factor=1.0, host_factor=1.0):
        """The simulated machine, and its time per step: of the device's work, from the first step to the last."""
        machine = Machine(random.Random(seed), noise=0.03, kernel_factor=kernel_factor)
        lasts = []

        def step(host):
            for kernel in self.kernels:
                yield from host.work(self.host * host_factor)
                last = yield from host.launch(kernel)
            lasts.append(last)
            if self.every and len(lasts) % self.every == 0:
                yield from host.synchronise()

        def body(host):
            for number in range(self.steps):
                yield from host.span("range", f"ProfilerStep#{number}", step(host))
                if self.between:
                    yield from host.work(20_000)
            yield from host.synchronise()

        machine.thread("main", body)
        machine.run()
        # Whole periods of the synchronisations, without the first, which starts with an idle device.
        period = self.every or 1
        first = period - 1
        last = first + (self.steps - 1 - first) // period * period
        return machine, (lasts[last].end - lasts[first].end) / (last - first)


def program_pair(r):
    """What changed, two machines, and the true change of the time per step in percent."""
    loop = Loop(r, "kernel")
    what = r.choice(("nothing", "kernels", "kernels", "host", "host"))
    factor = math.exp(r.choice((-1, 1)) * r.uniform(math.log(1.06), math.log(1.5)))
    base, before = loop.run(r.random())
    new, after = loop.run(r.random(), factor if what == "kernels" else 1, factor if what == "host" else 1)
    return what, loop, base, new, 100 * (after / before - 1)
