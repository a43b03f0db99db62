"""What chance and the faults do to a job, as arrays over steps and ranks.

All random draws are made here, in one order that does not depend on the faults. A job without one of its faults therefore has the same draws,
and the difference of the two simulations is the cost of that fault alone.
"""

from dataclasses import dataclass

import numpy as np

HIDDEN_AT = 0.4  # where in a step a hidden wait or a pause is, by launch order
PAUSE_AT = 0.05  # early: later in a step the host is ahead of the device and hides a pause


@dataclass
class Draws:
    """Per stage: factors of kernels, launches, inputs and transfers, and delays of the ends of collectives; ns or ratios."""

    kernels: list  # [stage][step, op, replica, shard]
    launches: list
    transfers: list
    ends: list  # mean 1
    tokens: list  # of experts
    inputs: list  # [stage][step, replica, shard]
    begin: list  # [stage][replica, shard], ns


def draws(job, programs, seed):
    source = np.random.default_rng([seed, 1])
    grid = (job.dp, job.tp)
    made = Draws([], [], [], [], [], [], [])
    for ops in programs:
        shape = (job.steps, len(ops), *grid)
        gpu = 1 + job.gpu_spread * source.standard_normal(grid)
        made.kernels.append(np.maximum(0.5, 1 + job.kernel_jitter * source.standard_normal(shape, np.float32)) * gpu)
        made.launches.append(1 + job.host.jitter * np.abs(source.standard_normal(shape, np.float32)))
        made.transfers.append(np.maximum(0.5, 1 + job.network.jitter * source.standard_normal(shape, np.float32)))
        made.ends.append(source.standard_exponential(shape, np.float32))
        made.tokens.append(np.maximum(0.1, 1 + job.expert_imbalance * source.standard_normal((job.steps, *grid))))
        made.inputs.append(np.maximum(0.2, 1 + job.host.jitter * source.standard_normal((job.steps, *grid))))
        made.begin.append(source.uniform(0, job.begin_spread, grid))
    return made


@dataclass
class Effects:
    """What the faults add, neutral where there are none."""

    work: list  # [stage][step, replica, shard]: factor of kernel times
    grid: list  # factor of grids: work that is really more
    host: list  # factor of launch times
    input: list  # ns
    pause: list  # ns
    hidden: list  # ns
    links: dict  # kind of group -> [step, group]: factor of transfers
    ranges: dict  # (step, rank) -> name of the range of its pause


def turn(fault, step, among):
    """The one of `among` whose turn it is in a step."""
    return among[int(np.random.default_rng([fault.seed, step, 7]).integers(len(among)))]


def rank_factors(job, fault, step, made):
    """Applies one fault of ranks to one step."""
    ranks = fault.ranks
    if fault.kind == "pause":
        ranks = (turn(fault, step, ranks),)
        made.ranges[step, ranks[0]] = fault.range
    if fault.kind == "more_work" and fault.rotate:
        replica = step % job.dp
        ranks = [rank for rank in range(job.world) if job.place(rank)[1] == replica]
    for rank in ranks:
        p, d, t = job.place(rank)
        at = (step, d, t)
        if fault.kind in ("slow_gpu", "more_work"):
            made.work[p][at] *= fault.factor
        if fault.kind == "more_work":
            made.grid[p][at] *= fault.factor
        if fault.kind == "slow_host":
            made.host[p][at] *= fault.factor
        if fault.kind in ("late_data", "pause", "hidden_wait"):
            {"late_data": made.input, "pause": made.pause, "hidden_wait": made.hidden}[fault.kind][p][at] += fault.ns


def effects(job):
    shape = (job.steps, job.dp, job.tp)
    ones, zeros = (lambda: [np.ones(shape) for _ in range(job.pp)]), (lambda: [np.zeros(shape) for _ in range(job.pp)])
    links = {kind: np.ones((job.steps, len(job.groups(kind)))) for kind in ("tp", "dp", "cp", "ep", "pp", "world") if kind != "ep" or job.ep > 1}
    made = Effects(ones(), ones(), ones(), zeros(), zeros(), zeros(), links, {})
    for fault in job.faults:
        for step in filter(fault.active, range(job.steps)):
            if fault.kind == "slow_link":
                kind, index = fault.group
                made.links[kind][step, index] *= fault.factor
            else:
                rank_factors(job, fault, step, made)
    return made
