"""The device events of a job as one table: what an analysis may see. It is made from a simulation, from a public job, or from a folder of files.

Only recorded times and what a file states are here: no true times, no faults. `place` is the position of an event in the order of launches
within its step and rank, by which events of ranks with the same role correspond. `seq` is the sequence number of a collective, or the count of a point-to-point
transfer between its two ends. Times are ns, absent times are nan.
"""

from dataclasses import dataclass, replace

import numpy as np

from .groups import kinds, sequence_positions
from .public import COMMUNICATION, DIRECTION

COMPUTED, COLLECTIVE, P2P, COPY = range(4)
KINDS = {"kernel": COMPUTED, "collective": COLLECTIVE, "send": P2P, "recv": P2P}


@dataclass
class Events:
    rank: np.ndarray
    step: np.ndarray  # position
    place: np.ndarray
    kind: np.ndarray
    stream: np.ndarray
    start: np.ndarray
    end: np.ndarray
    launch: np.ndarray
    group: np.ndarray  # index in groups, -1 without one
    seq: np.ndarray
    name: np.ndarray  # index in names
    blocks: np.ndarray  # of the grid: the work of a kernel
    groups: list  # (kind, ranks)
    names: list
    host: np.ndarray  # by rank, -1 unknown
    stage: np.ndarray  # by rank
    begin: np.ndarray  # [rank, step]
    fetched: np.ndarray
    done: np.ndarray
    pauses: np.ndarray  # [rank, step, 2]: begin and end of a range of a collector or checkpoint

    def __len__(self):
        return len(self.rank)


COLUMNS = ("rank", "step", "place", "kind", "stream", "start", "end", "launch", "group", "seq", "name", "blocks")


def joined(parts, groups, names, **ranks):
    columns = {}
    for column in COLUMNS:
        kind = float if column in ("start", "end", "launch") else np.int64
        columns[column] = np.concatenate([np.asarray(part[column], kind) for part in parts])
    return in_order(Events(**columns, groups=groups, names=names, **ranks))


def subset(events, rows):
    return replace(events, **{column: getattr(events, column)[rows] for column in COLUMNS})


def in_order(events):
    """Rows by rank and start."""
    order = np.lexsort((events.start, events.rank))
    return replace(events, **{column: getattr(events, column)[order] for column in COLUMNS})


def nothing(world, steps, depth=()):
    return np.full((world, steps, *depth), np.nan)


def rank_columns(run, clocks, rank, ops, constant):
    """The rows of one rank of a simulation, as recorded."""
    job, (p, d, t) = run.job, run.job.place(rank)
    span = clocks.span(run)
    count = job.steps * len(ops)
    columns = {key: np.tile(value, job.steps) for key, value in constant.items()}
    columns |= {"rank": np.full(count, rank), "step": np.repeat(np.arange(job.steps), len(ops)), "place": np.tile(np.arange(len(ops)), job.steps)}
    for key, values, clock in (("start", run.start, clocks.device_times), ("end", run.end, clocks.device_times), ("launch", run.launch, clocks.host_times)):
        columns[key] = np.rint(clock(rank, values[p][:, :, d, t], span)).reshape(-1)
    grid = run.effects.grid[p][:, d, t]
    columns["blocks"] = np.repeat(np.rint(1000 * grid), len(ops)) * (columns["kind"] == COMPUTED)
    return columns


def transfer_number(count, backwards, lower):
    """One number per transfer within a pipeline group: its count, its direction, and the lower of its two stages."""
    return (count * 2 + backwards) * 1024 + lower


def numbers_of(ops, stage, job):
    """[step, op]: what `seq` is for each operation of a stage."""
    positions, counts = sequence_positions(ops)
    numbers = np.zeros((job.steps, len(ops)), np.int64)
    steps = np.arange(job.steps)
    for i, op in enumerate(ops):
        if op.tag:
            direction, micro_batch = op.tag
            numbers[:, i] = transfer_number(steps * job.micro_batches + micro_batch, direction == "backward", min(stage, stage + op.peer))
        elif op.group:
            numbers[:, i] = steps * counts[op.group, False] + positions[i]
    return numbers


def of_run(run, clocks):
    job, groups, index = run.job, [], {}
    for kind in kinds(job):
        for i, ranks in enumerate(job.groups(kind)):
            index[kind, i] = len(groups)
            groups.append((kind, ranks))
    names = sorted({op.name for ops in run.programs for op in ops})
    parts = []
    numbers = [numbers_of(ops, p, job) for p, ops in enumerate(run.programs)]
    for rank in range(job.world):
        p, _, _ = job.place(rank)
        ops = run.programs[p]
        constant = {
            "kind": np.array([KINDS.get(op.kind, COPY) for op in ops]), "stream": np.array([op.stream for op in ops]),
            "name": np.array([names.index(op.name) for op in ops]),
            "group": np.array([index[op.group, job.group_index(op.group, rank)] if op.group else -1 for op in ops]),
        }
        parts.append(rank_columns(run, clocks, rank, ops, constant) | {"seq": numbers[p].reshape(-1)})
    return joined(parts, groups, names, **host_columns(run, clocks))


def host_columns(run, clocks):
    job, span = run.job, clocks.span(run)
    made = {"host": np.array([job.host_of(rank) for rank in range(job.world)]), "stage": np.array([job.place(rank)[0] for rank in range(job.world)]),
            "pauses": nothing(job.world, job.steps, (2,))}
    for key in ("begin", "fetched", "done"):
        made[key] = nothing(job.world, job.steps)
    for rank in range(job.world):
        p, d, t = job.place(rank)
        for key in ("begin", "fetched", "done"):
            made[key][rank] = clocks.host_times(rank, getattr(run, key)[p][:, d, t], span)
        pause = run.effects.pause[p][:, d, t]
        ready = run.host[p][:, run.pause_at[p], d, t]
        for column, times in ((0, ready - pause), (1, ready)):
            made["pauses"][rank, :, column] = np.where(pause > 0, clocks.host_times(rank, times, span), np.nan)
    return made


def of_public(job):
    """Each recorded rank is a host of its own: its clock is unlike the others', and host activity is unknown."""
    steps = len(job.step_start)
    groups, index = [], {}
    group = np.full(len(job.rank), -1)
    kind, seq, stream = np.zeros(len(job.rank), int), job.seq.copy(), np.full(len(job.rank), 7)
    for code, optype in enumerate(job.optypes):
        rows = np.flatnonzero(job.optype == code)
        if optype not in COMMUNICATION or optype == "layernorm-grads-all-reduce":
            continue
        of, _, at = COMMUNICATION[optype]
        kind[rows], stream[rows] = P2P if of == "pp" else COLLECTIVE, at
        for row in rows:
            key = (of, job.group(of, int(job.rank[row])))
            group[row] = index.setdefault(key, len(index))
        if optype in DIRECTION:
            lower = np.minimum(job.stage[rows], job.stage[rows] + DIRECTION[optype])
            seq[rows] = transfer_number(job.position[rows] * 4096 + job.seq[rows], optype.startswith("backward"), lower)
        else:
            seq[rows] = job.position[rows] * 64 + code
    groups = list(index)
    place = job.optype * 4096 + job.seq
    part = {"rank": job.rank, "step": job.position, "place": place, "kind": kind, "stream": stream, "start": job.start, "end": job.end,
            "launch": np.full(len(kind), np.nan), "group": group, "seq": seq, "name": job.optype, "blocks": np.zeros(len(kind))}
    stage = np.arange(job.world) // (job.replicas * job.shards)
    begin = np.broadcast_to(job.step_start, (job.world, steps))
    return joined([part], groups, list(job.optypes), host=np.arange(job.world), stage=stage, begin=begin, fetched=nothing(job.world, steps),
                  done=nothing(job.world, steps), pauses=nothing(job.world, steps, (2,)))
