"""Jobs without a fault, of many shapes, drawn by number: layouts, models, networks, hosts, clocks, jitter, and what the files describe.

None of the program's thresholds was chosen by looking at these. The draws stay within what a healthy job has: kernels vary by up to 2 %, GPUs by up to
0.3 % (standard deviations; the slowest of 64 GPUs is then 0.7 % slow, less than the 1 % of a step that is worth a name). The same job for the same number.
"""

import random
from dataclasses import replace
from pathlib import Path

from .clocks import Recorded
from .job import MS, US, Clocks, Fault, Host, Job, Model, Network
from .jobs import slow_gpu, slow_host
from .kineto import Options, Writer
from .simulate import simulate

# (dp, pp, tp): 8, 16 or 32 ranks. In some of them too few ranks are alike to be compared with each other.
SMALL = ((8, 1, 1), (4, 2, 1), (4, 1, 2), (2, 2, 2), (2, 4, 1), (1, 1, 8))
MEDIUM = ((16, 1, 1), (8, 2, 1), (8, 1, 2), (4, 4, 1), (4, 2, 2), (4, 1, 4), (2, 2, 4), (2, 1, 8))
LARGE = ((32, 1, 1), (16, 2, 1), (8, 4, 1), (8, 2, 2), (4, 2, 4), (4, 1, 8))
HUGE = ((64, 1, 1), (32, 2, 1), (16, 4, 1), (16, 2, 2), (8, 2, 4), (8, 1, 8), (8, 8, 1))


def layouts(number):
    """Of ten jobs six have 8 ranks, three 16, and one 32."""
    return (SMALL, MEDIUM, SMALL, SMALL, MEDIUM, SMALL, LARGE, SMALL, MEDIUM, SMALL)[number % 10]


def model(draw):
    forward = draw.uniform(1.5, 12) * MS
    return Model(layers=draw.randint(1, 3), kernels=draw.randint(1, 6), forward=round(forward), backward=round(forward * draw.uniform(1.6, 2.4)),
                 embedding=round(draw.choice((0, 0.3, 1, 2)) * MS), loss=round(draw.choice((0, 0.5, 2, 4)) * MS), optimizer=round(draw.uniform(0.5, 8) * MS),
                 parameters=draw.choice((5_000_000, 50_000_000, 400_000_000)), activation=draw.choice((65_536, 1_048_576, 8_388_608)))


def network(draw):
    return Network(tp=round(draw.uniform(40, 600) * US), p2p=round(draw.uniform(60, 900) * US), dp=round(draw.uniform(1, 30) * MS),
                   ep=round(draw.uniform(100, 1500) * US), world=round(draw.uniform(20, 200) * US), jitter=draw.uniform(0.003, 0.05))


def clean_job(number, shapes=None):
    """(job, options of its files)."""
    draw = random.Random(f"clean {number}")
    dp, pp, tp = draw.choice(shapes or layouts(number))
    ep = draw.choice([ep for ep in (1, 1, 1, 2, 4) if dp % ep == 0])
    overlap = dp > 1 and draw.random() < 0.3
    job = Job(f"clean-{number}", dp, pp, tp, ep, per_host=draw.choice([each for each in (1, 2, 4, 8) if dp * pp * tp % each == 0]),
              micro_batches=draw.randint(pp, 2 * pp + 2), steps=draw.randint(6, 12), model=model(draw), network=network(draw),
              host=Host(input=round(draw.uniform(0.2, 3) * MS), launch=round(draw.uniform(6, 60) * US), jitter=draw.uniform(0.01, 0.1)),
              clocks=Clocks(offset=draw.choice((0.05, 2, 40)) * MS, rate_ppm=draw.choice((1, 10, 30)), gpu=draw.uniform(0.2, 3) * US),
              sync=draw.choice(("sharded", "all_reduce")), buckets=draw.choice((1, 2, 4)), overlap=overlap, world_sync=draw.random() < 0.4,
              kernel_jitter=draw.uniform(0.002, 0.02), gpu_spread=draw.uniform(0, 0.003), begin_spread=round(draw.uniform(0, 5) * MS),
              expert_imbalance=draw.choice((0, 0.1, 0.3)) if ep > 1 else 0.0)
    options = Options(seq=draw.random() < 0.8, flows=draw.random() < 0.9, operators=draw.random() < 0.1, described=draw.random() < 0.8,
                      distributed=draw.random() < 0.9, host_name=draw.random() < 0.5)
    return job, options


def one_of_each_layout(numbers):
    """Of the numbers that have the same layout, the one whose job has the fewest operations."""
    found = {}
    for number in numbers:
        job, _ = clean_job(number)
        work = job.world * job.steps * job.micro_batches * job.model.layers * job.model.kernels
        found.setdefault((job.dp, job.pp, job.tp), []).append((work, number))
    return sorted(min(jobs)[1] for jobs in found.values())


EXCHANGES = {"interleaved": ((4, 4, 1), (4, 3, 1), (2, 4, 2), (8, 2, 1), (4, 4, 2)), "ring": ((8, 1, 1), (4, 1, 2), (4, 2, 1), (6, 2, 1), (4, 1, 1)),
             "both": ((4, 4, 1), (4, 3, 1))}


def exchanging_job(number, fault=False):
    """(job, options of its files): an interleaved pipeline, batches around the replicas, or both; with `fault`, one of a rank or host."""
    draw = random.Random(f"exchange {number}")
    kind = draw.choice(tuple(EXCHANGES))
    job, options = clean_job(number, EXCHANGES[kind])
    if kind != "ring":
        micro_batches = job.pp * draw.randint(1, 3)
        job = replace(job, chunks=2, micro_batches=micro_batches, model=replace(job.model, layers=draw.choice((2, 4))))
    if kind != "interleaved":
        job = replace(job, rings=draw.choice((1, 2, 3)))
    job = replace(job, ep=1, overlap=False, steps=draw.randint(5, 12))
    return (with_drawn_fault(job, draw) if fault else job), options


def with_drawn_fault(job, draw):
    rank = draw.randrange(job.world)
    kind = draw.choice(("gpu", "host", "data", "pause"))
    if kind == "gpu":
        fault = slow_gpu(rank, draw.choice((1.1, 1.25, 1.5)))
    elif kind == "host":
        fault = slow_host(job, draw.randrange(job.hosts), 20.0)
    elif kind == "data":
        fault = Fault("late_data", ("rank", rank), (rank,), ns=int(draw.uniform(20, 100) * MS))
    else:
        fault = Fault("pause", ("rank", rank), (rank,), ns=int(draw.uniform(40, 200) * MS), range="gc.collect")
    return replace(job, faults=(fault,))


def with_slow_gpu(job):
    """The same job, but the GPU of one rank takes 1.25 times as long."""
    return replace(job, faults=(slow_gpu(job.world // 2, 1.25),))


def write(job, options, seed, out):
    """One file for each rank, not compressed: faster, and the same to a reader."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    writer = Writer(simulate(job, seed), Recorded(job, seed), seed, options)
    for rank in range(job.world):
        (out / f"rank{rank:05d}.json").write_text(writer.text(rank))
