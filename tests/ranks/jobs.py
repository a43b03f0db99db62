"""The named jobs. `planted` has all faults at once, each with a place; the others have one subject each."""

from dataclasses import replace

from .job import MS, US, Clocks, Fault, Host, Job, Model, Network

SMALL = Model(layers=2, kernels=4)


def small(name, **changes):
    """8 ranks on 2 hosts: 2 stages, 4 replicas."""
    return replace(Job(name, dp=4, pp=2, per_host=4, model=SMALL), **changes)


def medium(name, **changes):
    """16 ranks on 8 hosts: 2 stages, 8 replicas. A host has a quarter of a stage, so its ranks are a minority of their peers."""
    return replace(Job(name, dp=8, pp=2, per_host=2, model=SMALL), **changes)


def large(name, **changes):
    """64 ranks on 8 hosts: 2 stages, 16 replicas, 2 shards."""
    return replace(Job(name, dp=16, pp=2, tp=2, model=Model(layers=2, kernels=4)), **changes)


def huge(name, **changes):
    """1,024 ranks on 128 hosts: 4 stages, 32 replicas, 8 shards; few, long operations."""
    model = Model(layers=1, kernels=1, forward=10 * MS, backward=20 * MS, embedding=0, loss=4 * MS, optimizer=8 * MS)
    return replace(Job(name, dp=32, pp=4, tp=8, micro_batches=8, model=model, network=Network(dp=6 * MS), host=Host(launch=200 * US)), **changes)


def wide(name):
    """1,024 ranks on 128 hosts with few operations: 2 stages, 64 replicas, 8 shards. A slow GPU, and a host whose input is late in 4 of the first 10 steps."""
    job = replace(huge(name), dp=64, pp=2, micro_batches=2)
    return replace(job, faults=(slow_gpu(777, 1.3), late_data(job, 40, 60 * MS, (2, 4, 6, 8))))


def slow_gpu(rank, factor=1.2):
    return Fault("slow_gpu", ("rank", rank), (rank,), factor=factor)


def slow_gpus(job, host, factor):
    return Fault("slow_gpu", ("host", host), job.host_ranks(host), factor=factor)


def slow_host(job, host, factor):
    return Fault("slow_host", ("host", host), job.host_ranks(host), factor=factor)


def late_data(job, host, ns, steps):
    return Fault("late_data", ("host", host), job.host_ranks(host), steps=tuple(steps), ns=ns)


def pauses(job, ns, steps, name="gc.collect"):
    return Fault("pause", ("job",), tuple(range(job.world)), steps=tuple(steps), ns=ns, range=name)


def slow_link(kind, index, factor=3.0):
    return Fault("slow_link", ("group", kind, index), group=(kind, index), factor=factor)


def planted(job, gpu=None):
    """A slow GPU in the second stage, slow GPUs of one host in the last one, late data on one host, pauses of any rank, slow links of one group."""
    stage = job.dp * job.tp
    gpu = stage + job.per_host + 3 if gpu is None else gpu
    every = range(1, job.steps, 5)
    last = job.hosts - 2
    group = job.group_index("dp", 1)
    return replace(job, faults=(slow_gpu(gpu), slow_gpus(job, last, 1.12), late_data(job, 1, 80 * MS, every), pauses(job, 60 * MS, (s + 2 for s in every)),
                                slow_link("dp", group)))


def hidden(job):
    """A slow GPU behind a host whose GPUs are all slower: it costs nothing until the host is repaired."""
    host = job.hosts - 1
    gpu = job.host_ranks(host)[0] - job.per_host
    return replace(job, faults=(slow_gpu(gpu, 1.15), slow_gpus(job, host, 1.3)))


def interleaved(name, **changes):
    """16 ranks on 4 hosts: 4 stages of 2 chunks each, 4 replicas."""
    return replace(Job(name, dp=4, pp=4, per_host=4, chunks=2, micro_batches=8, model=SMALL), **changes)


def ring(name, **changes):
    """16 ranks on 8 hosts, one stage: within each layer, something goes around the 8 replicas of a shard."""
    return replace(Job(name, dp=8, tp=2, per_host=2, rings=3, model=SMALL), **changes)


def second(name):
    """4 ranks of another job, on other hosts' clocks."""
    return Job(name, dp=4, per_host=2, model=SMALL, first_step=100)


def islands(name):
    """Replicas that never talk to each other: hosts without a path of groups between them."""
    return Job(name, dp=4, pp=2, tp=2, per_host=2, sync="none", model=SMALL)


def named():
    """Name -> (description, function that makes the job)."""
    launches = Host(launch=500 * US)
    return {
        "clean-8": ("8 ranks, no fault", lambda n: small(n)),
        "clean-16": ("16 ranks on 8 hosts, no fault", lambda n: medium(n)),
        "clean-64": ("64 ranks, no fault", lambda n: large(n)),
        "clean-1024": ("1,024 ranks, no fault, few long operations", lambda n: huge(n)),
        "wide-1024": ("1,024 ranks, few operations, a slow GPU and late data on one host", wide),
        "gpu": ("8 ranks, the GPU of rank 5 is 20 % slower", lambda n: small(n, faults=(slow_gpu(5),))),
        "host": ("16 ranks on 8 hosts, host 2 launches late", lambda n: replace(medium(n, host=launches), faults=(slow_host(medium(n), 2, 3.0),))),
        "data": ("16 ranks, input of host 1 is 80 ms late in 4 steps", lambda n: replace(medium(n), faults=(late_data(medium(n), 1, 80 * MS, (3, 8, 13, 18)),))),
        "pause": ("16 ranks, another rank collects garbage for 60 ms in 6 steps",
                  lambda n: replace(medium(n), faults=(pauses(medium(n), 60 * MS, (2, 5, 8, 11, 14, 17)),))),
        "checkpoint": ("16 ranks, rank 0 saves a checkpoint for 120 ms in 4 steps",
                       lambda n: medium(n, faults=(Fault("pause", ("rank", 0), (0,), steps=(4, 9, 14, 19), ns=120 * MS, range="save_checkpoint"),))),
        "link": ("32 ranks, links of one of four data-parallel groups are 3 times slower", lambda n: medium(n, tp=2, faults=(slow_link("dp", 1),))),
        "work": ("16 ranks, each step another replica has 25 % more work", lambda n: medium(n, faults=(Fault("more_work", ("job",), factor=1.25, rotate=True),))),
        "gap": ("16 ranks, rank 3 stands idle 20 ms per step with no trace on its host",
                lambda n: medium(n, faults=(Fault("hidden_wait", ("rank", 3), (3,), ns=20 * MS),))),
        "experts": ("16 ranks, experts in groups of 4 with uneven tokens, a world all-reduce", lambda n: medium(n, ep=4, expert_imbalance=0.2, world_sync=True)),
        "overlap": ("16 ranks, gradient buckets are reduced during the backward pass", lambda n: medium(n, overlap=True, buckets=4)),
        "mixed": ("64 ranks, five faults", lambda n: planted(large(n))),
        "mixed-1024": ("1,024 ranks, five faults, few long operations", lambda n: planted(huge(n))),
        "half": ("16 ranks on 4 hosts, the GPUs of host 2 are 20 % slower: half of their peers, so no median tells which half is right",
                 lambda n: replace(medium(n, per_host=4), faults=(slow_gpus(medium(n, per_host=4), 2, 1.2),))),
        "interleaved": ("16 ranks, an interleaved pipeline of 4 stages, no fault", interleaved),
        "interleaved-gpu": ("16 ranks, an interleaved pipeline, the GPU of rank 6 is 20 % slower", lambda n: interleaved(n, faults=(slow_gpu(6),))),
        "ring": ("16 ranks, batches around 8 replicas, no fault", ring),
        "ring-gpu": ("16 ranks, batches around 8 replicas, the GPU of rank 5 is 20 % slower", lambda n: ring(n, faults=(slow_gpu(5),))),
        "hidden": ("16 ranks, a slow GPU behind a slower host", lambda n: hidden(medium(n))),
        "islands": ("16 ranks in 4 replicas that never communicate", islands),
        "jump": ("16 ranks, the clock of host 1 jumps by 40 ms", lambda n: medium(n, clocks=Clocks(jump=(1, 40 * MS)))),
        "noisy": ("16 ranks, the clock of host 2 wanders by 5 ms", lambda n: medium(n, clocks=Clocks(noisy=(2, 5 * MS)))),
    }
