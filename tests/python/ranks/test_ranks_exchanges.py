"""Batches of sends and receives with several ranks at once: interleaved pipelines, and rings, against the truth of simulated jobs."""

from dataclasses import replace

import numpy as np
import pytest
from nightly import times
from rank_jobs import job_cache, jobs, ranks  # noqa: F401
from test_ranks_clean import answer_of
from test_ranks_truth import check_clocks

from tests.ranks import clean
from tests.ranks import jobs as named_jobs
from tests.ranks.folder import Damage, write_job
from tests.ranks.kineto import Options
from tests.ranks.program import programs
from tests.ranks.simulate import simulate
from tests.ranks.truth import truth

MS = 1_000_000
SHORT = ("--steps", "8")
# Rings, an interleaved pipeline and both; a pause, a slow host, late data and a slow GPU. All at night.
CLEAN = times(range(100), (0, 1, 6, 8))
FAULTY = times(range(100), (0, 1, 2, 4))


def described(job):
    return named_jobs.named()[job][1](job)


def batches(rows):
    return [row for row in rows["rank_collectives"] if row["collective"] == "send_recv"]


@pytest.mark.parametrize(("name", "unit"), [("interleaved-gpu", "rank 6"), ("ring-gpu", "rank 5")])
def test_a_slow_gpu_has_its_price(ranks, jobs, name, unit):
    place, told = jobs(name, *SHORT)
    tables = ranks(place, "stragglers", "losses", "rank_collectives")
    named = [row for row in tables["stragglers"] if row["named"]]
    assert [(row["unit"], row["cause"]) for row in named] == [(unit, "slow GPU")]
    assert named[0]["cost_ns"] == pytest.approx(told["faults"][0]["cost_ns"], rel=0.02)
    assert "several_transfers" not in {row["kind"] for row in tables["losses"]}
    assert sum(row["instances"] for row in batches(tables)) == made_by(replace(described(name), steps=8))
    assert {(row["complete_pct"], row["matched_by"]) for row in batches(tables)} == {(100, "order in the step")}


def made_by(job):
    """Kernels of batches, or pairs of them that exchange with each other only."""
    kernels = sum(op.kind in ("batch", "ring") for ops in programs(job) for op in ops) * job.dp * job.tp * job.steps
    ends = {}
    for p, ops in enumerate(programs(job)):
        for i, op in enumerate(ops):
            for edge in op.edges:
                ends.setdefault(edge.tag, []).append((p, i))
    partners = {}
    for a, b in ends.values():
        partners.setdefault(a, set()).add(b)
        partners.setdefault(b, set()).add(a)
    pairs = sum(len(of) == 1 and len(partners[next(iter(of))]) == 1 for of in partners.values()) // 2
    return kernels - pairs * job.dp * job.tp * job.steps


@pytest.mark.parametrize("name", ["interleaved", "ring"])
@pytest.mark.parametrize("seed", times([1, 2], [1]))
def test_nobody_is_named_without_a_fault(ranks, jobs, name, seed):
    place, told = jobs(name, *SHORT, seed=seed)
    tables = ranks(place, "stragglers", "rank_collectives", "hosts")
    assert [row["unit"] for row in tables["stragglers"] if row["named"]] == []
    network = described(name).network
    for row in batches(tables):
        assert row["transfer_p50_ns"] == pytest.approx(network.ring if name == "ring" else network.p2p, rel=0.05)


def test_clocks_that_only_exchanges_connect_are_aligned(ranks, jobs):
    """Each stage of the interleaved pipeline is on one host, and each of its batches waits for two neighbours."""
    place, told = jobs("interleaved", *SHORT)
    rows = ranks(place, "hosts")["hosts"]
    assert {row["island"] for row in rows} == {0}
    assert len(check_clocks(rows, told, told["step_ns"] * 4)) == 16


def test_each_rank_waits_for_its_neighbours(ranks, jobs):
    """The sum of a rank's waits is that of the simulation's true times, but for waits that the clocks cannot tell."""
    place, _ = jobs("ring-gpu", *SHORT)
    job = replace(described("ring-gpu"), steps=8)
    run = simulate(job, 1)
    waited = 0
    for i, op in enumerate(run.programs[0]):
        if op.group in ("cp", "dp", "tp", "world"):
            start = run.start[0][:, i]  # [step, replica, shard]
            if op.group == "cp":
                last = np.maximum.reduce([start, np.roll(start, 1, 1), np.roll(start, -1, 1)])
            else:
                last = start.max(axis={"dp": 1, "tp": 2, "world": (1, 2)}[op.group], keepdims=True)
            waited = waited + (last - start)
    for row in ranks(place, "ranks")["ranks"]:
        _, replica, shard = job.place(row["rank"])
        # Of 48 kernels a step, those that waited less than 3 x the clocks' error count as nothing.
        assert row["wait_ns"] == pytest.approx(waited[:, replica, shard].mean(), abs=2 * MS)


FAULTS = {
    "late data": lambda job: named_jobs.late_data(job, 1, 60 * MS, range(job.steps)),
    "slow host": lambda job: named_jobs.slow_host(job, 1, 20.0),
    "pause": lambda job: named_jobs.Fault("pause", ("rank", 6), (6,), ns=80 * MS, range="gc.collect"),
    "slow link": lambda job: named_jobs.slow_link("cp", 1, 4.0),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_other_faults_around_a_ring(ranks, tmp_path, fault):
    job = named_jobs.ring("ring-fault", dp=4, tp=4, per_host=4, steps=8)
    job = replace(job, faults=(FAULTS[fault](job),))
    write_job(job, 3, tmp_path / "job", Options(host_name=True), Damage(), "rank")
    told = truth(simulate(job, 3), 3)
    named = [row for row in ranks(tmp_path / "job", "stragglers")["stragglers"] if row["named"]]
    (expected,) = told["faults"]
    assert len(named) == 1, named
    assert named[0]["cost_ns"] == pytest.approx(expected["cost_ns"], rel=0.05, abs=0.005 * told["step_ns"])


@pytest.mark.parametrize("steps", ["12:18", "slowest:5", "9"])
def test_some_of_the_steps(ranks, jobs, steps):
    """Batches keep their transfers where only some steps are read."""
    place, told = jobs("interleaved-gpu", *SHORT)
    tables = ranks(place, "stragglers", "rank_collectives", "--steps", steps)
    (row,) = [row for row in tables["stragglers"] if row["named"]]
    assert row["cost_ns"] == pytest.approx(told["faults"][0]["cost_ns"], rel=0.05)
    assert {row["complete_pct"] for row in batches(tables)} == {100}


@pytest.mark.parametrize("lost", [["--lost", "5"], ["--lost", "5", "--no-seq"]])
@pytest.mark.parametrize("name", ["interleaved-gpu", "ring-gpu"])
def test_lost_transfers_name_nobody_and_absolve_nobody(program, jobs, job_cache, name, lost):
    place, _ = jobs(name, *SHORT, *lost)
    said = " ".join(program.run("ranks", place, "--cache", job_cache).stdout.decode().split())
    assert "cannot tell" in said


@pytest.mark.parametrize("name", ["interleaved-gpu", "ring-gpu"])
def test_without_numbers_the_answer_is_not_sure_or_right(program, ranks, jobs, job_cache, name):
    """Ends of batches do not agree, so their order may remain uncertain; then waiting in them counts as communication."""
    place, told = jobs(name, *SHORT, "--no-seq")
    said = " ".join(program.run("ranks", place, "--cache", job_cache).stdout.decode().split())
    named = [row for row in ranks(place, "stragglers")["stragglers"] if row["named"]]
    assert {row["unit"] for row in named} <= {f"rank {told['faults'][0]['unit'][1]}"}
    right = [row["cost_ns"] == pytest.approx(told["faults"][0]["cost_ns"], rel=0.05) for row in named]
    assert right == [True] or ("low confidence" in said and "waits and prices are unreliable" in said)


@pytest.mark.parametrize("number", CLEAN)
def test_nobody_is_named_in_drawn_jobs(program, tmp_path, number):
    job, options = clean.exchanging_job(number)
    _, rows = answer_of(program, tmp_path, job, options, number)
    assert not [row for row in rows if row["named"]], job


@pytest.mark.parametrize("number", FAULTY)
def test_drawn_faults_have_their_price_or_nobody_is_absolved(program, tmp_path, number):
    job, options = clean.exchanging_job(number, fault=True)
    verdict, rows = answer_of(program, tmp_path, job, options, number)
    told = truth(simulate(job, number), number)
    (expected,) = told["faults"]
    named = [row for row in rows if row["named"]]
    culprits = {f"rank {rank}" for rank in expected["ranks"]}
    assert {row["unit"] for row in named if not row["unit"].startswith("host ")} <= culprits
    if verdict["confidence"] == "low":
        return
    assert named or expected["named"] != "must", (job, verdict)
    for row in named:
        assert row["cost_ns"] == pytest.approx(expected["cost_ns"], rel=0.07, abs=0.005 * told["step_ns"])
