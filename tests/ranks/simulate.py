"""Simulates a job: true times of every operation of every rank.

All ranks of a stage run the same program, so one operation is simulated for all of them at once, as an array over replicas and shards. An
operation starts when the host has launched it and what it waits for has ended. A collective's transfer begins with the last arrival; each
rank then ends a little later, on its own. A send and its receive are one transfer. The order in which operations of different stages are computed is
found once per job. Times are float64 ns since the start of the job, exact to far below 1 ns.
"""

from dataclasses import dataclass

import numpy as np

from .effects import HIDDEN_AT, PAUSE_AT, draws, effects
from .program import TRANSFERS, programs

LAUNCH_LATENCY = 5_000  # from the launch call to the earliest start
STREAM_GAP = 1_000  # between operations of one stream, and after a wait for another
CALL_AT = 0.6  # of an operation's time on the host: where its launch call begins


@dataclass
class Run:
    """[stage][step, op, replica, shard], or [stage][step, replica, shard] for host times; ns."""

    job: object
    programs: list
    effects: object
    host: list  # the host begins to prepare the operation
    launch: list  # its launch call
    start: list
    end: list
    begin: list  # the host begins the step
    fetched: list  # input is there
    done: list  # the host has read the result of the step
    pause_at: list  # [stage]: the operation before which a pause lies
    tokens: list  # [stage][step, replica, shard]: share of an expert, relative to the others

    def boundaries(self):
        """Start of the job, then the end of each step: the last result that a host has read."""
        ends = np.max([done.reshape(self.job.steps, -1).max(1) for done in self.done], axis=0)
        return np.concatenate([[min(begin[0].min() for begin in self.begin)], ends])

    def step_times(self):
        return np.diff(self.boundaries())

    def mean_step(self):
        return float(self.step_times().mean())


def waits(ops):
    """For each operation what must have ended before: earlier operations, or -1 - stream for the last one of the step before."""
    last, found = {}, []
    for i, op in enumerate(ops):
        found.append((last.get(op.stream, -1 - op.stream), *op.after))
        last[op.stream] = i
    return found


def joint(op, stage):
    """The key that the parts of an operation across stages share, or None if one stage has all of it."""
    if op.kind in TRANSFERS:
        return (*op.tag, min(stage, stage + op.peer))
    return ("world", op.name, op.tag) if op.group == "world" else None


@dataclass(frozen=True)
class Exchange:
    """The end of a batch, which its neighbours do not share: it waits for these alone."""

    part: tuple
    others: tuple


def exchanges(stages):
    """(stage, op) of each batch -> its end."""
    ends = {}
    for p, ops in enumerate(stages):
        for i, op in enumerate(ops):
            for edge in op.edges:
                ends.setdefault(edge.tag, []).append((p, i))
    return {(p, i): Exchange((p, i), tuple({part for edge in op.edges for part in ends[edge.tag]} - {(p, i)}))
            for p, ops in enumerate(stages) for i, op in enumerate(ops) if op.kind == "batch"}


def schedule(stages):
    """[(stage, op)] to compute in this order, [(None, parts)] where an operation of several stages ends, [(None, Exchange)] where a batch ends."""
    before = [waits(ops) for ops in stages]
    parts, batches = {}, exchanges(stages)
    for p, ops in enumerate(stages):
        for i, op in enumerate(ops):
            if (key := joint(op, p)) is not None:
                parts.setdefault(key, []).append((p, i))
    order, ended, arrived, left = [], set(), set(), [list(range(len(ops))) for ops in stages]
    while any(left):
        count = len(order)
        for p, ops in enumerate(stages):
            waiting = []
            for i in left[p]:
                if not all(b < 0 or (p, b) in ended for b in before[p][i]):
                    waiting.append(i)
                    continue
                order.append((p, i))
                arrived.add((p, i))
                key = joint(ops[i], p)
                if ops[i].kind == "batch":
                    continue
                if key is None:
                    ended.add((p, i))
                elif all(part in arrived for part in parts[key]):
                    order.append((None, tuple(parts[key])))
                    ended.update(parts[key])
            left[p] = waiting
        for part, end in batches.items():
            if part not in ended and part in arrived and all(other in arrived for other in end.others):
                order.append((None, end))
                ended.add(part)
        if len(order) == count:
            raise ValueError("the schedule has a deadlock")
    return order, before


def last_arrival(job, group, arrivals):
    """The maximum over each group, in the shape of `arrivals` [replica, shard]; of a ring, over a rank and its neighbours."""
    if group == "cp":
        return np.maximum(arrivals, np.maximum(np.roll(arrivals, 1, 0), np.roll(arrivals, -1, 0)))
    if group == "tp":
        return np.broadcast_to(arrivals.max(1, keepdims=True), arrivals.shape)
    if group == "dp":
        return np.broadcast_to(arrivals.max(0, keepdims=True), arrivals.shape)
    blocks = arrivals.reshape(-1, job.ep, job.tp)
    return np.broadcast_to(blocks.max(1, keepdims=True), blocks.shape).reshape(arrivals.shape)


def group_members(job, kind, stage):
    """[replica, shard]: index of the group in job.groups(kind); and the flat position of its first member."""
    d, t = np.meshgrid(np.arange(job.dp), np.arange(job.tp), indexing="ij")
    if kind == "tp":
        return stage * job.dp + d, d * job.tp
    if kind in ("dp", "cp"):
        return stage * job.tp + t, t
    if kind == "pp":
        return d * job.tp + t, d * job.tp + t
    if kind == "world":
        return d * 0, d * 0
    return ((stage * job.tp + t) * job.dp + d) // job.ep, d // job.ep * job.ep * job.tp + t


def durations(job, stages, drawn, effect):
    """Per stage: the time of each kernel or transfer, and the delay of each end; [step, op, replica, shard]."""
    times, delays = [], []
    for p, ops in enumerate(stages):
        kernel = drawn.kernels[p] * (effect.work[p])[:, None]
        made = np.empty_like(kernel)
        delay = np.zeros_like(kernel)
        members = {op.group: group_members(job, op.group, p) for op in ops if op.group}
        for i, op in enumerate(ops):
            if op.kind == "kernel":
                made[:, i] = op.ns * kernel[:, i]
            elif op.kind in ("copy_in", "copy_out"):
                made[:, i] = op.ns
            else:
                index, first = members[op.group]
                made[:, i] = op.ns * drawn.transfers[p][:, i].reshape(job.steps, -1)[:, first] * effect.links[op.group][:, index]
                ends = job.network.ends
                delay[:, i] = drawn.ends[p][:, i] * ends["p2p" if op.group == "pp" else op.name]
            if op.group == "ep":
                tokens = drawn.tokens[p]
                made[:, i] *= last_arrival_of_steps(job, tokens)
        times.append(made)
        delays.append(delay)
    return times, delays


def last_arrival_of_steps(job, values):
    return np.stack([last_arrival(job, "ep", step) for step in values])


class Simulation:
    def __init__(self, job, seed):
        self.job = job
        self.stages = programs(job)
        self.order, self.before = schedule(self.stages)
        self.drawn, self.effect = draws(job, self.stages, seed), effects(job)
        self.times, self.delays = durations(job, self.stages, self.drawn, self.effect)
        self.pause_at = [int(len(ops) * PAUSE_AT) for ops in self.stages]
        self.hidden_at = [next(i for i in range(int(len(ops) * HIDDEN_AT), len(ops)) if ops[i].kind == "kernel") for ops in self.stages]
        shapes = [(job.steps, len(ops), job.dp, job.tp) for ops in self.stages]
        self.host, self.launch, self.start, self.end = ([np.empty(shape) for shape in shapes] for _ in range(4))
        self.begin, self.fetched, self.done = ([np.empty((job.steps, job.dp, job.tp)) for _ in shapes] for _ in range(3))
        self.tails = [{} for _ in shapes]  # stream -> end of its last operation, from the step before

    def launch_step(self, p, step):
        """The host's times of one step of one stage: they depend on the device only through the end of the step before."""
        host, effect = self.job.host, self.effect
        begin = self.drawn.begin[p] if step == 0 else self.done[p][step - 1] + 20_000
        fetched = begin + host.input * self.drawn.inputs[p][step] + effect.input[p][step]
        cost = host.launch * self.drawn.launches[p][step] * effect.host[p][step]
        if effect.pause[p][step].any():
            cost = cost.astype(np.float64)
            delays = np.zeros_like(cost)
            delays[self.pause_at[p]] = effect.pause[p][step]
            ready = fetched + np.cumsum(cost + delays, axis=0) - cost
        else:
            ready = fetched + np.cumsum(cost, axis=0, dtype=np.float64) - cost
        self.begin[p][step], self.fetched[p][step], self.host[p][step] = begin, fetched, ready
        self.launch[p][step] = ready + CALL_AT * cost

    def arrive(self, p, i, step):
        op, end = self.stages[p][i], self.end[p][step]
        start = self.launch[p][step, i] + LAUNCH_LATENCY
        for b in self.before[p][i]:
            if b >= 0:
                start = np.maximum(start, end[b] + STREAM_GAP)
            elif -1 - b in self.tails[p]:
                start = np.maximum(start, self.tails[p][-1 - b] + STREAM_GAP)
        if i == self.hidden_at[p]:
            start = start + self.effect.hidden[p][step]
        self.start[p][step, i] = start
        if not op.group:
            end[i] = start + self.times[p][step, i]
        elif op.group in ("tp", "dp", "cp", "ep"):
            end[i] = last_arrival(self.job, op.group, start) + self.times[p][step, i] + self.delays[p][step, i]

    def finish(self, parts, step):
        """An operation of several stages. The first part has the draw of the transfer."""
        if isinstance(parts, Exchange):
            (p, i), others = parts.part, parts.others
            last = np.maximum.reduce([self.start[q][step, j] for q, j in ((p, i), *others)])
            self.end[p][step, i] = last + self.times[p][step, i] + self.delays[p][step, i]
            return
        last = self.start[parts[0][0]][step, parts[0][1]]
        for p, i in parts[1:]:
            last = np.maximum(last, self.start[p][step, i])
        p, i = parts[0]
        if self.stages[p][i].group == "world":
            last = last.max()
        over = last + self.times[p][step, i]
        for q, j in parts:
            self.end[q][step, j] = over + self.delays[q][step, j]

    def run(self):
        for step in range(self.job.steps):
            for p in range(self.job.pp):
                self.launch_step(p, step)
            for p, what in self.order:
                if p is None:
                    self.finish(what, step)
                else:
                    self.arrive(p, what, step)
            for p, ops in enumerate(self.stages):
                self.done[p][step] = np.maximum(self.end[p][step, -1], self.launch[p][step, -1]) + self.job.host.read_back
                self.tails[p] = {op.stream: self.end[p][step, i].copy() for i, op in enumerate(ops)}
        return Run(self.job, self.stages, self.effect, self.host, self.launch, self.start, self.end, self.begin, self.fetched, self.done, self.pause_at,
                   self.drawn.tokens)


def simulate(job, seed):
    return Simulation(job, seed).run()
