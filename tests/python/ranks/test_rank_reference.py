"""The reference analysis of stragglers (tests/ranks/reference.py) against simulated truth and published results.

It is what `gpu-profile ranks` is compared with, so it must be right first: names, causes and prices of planted faults, and nobody in clean jobs.
"""

import sys
from dataclasses import replace

import numpy as np
import pytest
from conftest import FIXTURES
from nightly import times

sys.path.insert(0, str(FIXTURES.parents[1]))

from tests.ranks import from_files  # noqa: E402
from tests.ranks.align import align  # noqa: E402
from tests.ranks.clocks import Recorded  # noqa: E402
from tests.ranks.events import COLUMNS, of_run  # noqa: E402
from tests.ranks.folder import Damage, read, write_job  # noqa: E402
from tests.ranks.kineto import Options  # noqa: E402
from tests.ranks.jobs import named  # noqa: E402
from tests.ranks.reference import Analysis, judge, public_slowdowns, stragglers  # noqa: E402
from tests.ranks.simulate import simulate  # noqa: E402
from tests.ranks.truth import truth  # noqa: E402

PLANTED = ("gpu", "host", "data", "pause", "checkpoint", "link", "work", "gap", "mixed", "hidden")
CLEAN = ("clean-8", "clean-16", "clean-64", "experts", "overlap", "islands", "jump", "noisy")


def analysed(name, seed):
    run = simulate(named()[name][1](name), seed)
    return run, stragglers(Analysis(of_run(run, Recorded(run.job, seed))))


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_named_and_priced(name):
    """Cost within 0.5 % of the step or 5 % of the truth, alone within 25 %."""
    run, (step, ideal, found) = analysed(name, 17)
    told = truth(run, 17)
    assert judge(found, told) == ([], [])
    assert step == pytest.approx(told["step_ns"], rel=0.002)
    assert step / ideal == pytest.approx(told["slowdown"], rel=0.01)
    known = {(tuple(fault["unit"]), fault["cause"]): fault for fault in told["faults"]}
    for unit in found:
        fault = known[unit.unit, unit.cause]
        assert abs(unit.cost - fault["cost_ns"]) <= max(0.005 * step, 0.05 * fault["cost_ns"]), unit.unit
        assert abs(unit.alone - fault["alone_ns"]) <= 0.25 * fault["alone_ns"], unit.unit


@pytest.mark.parametrize("name", CLEAN)
@pytest.mark.parametrize("seed", times([1, 2, 3], [1]))
def test_nobody_is_named_in_a_clean_job(name, seed):
    _, (_, _, found) = analysed(name, seed)
    assert found == []


def test_a_fault_that_is_not_repaired_by_peers_is_underrated_and_not_overrated():
    """Half of the peers are slow: the median is halfway, so the price is a lower bound."""
    run, (_, _, found) = analysed("half", 1)
    (fault,) = truth(run, 1)["faults"]
    assert [unit.unit for unit in found] == [("host", 2)]
    assert 0.3 * fault["cost_ns"] < found[0].cost < fault["cost_ns"]


@pytest.mark.parametrize("name, steps, allowed", [("ST", None, 0.001), ("AR", None, 0.005), ("SE", 6, 0.02)])
def test_slowdowns_of_public_jobs_are_the_published_ones(name, steps, allowed):
    """The ideal is a mean over the steps that are read, so fewer steps differ a little more."""
    computed, published, _, _ = public_slowdowns(name, steps)
    assert len(computed) == (steps or len(published))
    assert np.abs(computed / published - 1).max() < allowed


@pytest.mark.parametrize("seq", [True, False])
def test_files_say_what_was_simulated(tmp_path, seq):
    """Every event of every file, to the nanosecond, and who belongs to one instance, also without sequence numbers."""
    job = replace(named()["experts"][1]("experts"), steps=3, tp=2)
    write_job(job, 1, tmp_path, Options(seq=seq))
    from_run, from_folder = of_run(simulate(job, 1), Recorded(job, 1)), from_files.of_folder(tmp_path, read)
    for column in set(COLUMNS) - {"group", "seq", "name", "blocks"}:
        assert np.array_equal(getattr(from_run, column), getattr(from_folder, column)), column
    for key in ("begin", "fetched", "done"):
        assert np.abs(getattr(from_run, key) - getattr(from_folder, key)).max() <= (1_001 if key == "fetched" else 1)
    partners = []
    for events in (from_run, from_folder):
        found = {}
        for row in np.flatnonzero(events.group >= 0):
            kind, ranks = events.groups[events.group[row]]
            found.setdefault((kind, ranks, events.seq[row]), set()).add(int(row))
        partners.append({frozenset(rows) for rows in found.values()})
    assert partners[0] == partners[1]


def test_ranks_without_files_make_nobody_guilty(tmp_path):
    """Ranks that wait for one without a file are not to blame, and the others keep their names and prices alone."""
    job = replace(named()["hidden"][1]("hidden"), steps=8)
    told = write_job(job, 1, tmp_path, damage=Damage(missing=(1, 9), cut=(2,)))
    _, _, found = stragglers(Analysis(from_files.of_folder(tmp_path, read)))
    assert judge(found, told) == ([], [])
    known = {tuple(fault["unit"]): fault for fault in told["faults"]}
    for unit in found:
        assert unit.alone == pytest.approx(known[unit.unit]["alone_ns"], rel=0.1)


@pytest.mark.parametrize("lost, seq", [(0.01, True), (0.05, True), (0.05, False)])
def test_lost_events_make_nobody_guilty(tmp_path, lost, seq):
    """Their launches were recorded. The price alone stays within its bound; what a fault costs now may be underrated."""
    job = replace(named()["hidden"][1]("hidden"), steps=8)
    told = write_job(job, 3, tmp_path, Options(seq=seq, lost=lost))
    _, _, found = stragglers(Analysis(from_files.of_folder(tmp_path, read)))
    assert judge(found, told) == ([], [])
    known = {tuple(fault["unit"]): fault for fault in told["faults"]}
    for unit in found:
        assert unit.alone == pytest.approx(known[unit.unit]["alone_ns"], rel=0.25)
        assert unit.cost < 1.05 * known[unit.unit]["cost_ns"] + 0.005 * told["step_ns"]


def test_a_slow_link_of_a_group_with_a_missing_rank_is_not_named(tmp_path):
    """The missing rank may be the late one."""
    job = replace(named()["link"][1]("link"), steps=8)
    told = write_job(job, 1, tmp_path, damage=Damage(missing=(job.groups("dp")[1][2],)))
    missing, wrong = judge(stragglers(Analysis(from_files.of_folder(tmp_path, read)))[2], told)
    assert (missing, wrong) == ([(("group", "dp", 1), "slow link")], [])


def test_a_jump_of_a_clock_is_found():
    job = named()["jump"][1]("jump")
    run = simulate(job, 2)
    clocks = Recorded(job, 2)
    found = align(of_run(run, clocks))
    (host, height) = job.clocks.jump
    assert list(found.jumps) == [host]
    at, number = found.jumps[host]
    middle = np.mean(clocks.span(run))
    assert abs(at - clocks.host_times(job.host_ranks(host)[0], middle, clocks.span(run))) < 20e6  # the next event after it
    assert found.offset[number] - found.offset[host] == pytest.approx(height, abs=50e3)
