"""Process groups as PyTorch names and numbers them: names, descriptions, ranks, sequence numbers, and the id of one operation.

Facts from torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp and torch/csrc/profiler/util.cpp of PyTorch: collectives of a group are counted by one sequence
number; point-to-point operations by another one, which each rank counts for itself, so the two ends of a transfer may have different numbers. `Comms Id` is
a hash of name, number, kind and topology: it names one operation, not a communicator. Lists of more than 30 ranks are cut.
"""

import functools
import hashlib

from .program import POINT_TO_POINT

CUT = 30
DESCRIPTIONS = {"world": "default_pg", "tp": "TENSOR_MODEL_PARALLEL_GROUP", "dp": "DATA_PARALLEL_GROUP", "pp": "PIPELINE_MODEL_PARALLEL_GROUP",
                "ep": "EXPERT_MODEL_PARALLEL_GROUP", "cp": "CONTEXT_PARALLEL_GROUP"}
COLLECTIVES = {"all_reduce": "allreduce", "all_gather": "_allgather_base", "reduce_scatter": "_reduce_scatter_base", "all_to_all": "all_to_allv",
               "send": "send", "recv": "recv"}


def kinds(job):
    """The kinds of groups that have more than one rank, in the order of their creation."""
    sizes = {"tp": job.tp, "pp": job.pp, "dp": job.dp, "ep": job.ep, "cp": job.dp if job.rings else 1}
    return ["world"] + [kind for kind, size in sizes.items() if size > 1]


def group_names(job, shared):
    """(kind, index) -> name. All ranks create all groups, so names are unique; with `shared`, groups of one kind have one name, as after a split."""
    names, count = {}, 0
    for kind in kinds(job):
        for index in range(len(job.groups(kind))):
            names[kind, index] = str(count)
            count += 0 if shared else 1
        count += 1 if shared else 0
    return names


def text_of(values):
    shown = ", ".join(str(value) for value in values[:CUT])
    return f"[{shown}, ...]" if len(values) > CUT else f"[{shown}]"


def stride_of(ranks):
    strides = {b - a for a, b in zip(ranks, ranks[1:])} or {1}
    return strides.pop() if len(strides) == 1 else -1


@functools.lru_cache(100_000)  # members of a group share it
def comms_id(name, seq, p2p, ranks):
    key = f"{name}/{seq}/{p2p}/{ranks[0]}/{stride_of(ranks)}/{len(ranks)}".encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "little")


def sequence_positions(ops):
    """For each operation with a group: its position among those of its group and counter in one step; and the count of each counter per step."""
    counts, positions = {}, []
    for op in ops:
        key = (op.group, op.kind in POINT_TO_POINT)
        positions.append(counts.get(key, 0))
        if op.group:
            counts[key] = counts.get(key, 0) + 1
    return positions, counts
