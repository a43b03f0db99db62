"""Jobs with one fault each, of many shapes, drawn by seed and number: plain ones, ones that reduce gradients during the backward pass, and damaged folders.

The fault is one of a rank, a host or a group of links, in all steps, in some, or in half of them. In an overlapped job, buckets wait for each other, for compute, and
for other ranks, so that a delay of one rank hides behind communication in a part of the step only. The same job for the same seed and number.
"""

import random
from dataclasses import dataclass, field, replace

from .clean import clean_job
from .folder import Damage
from .job import MS, Clocks, Fault, Host
from .jobs import slow_gpu, slow_gpus, slow_host, slow_link

# (dp, pp, tp): at least four ranks do the same.
LAYOUTS = ((8, 1, 1), (8, 1, 1), (16, 1, 1), (6, 1, 1), (4, 2, 1), (8, 2, 1), (4, 1, 2), (8, 1, 2), (4, 4, 1), (4, 2, 2), (16, 2, 1), (32, 1, 1), (5, 3, 1), (8, 1, 4))
FAULTS = ("gpu", "gpu", "gpus", "host", "data", "late steps", "half", "pause", "work", "link")
DAMAGE = ("own cut", "own missing", "other cut", "other missing", "later steps", "halves", "clock", "jump")


@dataclass(frozen=True)
class Drawn:
    job: object
    options: object
    fault: str
    damage: str = ""
    damaged: Damage = field(default_factory=Damage)


def overlapped(job, draw):
    """Gradients in buckets that the backward pass releases one by one: transfers take between a tenth and one and a half of its time."""
    layers = draw.choice((2, 3, 4, 6, 8, 12))
    forward = round(draw.uniform(4, 30) * MS)
    backward = round(forward * draw.uniform(1.6, 2.4))
    model = replace(job.model, layers=layers, kernels=draw.randint(2, 6), forward=forward, backward=backward)
    return replace(job, model=model, overlap=True, buckets=draw.choice((layers, layers, 2 * layers, max(2, layers // 2))),
                   sync=draw.choice(("all_reduce", "all_reduce", "sharded")), network=replace(job.network, dp=round(backward * draw.uniform(0.1, 1.5))),
                   micro_batches=draw.randint(job.pp, job.pp + 2) if job.pp > 1 else draw.choice((1, 1, 2)))


def some_steps(job, draw, share):
    return tuple(sorted(draw.sample(range(job.steps), max(2, round(share * job.steps)))))


def fault_of(job, kind, draw):
    rank = draw.randrange(job.world)
    lone = Fault("late_data", ("rank", rank), (rank,), ns=round(draw.uniform(10, 80) * MS))
    host = draw.randrange(job.hosts)
    if kind == "gpu":
        return slow_gpu(rank, draw.choice((1.08, 1.15, 1.25, 1.5)))
    if kind == "gpus":
        return slow_gpus(job, host, draw.choice((1.1, 1.2, 1.4)))
    if kind == "host":
        return slow_host(job, host, draw.uniform(10, 40))
    if kind == "data":
        return lone
    if kind == "late steps":
        return replace(lone, steps=some_steps(job, draw, 0.3))
    if kind == "half":
        return replace(lone, kind=draw.choice(("late_data", "pause")), range="gc.collect", steps=tuple(range(draw.randrange(2), job.steps, 2)))
    if kind == "pause":
        return replace(lone, kind="pause", range=draw.choice(("gc.collect", "save_checkpoint")), steps=some_steps(job, draw, draw.choice((0.2, 0.4, 1))))
    if kind == "work":
        return Fault("more_work", ("rank", rank), (rank,), factor=draw.choice((1.1, 1.2, 1.4)))
    return slow_link("dp", draw.randrange(len(job.groups("dp"))), draw.choice((1.5, 2.0, 4.0)))


def is_minority(job, ranks):
    """Whether most of the ranks that do the same as one of these are others."""
    stages = [job.place(rank)[0] for rank in ranks]
    return all(2 * stages.count(stage) < job.dp * job.tp - 1 for stage in stages)


def drawn_job(seed, number, overlap=False, damage=False):
    """A Drawn. `overlap`: during the backward pass; `damage`: of the folder, and half of them overlap."""
    draw = random.Random(f"drawn {seed} {number} {overlap} {damage}")
    job, options = clean_job(f"{seed} {number} drawn", LAYOUTS)
    job = replace(job, name=f"drawn-{seed}-{number}", overlap=False, ep=1, expert_imbalance=0.0, steps=draw.randint(8, 16))
    if overlap or (damage and draw.random() < 0.5):
        job = overlapped(job, draw)
    kind = FAULTS[number % len(FAULTS)]
    if kind == "link" and job.pp * job.tp < 3:
        kind = "gpu"
    if kind == "host":
        job = replace(job, host=Host(input=job.host.input, launch=round(draw.uniform(10, 25) * 1000)))
    fault = fault_of(job, kind, draw)
    while not is_minority(job, fault.ranks) and job.per_host > 1:
        job = replace(job, per_host=job.per_host // 2)
        fault = fault_of(job, kind, draw)
    job = replace(job, faults=(fault,))
    options = replace(options, seq=True, described=True)
    return with_damage(job, options, kind, draw, number) if damage else Drawn(job, options, kind)


def with_damage(job, options, kind, draw, number):
    what = DAMAGE[number // len(FAULTS) % len(DAMAGE)]
    own = job.faults[0].ranks or job.groups("dp")[job.faults[0].group[1]]
    rank = draw.choice(own) if what.startswith("own") else draw.choice([rank for rank in range(job.world) if rank not in own] or [0])
    damaged = Damage()
    if what.endswith("cut"):
        damaged = Damage(cut=(rank,))
    elif what.endswith("missing"):
        damaged = Damage(missing=(rank,))
    elif what == "later steps":
        later = draw.randint(2, job.steps // 2)
        ranks = draw.sample(range(job.world), 3)
        damaged = Damage(shifted={each: (later, job.steps) for each in ranks} | {each: (0, job.steps - later // 2) for each in range(job.world) if each not in ranks})
    elif what == "halves":
        half = job.steps // 2
        damaged = Damage(shifted={each: (0, half + 1) if each % 2 else (half - 1, job.steps) for each in range(job.world)})
    elif what == "clock":
        job = replace(job, clocks=Clocks(offset=draw.choice((300, 5_000)) * MS, rate_ppm=30.0))
    else:
        job = replace(job, clocks=replace(job.clocks, jump=(draw.randrange(job.hosts), round(draw.choice((3, 40, 700)) * MS))))
    return Drawn(job, options, kind, what, damaged)
