#!/usr/bin/env python3
"""Writes dumps of PyTorch's flight recorder for a job that hangs, and the truth about it.

    python3 -m tests.ranks.hangs JOB OUT [--json] [--version 2.10]
    python3 -m tests.ranks.hangs --list

Each rank runs a list of calls. The simulation lets every rank call as far as it gets: a collective is complete once all
ranks of its group have called the one with its number, a rank waits for it unless the call is asynchronous, and the
collectives of a group begin in order. What hangs, and who is missing, is planted by a change of one rank's list, and written
down here by hand: it does not come from the simulation.
"""

import argparse
import json
import pickle
import sys
from dataclasses import dataclass, field
from pathlib import Path

BEGIN_NS = 1_790_000_000_000_000_000
CALL_NS = 3_000_000


@dataclass(frozen=True)
class Call:
    """One call: a collective of a group, or a send or receive of a batch."""

    group: str
    name: str = "all_reduce"
    elements: int = 1024
    type: str = "Float"
    wait: bool = True
    peer: int = -1  # global rank, of a send or receive
    line: int = 10


@dataclass
class HungJob:
    groups: dict  # description -> ranks
    programs: dict  # rank -> calls
    truth: dict
    buffer: int = 2000
    without: tuple = ()  # ranks without a dump


@dataclass
class Entry:
    call: Call
    seq: int
    number: int  # of the call on its rank
    time_ns: int
    state: str = "scheduled"


@dataclass
class Rank:
    number: int
    program: list
    entries: list = field(default_factory=list)
    seqs: dict = field(default_factory=dict)  # (group, is it a pair) -> last number
    waits: Entry = None


def is_pair(call):
    return call.name in ("send", "recv")


class Simulation:
    """The ranks of a job, run until none gets further."""

    def __init__(self, job):
        self.job = job
        self.ranks = {rank: Rank(rank, list(program)) for rank, program in job.programs.items()}

    def run(self):
        moved = True
        while moved:
            moved = any([self.advance(rank) for rank in self.ranks.values()])
            moved |= self.complete()
        return self

    def advance(self, rank):
        moved = False
        while rank.program and (rank.waits is None or rank.waits.state == "completed"):
            call = rank.program.pop(0)
            key = call.group, is_pair(call)
            rank.seqs[key] = rank.seqs.get(key, 0) + 1
            entry = Entry(call, rank.seqs[key], len(rank.entries), BEGIN_NS + len(rank.entries) * CALL_NS + rank.number * 1000)
            rank.entries.append(entry)
            rank.waits = entry if call.wait else None
            moved = True
        return moved

    def complete(self):
        """Mark what has begun, and what all ranks of the group have begun as complete."""
        changed = False
        for group, members in self.job.groups.items():
            begun = {}  # number -> entries
            for member in members:
                for entry in self.collectives(member, group):
                    if entry.state == "completed":
                        continue
                    if entry.state == "scheduled":
                        entry.state, changed = "started", True
                    begun.setdefault(entry.seq, []).append(entry)
                    break  # later ones of the group are behind it on its stream
            for entries in begun.values():
                if len(entries) == len(members) and len({entry.call.name for entry in entries}) == 1:
                    for entry in entries:
                        entry.state, changed = "completed", True
        return self.complete_pairs() or changed

    def collectives(self, rank, group):
        return [entry for entry in self.ranks[rank].entries if entry.call.group == group and not is_pair(entry.call)]

    def complete_pairs(self):
        open_ends = {}  # (group, from, to) -> open sends, open receives
        for rank in self.ranks.values():
            for entry in rank.entries:
                if is_pair(entry.call) and entry.state != "completed":
                    entry.state = "started"
                    send = entry.call.name == "send"
                    ends = (rank.number, entry.call.peer) if send else (entry.call.peer, rank.number)
                    open_ends.setdefault((entry.call.group, *ends), ([], []))[0 if send else 1].append(entry)
        changed = False
        for sends, receives in open_ends.values():
            for send, receive in zip(sends, receives, strict=False):
                send.state = receive.state = "completed"
                changed = True
        return changed


def dump_of(job, rank, version, frames=True):
    """Return the dump of one rank, as PyTorch's functions give it."""
    names = {group: str(i) for i, group in enumerate(job.groups)}
    own = [group for group, ranks in job.groups.items() if rank.number in ranks]
    entries = [entry_of(job, rank, entry, names, frames) for entry in rank.entries][-job.buffer:]
    return {"version": version,
            "pg_config": {names[group]: {"name": names[group], "desc": group, "ranks": str(list(job.groups[group]))} for group in own},
            "comm_lib_version": "2.28.9",
            "pg_status": {names[group]: {"last_enqueued_collective": rank.seqs.get((group, False), -1)} for group in own},
            "entries": entries}


def entry_of(job, rank, entry, names, frames):
    call, ranks = entry.call, job.groups[entry.call.group]
    name = call.name
    if is_pair(call):
        mine, peer = ranks.index(rank.number), ranks.index(call.peer)
        name += f" {mine}->{peer}" if name == "send" else f" {mine}<-{peer}"
    collective, pair = rank.seqs.get((call.group, False), 0), rank.seqs.get((call.group, True), 0)
    known = {"scheduled": 0, "started": 1, "completed": 2}[entry.state]
    found = {"record_id": entry.number, "pg_id": int(names[call.group]), "process_group": (names[call.group], call.group),
             "thread_name": "python", "thread_id": "140320178494336",
             "collective_seq_id": collective if is_pair(call) else entry.seq, "p2p_seq_id": entry.seq if is_pair(call) else pair,
             "op_id": entry.number, "profiling_name": f"nccl:{name}", "time_created_ns": entry.time_ns,
             "input_sizes": [[call.elements // 16, 16]], "input_dtypes": [call.type],
             "output_sizes": [[call.elements]], "output_dtypes": [call.type], "state": entry.state,
             "time_discovered_started_ns": entry.time_ns + 1_000_000 if known > 0 else None,
             "time_discovered_completed_ns": entry.time_ns + 2_000_000 if known > 1 else None,
             "retired": known > 1, "timeout_ms": 600_000, "is_p2p": is_pair(call)}
    if frames:
        found["frames"] = [{"filename": "/opt/venv/torch/distributed/distributed_c10d.py", "line": 4174, "name": name.split()[0]},
                           {"filename": "/opt/job/train.py", "line": call.line, "name": "train"},
                           {"filename": "/opt/job/train.py", "line": 99, "name": "<module>"}]
    return found


def write(job, out, version="2.10", as_json=False):
    """Write the dumps and truth.json."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    for rank in Simulation(job).run().ranks.values():
        if rank.number in job.without:
            continue
        dump = dump_of(job, rank, version, frames=not as_json)
        name = f"nccl_trace_rank_{rank.number}"
        if as_json:
            (out / f"{name}.json").write_text(json.dumps(dump, sort_keys=True))
        else:
            (out / name).write_bytes(pickle.dumps(dump, protocol=2))
    (out / "truth.json").write_text(json.dumps(job.truth, indent=1) + "\n")


def training(ranks, steps, world="default_pg", pairs=True):
    """A job with a group of all ranks and one of each two neighbours: an all-gather in the pair, then an all-reduce of all."""
    groups = {world: list(range(ranks))}
    programs = {rank: [] for rank in range(ranks)}
    if pairs:
        groups |= {f"tp{first}": [first, first + 1] for first in range(0, ranks, 2)}
    for _ in range(steps):
        for rank, program in programs.items():
            if pairs:
                program.append(Call(f"tp{rank // 2 * 2}", "_allgather_base", 512, line=21))
            program.append(Call(world, line=24))
    return groups, programs


def missing():
    groups, programs = training(8, 60)
    programs[3] = programs[3][: 2 * 56 + 1]  # leaves the loop before all-reduce 57
    return HungJob(groups, programs, {"root": ["default_pg (0-7)", "all_reduce", 57, "missing rank"], "missing": [3],
                                      "last": "_allgather_base 57 of group tp2 (2,3)", "line": 21})


def queued():
    """Asynchronous all-reduces: all but the first are behind it."""
    groups = {"default_pg": list(range(8))}
    programs = {rank: [Call("default_pg", wait=False) for _ in range(20)] for rank in range(8)}
    programs[6] = programs[6][:15]
    return HungJob(groups, programs, {"root": ["default_pg (0-7)", "all_reduce", 16, "missing rank"], "missing": [6], "behind": 4,
                                      "last": "all_reduce 15 of group default_pg (0-7)", "line": 10})


def chain():
    """Rank 4 leaves before an all-gather of its pair, so rank 5 never gets to the all-reduce of all ranks."""
    groups, programs = training(8, 30)
    programs[4] = programs[4][: 2 * 12]
    return HungJob(groups, programs, {"root": ["tp4 (4,5)", "_allgather_base", 13, "missing rank"], "missing": [4],
                                      "last": "all_reduce 12 of group default_pg (0-7)", "line": 24,
                                      "others": [["default_pg (0-7)", "all_reduce", 13, "waits for another"]]})


def waits():
    """Rank 1 reads data forever before pair (0,1); rank 0 sits there, so nobody of that pair gets to the others' all-reduce."""
    groups = {"default_pg": list(range(6)), "pp": [0, 1], "dp": [0, 2, 4]}
    programs = {rank: [Call("default_pg")] for rank in range(6)}
    programs[0] += [Call("pp", "broadcast", 64, line=31), Call("dp", line=32)]
    for rank in (2, 4):
        programs[rank] += [Call("dp", line=32)]
    return HungJob(groups, programs, {"root": ["pp (0,1)", "broadcast", 1, "missing rank"], "missing": [1],
                                      "last": "all_reduce 1 of group default_pg (0-5)", "line": 10,
                                      "others": [["dp (0,2,4)", "all_reduce", 1, "waits for another"]]})


def mismatch():
    groups, programs = training(8, 40, pairs=False)
    programs[2][19] = Call("default_pg", "_allgather_base", 1024, line=77)
    return HungJob(groups, programs, {"root": ["default_pg (0-7)", "all_reduce", 20, "mismatch"], "missing": [],
                                      "mismatch": "rank 2 called _allgather_base of 1024 Float in train (train.py:77), ranks 0,1,3-7 called all_reduce of 1024 Float"})


def type_mismatch():
    groups, programs = training(4, 10, pairs=False)
    programs[1][5] = Call("default_pg", type="BFloat16", line=77)
    programs[0] = programs[0][:8]
    return HungJob(groups, programs, {"root": ["default_pg (0-3)", "all_reduce", 6, "mismatch"], "missing": [], "behind": 1,
                                      "mismatch": "rank 1 called all_reduce of 1024 BFloat16 in train (train.py:77), ranks 0,2,3 called all_reduce of 1024 Float"})


def size_mismatch():
    groups, programs = training(4, 10, pairs=False)
    programs[3][9] = Call("default_pg", elements=4096)
    programs[0] = programs[0][:9]
    return HungJob(groups, programs, {"root": ["default_pg (0-3)", "all_reduce", 10, "mismatch"], "missing": [0],
                                      "mismatch": "rank 3 called all_reduce of 4096 Float in train (train.py:10), ranks 1,2 called all_reduce of 1024 Float"})


def deadlock():
    """Two groups of the same ranks, used in different orders."""
    groups = {"default_pg": [0, 1], "other": [0, 1]}
    programs = {0: [Call("default_pg"), Call("default_pg"), Call("other", "broadcast")],
                1: [Call("default_pg"), Call("other", "broadcast"), Call("default_pg")]}
    return HungJob(groups, programs, {"root": ["default_pg (0,1)", "all_reduce", 2, "cycle"], "missing": [1],
                                      "last": "broadcast 1 of group other (0,1)", "line": 10,
                                      "others": [["other (0,1)", "broadcast", 1, "cycle"]]})


def overrun():
    """Small buffers: the slow rank is far behind, and its group of two has left the buffer."""
    groups = {"default_pg": list(range(4)), "tp0": [0, 1]}
    programs = {rank: ([Call("tp0")] if rank < 2 else []) + [Call("default_pg", wait=False) for _ in range(200)] for rank in range(4)}
    programs[2] = programs[2][:150]
    return HungJob(groups, programs, {"root": ["default_pg (0-3)", "all_reduce", 151, "missing rank"], "missing": [2], "behind": 49,
                                      "last": "all_reduce 150 of group default_pg (0-3)", "line": 10}, buffer=64)


def unknown():
    """Rank 1 may have called the broadcast of the pair: its buffer does not go back that far."""
    groups = {"pair": [0, 1], "dp": [1, 2]}
    programs = {0: [Call("pair", "broadcast", line=31)], 1: [Call("dp") for _ in range(100)], 2: [Call("dp") for _ in range(100)]}
    return HungJob(groups, programs, {"root": ["pair (0,1)", "broadcast", 1, "unknown"], "missing": [], "unknown": [1]}, buffer=16)


def no_dump():
    groups, programs = training(8, 20, pairs=False)
    programs[6] = programs[6][:11]
    return HungJob(groups, programs, {"root": ["default_pg (0-7)", "all_reduce", 12, "unknown"], "missing": [], "no_dump": [6]}, without=(6,))


def healthy():
    groups, programs = training(4, 20)
    return HungJob(groups, programs, {"root": None})


def pipeline():
    """Stage 2 never receives what stage 1 sends, and stage 3 waits for stage 2."""
    groups = {"default_pg": list(range(4)), "pp": list(range(4))}
    programs = {rank: [Call("default_pg")] for rank in range(4)}
    for batch in range(3):
        for rank in range(4):
            if rank > 0 and not (rank == 2 and batch == 2):
                programs[rank].append(Call("pp", "recv", 256, peer=rank - 1, line=40))
            if rank < 3 and not (rank == 2 and batch == 2):
                programs[rank].append(Call("pp", "send", 256, peer=rank + 1, line=41))
    return HungJob(groups, programs, {"root": ["pp (0-3)", "send 1->2", None, "missing rank"], "missing": [2],
                                      "last": "send 2->3 of group pp (0-3)", "line": 41,
                                      "others": [["pp (0-3)", "recv 3<-2", None, "missing rank"]]})


def large():
    groups, programs = training(64, 20)
    programs[37] = programs[37][: 2 * 15]
    return HungJob(groups, programs, {"root": ["tp36 (36,37)", "_allgather_base", 16, "missing rank"], "missing": [37],
                                      "last": "all_reduce 15 of group default_pg (0-63)", "line": 24,
                                      "others": [["default_pg (0-63)", "all_reduce", 16, "waits for another"]]})


JOBS = {"missing": missing, "queued": queued, "chain": chain, "waits": waits, "mismatch": mismatch, "type": type_mismatch,
        "size": size_mismatch, "deadlock": deadlock, "overrun": overrun, "unknown": unknown, "no_dump": no_dump, "healthy": healthy,
        "pipeline": pipeline, "large": large}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="tests.ranks.hangs", description=__doc__.splitlines()[0])
    parser.add_argument("job", nargs="?", choices=sorted(JOBS))
    parser.add_argument("out", nargs="?")
    parser.add_argument("--list", action="store_true", help="list the jobs")
    parser.add_argument("--json", action="store_true", help="the form of _dump_nccl_trace_json, without stacks")
    parser.add_argument("--version", default="2.10")
    options = parser.parse_args(arguments)
    if options.list or not options.out:
        print("\n".join(JOBS))
        return 0 if options.list else 2
    write(JOBS[options.job](), options.out, options.version, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
