"""Collectives that do not say which one they are: batches of sends and receives, CUDA graphs, repeated numbers, steps without numbers.

They are matched where program order makes them certain, and counted with a reason where it does not; never matched wrongly.
"""

import collections
from dataclasses import replace

import pytest
from rank_jobs import jobs, ranks  # noqa: F401

from tests.ranks import jobs as named_jobs
from tests.ranks.program import programs
from tests.ranks.trace_text import LAUNCHED, Group, TraceText, nccl_kernel

US = 1_000
STREAM = 20


def first_answer(program, place, folder):
    return " ".join(program.run("ranks", place, "--cache", folder / "cache").stdout.decode().split())


def losses_of(ranks, place):
    counts = collections.Counter()
    for row in ranks(place, "losses")["losses"]:  # one for each rank
        counts[row["kind"]] += row["count"]
    return counts


def rows_of_kind(ranks, place, kind):
    return [row for row in ranks(place, "rank_collectives")["rank_collectives"] if row["collective"] == kind]


class Rank:
    """The file of one rank, drawn step by step: collectives in a group of all ranks that end together, at 10 us after a given time."""

    def __init__(self, rank, world, name="ProfilerStep#{}"):
        self.group = Group("0", "default_pg", range(world))
        self.rank, self.name = rank, name
        self.out = TraceText(rank, world, [self.group], 4000 + rank)
        self.out.names({self.out.pid: "thread 1 (python3)"}, {STREAM})
        self.correlation, self.now = 0, 1_000_000

    def step(self, number, calls):
        begin = self.now
        for i, call in enumerate(calls):
            call(self, begin + 200 * US * (i + 1))
        self.now = begin + 200 * US * (len(calls) + 2)
        self.out.annotation(self.name.format(number), begin, self.now - 1)

    def launch(self, at, linked=""):
        self.correlation += 1
        self.out.event("cuda_runtime", "cudaLaunchKernelExC", self.out.pid, self.out.pid, at, 5 * US, f'{linked}"cbid": 430, "correlation": {self.correlation}')

    def kernel(self, at, collective, metadata=""):
        args = f'"device": 0, "context": 1, "stream": {STREAM}, "correlation": {self.correlation}, {LAUNCHED.format(96, 82240, 24, 1, 1, 544, 1, 1)}'
        self.out.event("kernel", nccl_kernel(collective, "BFloat16"), 0, STREAM, at + 10 * US + self.rank * US, 100 * US - self.rank * US, args + metadata)

    def record(self, at, metadata):
        self.out.external += 1
        args = f'"External id": {self.out.external}, "Record function id": 0, {metadata}'
        self.out.event("cpu_op", "record_param_comms", self.out.pid, self.out.pid, at, 3 * US, args)

    def write(self, folder):
        folder.mkdir(exist_ok=True)
        (folder / f"rank{self.rank:05d}.json").write_text(self.out.finish(900_000, self.now))


def all_reduce(seq):
    """A collective whose kernel has the number `seq`."""
    def call(rank, at):
        rank.launch(at)
        rank.kernel(at, "all_reduce", ", " + rank.group.metadata("all_reduce", "BFloat16", 4096, 4096, seq))
    return call


def batch(*ends):
    """batch_isend_irecv: ("send", peer) and ("recv", peer); the records have ended when the only kernel is launched."""
    def call(rank, at):
        for i, (kind, peer) in enumerate(ends):
            rank.record(at - (40 - 4 * i) * US, rank.group.metadata(kind, "BFloat16", 1024, 1024, 7, peer=peer))
        rank.launch(at)
        rank.kernel(at, "send")
    return call


def draw(folder, world, steps, calls_of, **options):
    for number in range(world):
        rank = Rank(number, world, **options)
        for step in range(10, 10 + steps):
            rank.step(step, calls_of(number, step))
        rank.write(folder)
    return folder


def test_batches_with_one_neighbour_are_matched(program, ranks, jobs, tmp_path):
    """Megatron's steady state: one kernel sends to a stage and receives from it. The price is that of the truth."""
    place, truth = jobs("gpu", "--steps", "10", "--batched")
    (row,) = [row for row in ranks(place, "stragglers")["stragglers"] if row["named"]]
    assert (row["unit"], row["cost_ns"]) == ("rank 5", pytest.approx(truth["faults"][0]["cost_ns"], rel=0.05))
    job = replace(named_jobs.named()["gpu"][1]("gpu"), steps=10)
    size, pairs, steps = 2 * job.model.activation, job.dp, job.steps
    found = {row["bytes"]: row for row in rows_of_kind(ranks, place, "send_recv")}
    # Of 4 micro-batches the first stage has 3 in the steady state; the first send and the last receive are single.
    assert {size_: row["instances"] for size_, row in found.items()} == {2 * size: 3 * pairs * steps, size: 2 * pairs * steps}
    for row in found.values():
        assert (row["complete_pct"], row["matched_by"]) == (100, "order in the step")
        assert row["transfer_p50_ns"] == pytest.approx(job.network.p2p, rel=0.05)
    assert not losses_of(ranks, place).keys() & {"several_transfers", "undescribed_collective"}


def around(rank, world):
    """Every rank sends to the next one and receives from the one before, by one kernel: it waits for both."""
    return batch(("send", (rank + 1) % world), ("recv", (rank - 1) % world))


def test_each_batch_of_a_ring_is_matched_with_its_neighbours(ranks, tmp_path):
    world, steps = 4, 5
    ring = draw(tmp_path / "ring", world, steps, lambda rank, step: [all_reduce(step), around(rank, world)])
    assert losses_of(ranks, ring) == {}
    (row,) = rows_of_kind(ranks, ring, "send_recv")
    assert (row["instances"], row["complete_pct"], row["bytes"]) == (world * steps, 100, 4096)


def test_a_batch_of_transfers_and_collectives_is_counted(program, ranks, tmp_path):
    """One kernel for a send and a reduction: nothing tells which ranks it waits for."""
    def both(rank):
        def call(to, at):
            to.record(at - 40 * US, to.group.metadata("send" if rank % 2 == 0 else "recv", "BFloat16", 1024, 1024, 7, peer=rank ^ 1))
            to.record(at - 36 * US, to.group.metadata("all_reduce", "BFloat16", 1024, 1024, 900))
            to.launch(at)
            to.kernel(at, "send")
        return call

    place = draw(tmp_path / "both", 4, 5, lambda rank, step: [all_reduce(step), both(rank)])
    assert losses_of(ranks, place) == {"several_transfers": 20}
    assert rows_of_kind(ranks, place, "send_recv") == []
    assert "20 collectives were matched with no other rank" in first_answer(program, place, tmp_path)
    assert "20 in batches of different collectives" in first_answer(program, place, tmp_path)


def test_a_batch_of_one_call_is_that_call(ranks, tmp_path):
    pair = draw(tmp_path / "pair", 2, 5, lambda rank, step: [all_reduce(step), batch(("send", 1) if rank == 0 else ("recv", 0))])
    assert [(row["instances"], row["bytes"], row["complete_pct"]) for row in rows_of_kind(ranks, pair, "send_recv")] == [(5, 2048, 100)]


def test_records_that_launched_nothing_are_not_of_a_later_kernel(ranks, tmp_path):
    """Transfers captured into a graph have records and a launch, but no kernel; the next kernel without a record is not theirs."""
    def captured_then_unknown(rank, at):
        rank.record(at - 60 * US, rank.group.metadata("send", "BFloat16", 1024, 1024, 7, peer=1 - rank.rank))
        rank.launch(at - 50 * US)  # captured: it has no kernel
        rank.launch(at)
        rank.kernel(at, "send")

    place = draw(tmp_path / "captured", 2, 5, lambda rank, step: [all_reduce(step), captured_then_unknown])
    assert losses_of(ranks, place)["undescribed_collective"] == 10
    assert rows_of_kind(ranks, place, "send_recv") == []


def test_collectives_in_graphs_are_counted_and_the_others_matched(program, ranks, jobs, tmp_path):
    place, truth = jobs("link", "--steps", "10", "--graphs")
    job = replace(named_jobs.named()["link"][1]("link"), steps=10)
    in_graphs = sum(sum(op.group == "tp" for op in ops) * job.dp * job.tp for ops in programs(job)) * job.steps
    assert losses_of(ranks, place)["graph_collective"] == in_graphs
    kinds = {row["collective"]: row for row in ranks(place, "rank_collectives")["rank_collectives"]}
    assert set(kinds) == {"send_recv", "reduce_scatter", "all_gather"}
    assert all(row["complete_pct"] == 100 for row in kinds.values())
    # What the graphs hide makes prices too low, and is said; no other unit is listed.
    for row in ranks(place, "stragglers")["stragglers"]:
        assert row["unit"].startswith("group DATA_PARALLEL") and row["cause"] == "slow link"
    said = first_answer(program, place, tmp_path)
    assert f"{in_graphs:,} in CUDA graphs; waiting in them counts as communication, so prices may be too low" in said
    assert "high confidence" not in said


def test_numbers_that_replays_repeat_are_matched_by_turn(ranks, tmp_path):
    """A writer that copies what was captured to each replay gives all of them one number. Rank 2 began to record later."""
    def calls(rank, step):
        return [all_reduce(3), all_reduce(4)] * (1 if (rank, step) == (2, 10) else 2)

    place = draw(tmp_path / "replays", 4, 6, calls)
    (row,) = rows_of_kind(ranks, place, "all_reduce")
    assert row["matched_by"] == "order in the step"
    assert row["instances"] == 2 * 2 * 5  # nothing of the step in which one rank lacks a replay
    assert row["complete_pct"] == 100


def test_steps_without_numbers_are_said(program, ranks, tmp_path):
    place = draw(tmp_path / "unnumbered", 4, 6, lambda rank, step: [all_reduce(step), all_reduce(step + 100)], name="training_step")
    assert losses_of(ranks, place) == {"steps_by_order": 4}
    said = first_answer(program, place, tmp_path)
    assert "the steps of 4 ranks have no numbers and were matched by their order (see the table losses)" in said
    numbered = draw(tmp_path / "numbered", 4, 6, lambda rank, step: [all_reduce(step)], name="training_step {}")
    assert losses_of(ranks, numbered) == {}


def test_ranks_out_of_step_copies_and_foreign_files_are_counted(program, ranks, jobs, tmp_path):
    place, truth = jobs("cut")
    said = first_answer(program, place, tmp_path)
    assert "14 of 16 ranks: 2 cut, 1 unreadable, 1 missing" in said
    assert "1 second copy and 1 file that is not a recording skipped" in said  # truth.json
    assert "1 rank recorded other steps than most: 13" in said
    reasons = {row["rank"]: row["reason"] for row in ranks(place, "ranks")["ranks"]}
    assert reasons[13] == "recorded steps 14-29; most ranks recorded 10-29"
    assert reasons[0] is None
