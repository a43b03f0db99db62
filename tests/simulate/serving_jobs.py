#!/usr/bin/env python3
"""Simulated jobs of inference servers with several workers, and how well `ranks` tells what they do.

    tests/simulate/serving_jobs.py BINARY [--jobs 60] [--seed ANY] [--show]

Shards of a model (TP) whose collectives are inside CUDA graphs, with a slow shard or without; replicas that are idle in some steps, or whose
recordings begin at different steps; and pipelines of two stages. What each collective waits and transfers is computed here, from the times
that are drawn. Judged are the collectives that are matched, their waits, the places of the workers, and who is called a straggler.
"""

import argparse
import collections
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

US = 1000
ALL_REDUCE, ALL_GATHER = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


class Rank:
    def __init__(self, rank, world):
        self.rank, self.world, self.events, self.correlation = rank, world, [], 0

    def add(self, category, name, tid, start, end, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 100 + self.rank if category != "kernel" else 0, "tid": tid,
                            "ts": start / US, "dur": (end - start) / US, "args": args})

    def launch(self, at):
        self.correlation += 1
        self.add("cuda_runtime", "cudaGraphLaunch", 1, at, at + 5 * US, correlation=self.correlation)

    def kernel(self, name, stream, start, end):
        self.add("kernel", name, stream, start, end, device=0, context=1, stream=stream, correlation=self.correlation, grid=[8, 1, 1], block=[32, 1, 1])

    def write(self, folder, name=None):
        document = {"schemaVersion": 1, "baseTimeNanoseconds": 1775078550000000000, "host_name": "server",
                    "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132, "computeMajor": 9, "computeMinor": 0, "warpSize": 32}],
                    "distributedInfo": {"backend": "nccl", "rank": self.rank, "world_size": self.world}, "traceEvents": self.events}
        (folder / (name or f"dp0_pp0_tp{self.rank}_dcp0_ep{self.rank}_rank{self.rank}.1.pt.trace.json")).write_text(json.dumps(document))


def shards(folder, world, steps, seed, dummy=(), first=0, all_ranks=None, opens=None, slow=None, least=100, most=300):
    """Write one file a rank, from rank `first` on. Returns the waits of each rank by kind. In steps of `dummy` its ranks do work without an annotation.
    A shard computes for `least` to `most` us before each collective. The recordings of ranks in `opens` begin with that step. The kernels of `slow` take 1.4 times as long."""
    rng = random.Random(seed)
    ranks_ = [Rank(first + rank, all_ranks or world) for rank in range(world)]
    waits = {}
    free = [20000 * US] * world  # the device is 20 ms behind the host
    for step in range(steps):
        for rank in ranks_:
            host = step * 900 * US
            if opens and step == opens.get(rank.rank, 0):
                rank.events.clear()
            if (step, rank.rank) not in dummy:
                rank.add("user_annotation", f"execute_context_0(0)_generation_{8 + step % 3}({8 + step % 3})", 1, host, host + 300 * US)
            rank.launch(host + 20 * US)
        for kind, name, stream in (("all_reduce", ALL_REDUCE, 21), ("all_gather", ALL_GATHER, 22), ("all_reduce", ALL_REDUCE, 21)):
            compute = [rng.randint(least * US, most * US) * (7 if rank.rank == slow else 5) // 5 for rank in ranks_]
            arrivals = [free[i] + compute[i] for i in range(world)]
            end = max(arrivals) + 40 * US
            for i, rank in enumerate(ranks_):
                rank.kernel("gemm_bf16_128x128", 7, free[i], arrivals[i])
                skew = rng.randint(-300, 300)
                rank.kernel(name, stream, arrivals[i], end + skew)
                waits.setdefault(kind, [[] for _ in ranks_])[i].append(max(arrivals) - arrivals[i])
                free[i] = end + 1 * US
    for rank in ranks_:
        rank.write(folder)
    return waits


def stages(folder, steps, seed, described):
    """A pipeline of two stages with one GPU each and two batches in flight: while one stage computes one of them, the other computes the other."""
    rng = random.Random(seed)
    pair = [Rank(0, 2), Rank(1, 2)]
    free, sent = [0, 0], []
    for step in range(steps):
        host = step * 700 * US
        arrived = None
        for stage, rank in enumerate(pair):
            compute = rng.randint(400, 600) * US * (1 if stage == 0 else 2)  # the last stage has the head
            start = max(free[stage], host + 20 * US)
            rank.add("user_annotation", f"execute_context_0(0)_generation_{8 + step % 3}({8 + step % 3})", 1, host, host + 100 * US)
            name, more = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", {}
            if described:
                more = {"Collective name": "send" if stage == 0 else "recv", "dtype": "BFloat16", "In msg nelems": 4096, "Out msg nelems": 4096,
                        "Group size": 2, "Process Group Name": "3", "Process Group Description": "undefined", "Process Group Ranks": [0, 1],
                        "Src Rank": 0, "Dst Rank": 1, "Seq": step}
            if stage == 0:
                rank.launch(host + 20 * US)
                rank.kernel("gemm_bf16_128x128", 7, start, start + compute)
                arrived = start + compute + 30 * US
                rank.correlation += 1
                rank.add("cuda_runtime", "cudaLaunchKernel", 1, host + 40 * US, host + 45 * US, correlation=rank.correlation)
                rank.add("kernel", name, 20, start + compute, arrived, device=0, context=1, stream=20, correlation=rank.correlation, grid=[8, 1, 1], block=[32, 1, 1], **more)
                free[0] = max(start + compute, sent[step - 1] if step else 0)
            else:
                rank.correlation += 1
                rank.add("cuda_runtime", "cudaLaunchKernel", 1, host + 10 * US, host + 15 * US, correlation=rank.correlation)
                rank.add("kernel", name, 20, start, max(arrived, start + 30 * US), device=0, context=1, stream=20, correlation=rank.correlation, grid=[8, 1, 1], block=[32, 1, 1], **more)
                rank.launch(host + 20 * US)
                begin = max(arrived, start + 30 * US) + 2 * US
                rank.kernel("gemm_bf16_128x128", 7, begin, begin + compute)
                free[1] = begin + compute
                sent.append(free[1])
    for stage, rank in enumerate(pair):
        rank.write(folder, f"dp0_pp{stage}_tp0_dcp0_ep0_rank{stage}.1.pt.trace.json")


def tables(binary, folder, *names):
    argv = [binary, "ranks", folder, *names, "--format", "json", "--limit", "0", "--cache", Path(folder).parent / "cache"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-300:])
    found = {}
    for table in json.loads(done.stdout)["tables"]:
        columns = [column["name"] for column in table["columns"]]
        found[table["name"]] = [dict(zip(columns, row)) if isinstance(row, list) else row for row in table["rows"]]
    return found


def one(binary, kind, seed):
    """What is wrong about one job."""
    rng = random.Random(f"serving jobs/{seed}")
    world, steps = rng.choice([2, 4, 4, 8]), rng.randint(12, 30)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "job"
        folder.mkdir()
        wrong, instances, slow = [], steps, []
        alike = {"least": 190, "most": 210}  # the noise of equal shards
        if kind == "pipeline":
            stages(folder, steps, seed, rng.random() < 0.5)
        elif kind == "slow shard":
            world = max(world, 4)
            slow = [rng.randrange(world)]
            shards(folder, world, steps, seed, slow=slow[0], **alike)
        elif kind == "idle replica":
            first = rng.randint(2, 6)
            shards(folder, 2, steps, seed, dummy={(step, 1) for step in range(first, first + 4)}, **alike)
        elif kind == "late recordings":
            late = rng.randint(1, 5)
            waits = shards(folder, world, steps, seed, opens={rng.randrange(1, world): late}, **alike)
            instances = steps - late
        else:
            waits = shards(folder, world, steps, seed, **alike)
        found = tables(binary, folder, "ranks", "rank_collectives", "stragglers")
        named = [row["unit"] for row in found["stragglers"] if row["named"] and row["unit"] != "changing ranks"]
        if named != [f"rank {rank}" for rank in slow]:
            wrong.append(f"stragglers {named}, true {slow}")
        if any(row.get("place") is None for row in found["ranks"]):
            wrong.append("a place is unknown")
        if kind in ("shards", "late recordings"):
            rows = {row["collective"]: row for row in found["rank_collectives"]}
            for name, each in (("all_reduce", 2), ("all_gather", 1)):
                complete = rows[name]["instances"] * rows[name]["complete_pct"] / 100 if name in rows else 0
                if round(complete) != each * instances:
                    wrong.append(f"{complete:.0f} of {each * instances} {name} complete")
            if kind == "shards" and not wrong:
                true = [wait for rank in waits["all_reduce"] for wait in rank]
                if abs(rows["all_reduce"]["wait_mean_ns"] - sum(true) / len(true)) > 2:
                    wrong.append(f"waits {rows['all_reduce']['wait_mean_ns']}, true {sum(true) / len(true)}")
    return wrong


KINDS = ("shards", "slow shard", "idle replica", "late recordings", "pipeline")


def main():
    parser = argparse.ArgumentParser(description="Holds `ranks` against simulated servers of several workers.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    total = collections.Counter()
    for i in range(options.jobs):
        kind = KINDS[i % len(KINDS)]
        wrong = one(str(options.binary.resolve()), kind, f"{options.seed}/{i}")
        total[f"{kind}: {'wrong' if wrong else 'right'}"] += 1
        if wrong and options.show:
            print(f"{options.seed}/{i} ({kind}):", *wrong, sep="\n    ")
    for name in sorted(total):
        print(f"{name:30} {total[name]:5}")
    return 1 if any(name.endswith("wrong") for name in total) else 0


if __name__ == "__main__":
    sys.exit(main())
