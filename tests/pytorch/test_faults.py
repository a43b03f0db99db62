"""Faults planted in real processes: what `ranks` names, and what it says they cost. Without a fault it accuses nobody."""

from pathlib import Path

import pytest
from jobs import launch
from rank_jobs import ranks  # noqa: F401

FAULTS = Path(__file__).with_name("faults.py")
ACCUSED = ("rank", "host", "group")


@pytest.fixture
def tables(ranks, tmp_path):
    """Return a function that runs the job with a fault and returns its tables."""

    def run(fault):
        launch(tmp_path, 4, FAULTS, "traces", fault)
        return ranks(tmp_path / "traces", "stragglers", "rank_collectives")

    return run


def named(tables):
    """Not what a machine with fewer cores than processes does to a rank by chance."""
    return [row for row in tables["stragglers"] if row["named"] and row["unit"].startswith(ACCUSED) and row["cost_pct"] > 10]


@pytest.mark.parametrize(("fault", "unit", "cause", "cost_ms"), [("slow_host", "rank 2", "slow host", 20), ("pause", "rank 3", "pauses", 20)])
def test_a_fault_is_named_and_priced(tables, fault, unit, cause, cost_ms):
    """Waiting for the other ranks hides a part of a delay in every step, so its price may be lower than what was planted."""
    found = tables(fault)
    assert [(row["unit"], row["cause"]) for row in named(found)] == [(unit, cause)]
    assert 0.5 * cost_ms < named(found)[0]["cost_ns"] / 1e6 < 1.3 * cost_ms


@pytest.mark.parametrize("fault", ["buckets", "sharded"])
def test_without_a_fault_nobody_is_named(tables, fault):
    found = tables(fault)
    assert named(found) == []
    assert sum(row["instances"] for row in found["rank_collectives"]) >= 30
    assert all(row["complete_pct"] == 100 for row in found["rank_collectives"])


def test_groups_that_the_traces_do_not_name_are_not_guessed(tables):
    found = tables("subgroups")
    assert found["stragglers"] == []
    assert found["rank_collectives"] == []
