"""A folder of files, one per rank, and what can be wrong with such a folder.

Each kind of damage is chosen by rank, so a test knows what to expect of each file. truth.json has a row per file: what it is, what was done to it.
"""

import gzip
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from . import nsys
from .clocks import Recorded
from .kineto import Options, Writer, host_name, process_id
from .simulate import simulate
from .truth import truth

CUT_AT = 0.6  # of the compressed bytes


@dataclass(frozen=True)
class Damage:
    missing: tuple = ()
    cut: tuple = ()  # the compressed file ends in the middle
    empty: tuple = ()
    twice: tuple = ()  # a second copy under another name
    claims: dict = field(default_factory=dict)  # rank -> the rank that its file gives itself
    shifted: dict = field(default_factory=dict)  # rank -> (first, end): positions of the steps it recorded


NAMES = {
    "rank": lambda job, rank: f"rank{rank:05d}.json.gz",
    "host": lambda job, rank: f"{host_name(job, rank)}_{process_id(job, rank)}.{1_790_861_384_000_000_000 + rank * 131_071}.pt.trace.json.gz",
    "both": lambda job, rank: f"{host_name(job, rank)}-rank{rank}.json.gz",
    "plain": lambda job, rank: f"trace-{hashlib.blake2b(f'{job.name}/{rank}'.encode(), digest_size=5).hexdigest()}.json.gz",
}


def write_rank(writer, out, rank, name, damage, level):
    """Writes one file and says what it is, as a row of truth.json."""
    row = {"rank": rank, "file": name, "host": host_name(writer.job, rank), "status": "whole"}
    if rank in damage.missing:
        return row | {"file": None, "status": "missing"}
    changes = {}
    if rank in damage.claims:
        changes["claimed"] = row["claims"] = damage.claims[rank]
    if rank in damage.shifted:
        changes["steps"] = range(*damage.shifted[rank])
        row["steps"] = [writer.job.first_step + step for step in changes["steps"]]
    writer.write(out / name, rank, level, **changes)
    if rank in damage.cut:
        whole = (out / name).read_bytes()
        (out / name).write_bytes(whole[: int(len(whole) * CUT_AT)])
        row["status"] = "cut"
    if rank in damage.empty:
        (out / name).write_bytes(b"")
        row["status"] = "empty"
    if rank in damage.twice:
        row["copy"] = "copy-of-" + name
        (out / row["copy"]).write_bytes((out / name).read_bytes())
    return row


def write_job(job, seed, out, options=Options(), damage=Damage(), names="rank", ranks=None, told="truth.json", level=1):
    """Simulates a job and writes its folder, with the truth in the file `told`; returns the truth. `level`: of gzip, where 1 is fast and 6 what PyTorch takes."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    run = simulate(job, seed)
    writer = Writer(run, Recorded(job, seed), seed, options)
    true = truth(run, seed)
    true["files"] = [write_rank(writer, out, rank, NAMES[names](job, rank), damage, level) for rank in (range(job.world) if ranks is None else ranks)]
    (out / told).write_text(json.dumps(true, indent=1) + "\n")
    return true


def write_nsys(job, seed, out, ranks=None):
    """The same job as Nsight Systems would export it: rankNNNNN.sqlite and truth.json."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    run = simulate(job, seed)
    clocks = Recorded(job, seed)
    for rank in range(job.world) if ranks is None else ranks:
        nsys.write(run, clocks, rank, out / f"rank{rank:05d}.sqlite")
    true = truth(run, seed)
    (out / "truth.json").write_text(json.dumps(true, indent=1) + "\n")
    return true


def read(path):
    """The JSON of a file that is whole."""
    return json.loads(gzip.decompress(Path(path).read_bytes()))
