"""Collectives inside CUDA graphs: no record describes them, and the host runs ahead. They are matched by step, kind and place.

The jobs are servers with tensor parallelism, whose ranks need different time for their parts; what each collective waits and transfers
is computed here, from the times that the generator chose.
"""

import json
import random

import pytest
from rank_jobs import ranks  # noqa: F401

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

    def write(self, folder):
        document = {"schemaVersion": 1, "baseTimeNanoseconds": 1775078550000000000, "host_name": "server",
                    "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132, "computeMajor": 9, "computeMinor": 0, "warpSize": 32}],
                    "distributedInfo": {"backend": "nccl", "rank": self.rank, "world_size": self.world}, "traceEvents": self.events}
        (folder / f"dp0_pp0_tp{self.rank}_dcp0_ep{self.rank}_rank{self.rank}.1.pt.trace.json").write_text(json.dumps(document))


def job(folder, world, steps, seed, dummy=(), first=0, all_ranks=None):
    """Write one file a rank, from rank `first` on. Returns the waits of each rank by kind. In steps of `dummy` its ranks do work without an annotation."""
    rng = random.Random(seed)
    ranks_ = [Rank(first + rank, all_ranks or world) for rank in range(world)]
    waits = {}
    free = [20000 * US] * world  # the device is 20 ms behind the host
    for step in range(steps):
        for rank in ranks_:
            host = step * 900 * US
            if (step, rank.rank) not in dummy:
                rank.add("user_annotation", f"execute_context_0(0)_generation_{8 + step % 3}({8 + step % 3})", 1, host, host + 300 * US)
            rank.launch(host + 20 * US)
        for kind, name, stream in (("all_reduce", ALL_REDUCE, 21), ("all_gather", ALL_GATHER, 22), ("all_reduce", ALL_REDUCE, 21)):
            compute = [rng.randint(100 * US, 300 * US) for _ in ranks_]
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


@pytest.mark.parametrize("world", [2, 4])
def test_collectives_of_graphs_are_matched(ranks, tmp_path, world):  # noqa: F811
    folder = tmp_path / "job"
    folder.mkdir()
    waits = job(folder, world, 20, world)
    rows = {row["collective"]: row for row in ranks(folder, "rank_collectives")["rank_collectives"]}
    assert {kind: (row["instances"], row["complete_pct"]) for kind, row in rows.items()} == {"all_reduce": (40, 100), "all_gather": (20, 100)}
    for kind, row in rows.items():
        all_waits = [wait for rank in waits[kind] for wait in rank]
        assert row["wait_mean_ns"] == pytest.approx(sum(all_waits) / len(all_waits), abs=2)


def test_dummy_steps_of_an_idle_rank_blame_nobody(ranks, tmp_path):  # noqa: F811
    """Rank 1 has no requests in some steps; it launches the same graph, so that the collectives go on, without an annotation."""
    folder = tmp_path / "job"
    folder.mkdir()
    job(folder, 2, 20, 5, dummy={(step, 1) for step in range(6, 12)})
    rows = ranks(folder, "stragglers")["stragglers"]
    assert rows == [], "arrivals are drawn alike for both ranks"


def test_replicas_are_not_one_group(program, ranks, tmp_path):  # noqa: F811
    """Two replicas of two GPUs each in one world: nothing names the groups, and the collectives of the replicas do not end together."""
    folder = tmp_path / "job"
    folder.mkdir()
    for replica in range(2):
        job(folder, 2, 20, 31 + replica, first=2 * replica, all_ranks=4)
    assert ranks(folder, "rank_collectives")["rank_collectives"] == []
    assert ranks(folder, "stragglers")["stragglers"] == []
