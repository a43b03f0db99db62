"""The reference analysis of stragglers (tests/ranks/reference.py) against simulated truth and published results.

It is what `gpu-profile ranks` is compared with, so it must be right first: names, causes and prices of planted faults, and nobody in clean jobs.
"""

import sys

import numpy as np
import pytest
from conftest import FIXTURES

sys.path.insert(0, str(FIXTURES.parents[1]))

from tests.ranks.clocks import Recorded  # noqa: E402
from tests.ranks.events import of_run  # noqa: E402
from tests.ranks.jobs import named  # noqa: E402
from tests.ranks.reference import Analysis, judge, public_slowdowns, stragglers  # noqa: E402
from tests.ranks.simulate import simulate  # noqa: E402
from tests.ranks.truth import truth  # noqa: E402

PLANTED = ("gpu", "host", "data", "pause", "link", "work", "gap", "mixed", "hidden")
CLEAN = ("clean-8", "clean-16", "clean-64", "experts", "overlap", "islands")


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
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nobody_is_named_in_a_clean_job(name, seed):
    _, (_, _, found) = analysed(name, seed)
    assert found == []


def test_a_fault_that_is_not_repaired_by_peers_is_underrated_and_not_overrated():
    """Half of the peers are slow: the median is halfway, so the price is a lower bound."""
    run, (_, _, found) = analysed("half", 1)
    (fault,) = truth(run, 1)["faults"]
    assert [unit.unit for unit in found] == [("host", 2)]
    assert 0.3 * fault["cost_ns"] < found[0].cost < fault["cost_ns"]


@pytest.mark.parametrize("name, steps, allowed", [("ST", None, 0.001), ("AR", None, 0.005), ("SE", 12, 0.02)])
def test_slowdowns_of_public_jobs_are_the_published_ones(name, steps, allowed):
    """The ideal is a mean over the steps that are read, so fewer steps differ a little more."""
    computed, published, _, _ = public_slowdowns(name, steps)
    assert len(computed) == (steps or len(published))
    assert np.abs(computed / published - 1).max() < allowed
