"""The three public jobs of ByteDance-Seed/StragglerAnalysis (tests/fixtures/ranks), as files of ranks and as truth.

They are operation logs of real training: compute operations of whole micro-batches, sends and receives, and the collectives at the end of a step, of
one rank per tensor-parallel group. They have no host activity, so an idle stream has no explanation. Times within a step are float32 seconds since its
start: exact to 0.2 us in ST, to 4 us in AR. Steps are not consecutive; they are laid one after another here.

The published slowdown of a step compares with an ideal in which each compute operation takes the mean of its kind over all ranks, all *stages* and all
steps, and each transfer the median, and in which no operation starts later than it could. Uneven stages count as slowdown.
"""

import io
import json
import lzma
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .groups import DESCRIPTIONS
from .program import BACKWARD_IN, BACKWARD_OUT, COMPUTE, DP, FORWARD_IN, FORWARD_OUT, TP, WORLD
from .trace_text import LAUNCHED, START_NS, Group, TraceText, compressed, nccl_kernel

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "ranks"
STEP_GAP_NS = 1_000_000
SIZES = {"ST": (2, 4, 1), "AR": (4, 4, 4), "SE": (32, 2, 2)}  # replicas, stages, ranks per place in the grid, of which the first was recorded
# Operation -> (kind of group, collective, stream). Others are computed.
COMMUNICATION = {
    "forward-send": ("pp", "send", FORWARD_OUT), "forward-recv": ("pp", "recv", FORWARD_IN), "backward-send": ("pp", "send", BACKWARD_OUT),
    "backward-recv": ("pp", "recv", BACKWARD_IN), "params-all-gather": ("dp", "all_gather", DP), "grads-reduce-scatter": ("dp", "reduce_scatter", DP),
    "layernorm-grads-all-reduce": ("tp", "all_reduce", TP), "embedding-grads-all-reduce": ("embedding", "all_reduce", 26),
    "optimizer-clip-main-grad": ("world", "all_reduce", WORLD),
}
ORDER = {"params-all-gather": 0, "grads-reduce-scatter": 1}  # of the operations that share a group, within a step
DIRECTION = {"forward-send": 1, "forward-recv": -1, "backward-send": -1, "backward-recv": 1}  # to the stage at the other end
NAMES = DESCRIPTIONS | {"embedding": "EMBEDDING_GROUP"}
# What an analysis must find, by the publishers' own decomposition and by construction of the jobs.
CULPRITS = {"ST": {"unit": ["stage", 3], "cause": "more work"}, "AR": {"unit": ["rank", 0], "cause": "slow rank"}, "SE": {"unit": ["job"], "cause": "more work"}}


@dataclass
class PublicJob:
    """Columns, one row per operation: rank, replica, stage, step (its number), position of the step, operation, seq, start and end in ns."""

    name: str
    replicas: int
    stages: int
    shards: int
    optypes: list
    rank: np.ndarray
    replica: np.ndarray
    stage: np.ndarray
    step: np.ndarray
    position: np.ndarray
    optype: np.ndarray
    seq: np.ndarray
    start: np.ndarray
    end: np.ndarray
    step_start: np.ndarray  # by position
    result: dict

    @property
    def world(self):
        return self.replicas * self.stages * self.shards

    def recorded_ranks(self):
        return sorted({int(rank) for rank in self.rank})

    def group(self, kind, rank):
        """The ranks of the group of one kind that has this rank."""
        stage, replica = rank // (self.replicas * self.shards), rank // self.shards % self.replicas
        at = lambda p, d: (p * self.replicas + d) * self.shards  # noqa: E731
        if kind == "pp":
            return tuple(at(p, replica) for p in range(self.stages))
        if kind == "dp":
            return tuple(at(stage, d) for d in range(self.replicas))
        if kind == "embedding":
            return (at(0, replica), at(self.stages - 1, replica))
        if kind == "tp":
            return tuple(range(at(stage, replica), at(stage, replica) + self.shards))
        return tuple(range(self.world))


def unpacked(name):
    archive = np.load(io.BytesIO(lzma.decompress((FIXTURES / f"{name}.npz.xz").read_bytes())))
    columns = {key: archive[key] for key in archive.files}
    for key in ("start_ts", "duration"):
        columns[key] = np.ascontiguousarray(columns[key].T).view(np.float32).reshape(-1).astype(np.float64) * 1e9
    return columns


def load(name, steps=None):
    """`steps`: how many, evenly chosen; the publishers' results are for all."""
    columns = unpacked(name)
    numbers = np.unique(columns["step"])
    if steps:
        numbers = numbers[np.linspace(0, len(numbers) - 1, steps).round().astype(int)]
        columns = {key: value[np.isin(columns["step"], numbers)] if key != "optypes" else value for key, value in columns.items()}
    position = np.searchsorted(numbers, columns["step"])
    lengths = np.zeros(len(numbers))
    np.maximum.at(lengths, position, columns["start_ts"] + columns["duration"])
    begins = np.concatenate([[0], np.cumsum(lengths + STEP_GAP_NS)[:-1]])
    start = columns["start_ts"] + begins[position]
    result = json.loads(lzma.decompress((FIXTURES / f"{name}.result.json.xz").read_bytes()))
    return PublicJob(name, *SIZES[name], list(columns["optypes"]), columns["rank"].astype(int), columns["dp_rank"].astype(int), columns["stage"].astype(int),
                     columns["step"], position, columns["optype"].astype(int), columns["seq_id"].astype(int), start, start + columns["duration"], begins, result)


def truth(job):
    """The published results, per step and for all steps, and what must be found."""
    result, numbers = job.result, [int(step) for step in np.unique(job.step)]
    steps = [{"step": step, "ns": round(result["step_t_base"][str(step)] * 1e9), "slowdown": result["blocking_step_slowdown"][str(step)]} for step in numbers]
    shares = {f"slowdown_by_{key}": result[f"blocking_decompose_by_{key}"] for key in ("dp_rank", "stage", "optype")}
    return {"job": {"name": job.name, "dp": job.replicas, "pp": job.stages, "shards": job.shards}, "world": job.world, "recorded": job.recorded_ranks(),
            "steps": steps, "slowdown": result["blocking_slowdown"], **shares, "culprit": CULPRITS[job.name]}


def group_name(kind, ranks):
    return f"{kind}-{ranks[0]}"


def seq_of(job, i, optype):
    """Sequence number of a collective in its group; point-to-point operations are counted by each rank for itself."""
    if optype in DIRECTION:
        return None
    return int(job.step[i]) * 2 + ORDER.get(optype, 0)


def rank_text(job, rank):
    rows = np.flatnonzero(job.rank == rank)
    rows = rows[np.argsort(job.start[rows], kind="stable")]
    kinds = ("world", "pp", "dp", "embedding", "tp")
    groups = {kind: Group(group_name(kind, job.group(kind, rank)), NAMES[kind], job.group(kind, rank)) for kind in kinds if rank in job.group(kind, rank)}
    out = TraceText(rank, job.world, list(groups.values()), 4000)
    out.names({4000: "thread 4000 (python3)"}, {COMPUTE} | {stream for _, _, stream in COMMUNICATION.values()})
    begins = np.rint(job.step_start).astype(np.int64) + START_NS
    for position, number in enumerate(np.unique(job.step)):
        ends = job.end[rows[job.position[rows] == position]]
        out.annotation(f"ProfilerStep#{number}", int(begins[position]), int(ends.max()) + START_NS)
    for number, i in enumerate(rows, 1):
        optype, start = job.optypes[job.optype[i]], round(job.start[i]) + START_NS
        duration = round(job.end[i] - job.start[i])
        if optype == "gc":
            if duration:
                out.annotation("gc", start, start + duration)
            continue
        args = f'"device": 0, "context": 1, "correlation": {number}, '
        if optype not in COMMUNICATION:
            out.event("kernel", optype.replace("-", "_"), 0, COMPUTE, start, duration, f'{args}"stream": {COMPUTE}, ' + LAUNCHED.format(64, 0, 1056, 1, 1, 384, 1, 1))
            continue
        kind, collective, stream = COMMUNICATION[optype]
        group = groups[kind]
        peer = group.ranks[int(job.stage[i]) + DIRECTION[optype]] if kind == "pp" else None
        args += f'"stream": {stream}, {LAUNCHED.format(96, 82240, 24, 1, 1, 544, 1, 1)}, '
        out.event("kernel", nccl_kernel(collective, "BFloat16"), 0, stream, start, duration,
                  args + group.metadata(collective, "BFloat16", 1 << 20, 1 << 20, seq_of(job, i, optype), peer=peer))
    return out.finish(int(begins[0]), round(job.end[rows].max()) + START_NS)


def write_job(job, out, level=1):
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    for rank in job.recorded_ranks():
        (out / f"rank{rank:05d}.json.gz").write_bytes(compressed(rank_text(job, rank), level))
    told = truth(job)
    (out / "truth.json").write_text(json.dumps(told, indent=1) + "\n")
    return told
