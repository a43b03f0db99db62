"""Faults planted in real processes: what `ranks` names, and what it says they cost. Without a fault it accuses nobody.

Jobs run several times (RUNS of faults.py), and two runs must be right: a busy machine makes any rank late.
"""

import json
import sys
from pathlib import Path

import pytest
from jobs import run_job
from rank_jobs import ranks  # noqa: F401

FAULTS = Path(__file__).with_name("faults.py")
ACCUSED = ("rank", "host", "group")


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jobs")
    run_job([sys.executable, FAULTS, "traces"], folder)
    return folder / "traces"


@pytest.fixture
def runs(ranks, traces):
    """Return a function that returns the tables of each run of the job with a fault, and how long the fault took, in ms per step."""

    def runs(fault):
        for folder in sorted((traces / fault).iterdir()):
            delay = folder / "delay.json"
            delay_ms = json.loads(delay.read_text()) if delay.exists() else 0
            delay.unlink(missing_ok=True)
            yield ranks(folder, "stragglers", "rank_collectives"), delay_ms

    return runs


def named(tables):
    """Not what a machine with fewer cores than processes does to a rank by chance."""
    return [row for row in tables["stragglers"] if row["named"] and row["unit"].startswith(ACCUSED) and row["cost_pct"] > 10]


@pytest.mark.parametrize(("fault", "unit", "cause"), [("slow_host", "rank 2", "slow host"), ("pause", "rank 3", "pauses")])
def test_a_fault_is_named_and_priced(runs, fault, unit, cause):
    """Waiting for the other ranks hides a part of a delay in every step, so its price may be lower than what was planted."""
    found = [([(row["unit"], row["cause"], row["cost_ns"] / 1e6) for row in named(tables)], delay_ms) for tables, delay_ms in runs(fault)]
    right = [rows for rows, delay_ms in found
             if [row[:2] for row in rows] == [(unit, cause)] and 0.5 * delay_ms < rows[0][2] < 1.3 * delay_ms]
    assert len(right) >= 2, found


@pytest.mark.parametrize("fault", ["buckets", "sharded"])
def test_without_a_fault_nobody_is_named(runs, fault):
    found = [tables for tables, _ in runs(fault)]
    assert sum(named(tables) == [] for tables in found) >= 2, [named(tables) for tables in found]
    for tables in found:
        assert sum(row["instances"] for row in tables["rank_collectives"]) >= 30
        assert all(row["complete_pct"] == 100 for row in tables["rank_collectives"])


def test_groups_that_the_traces_do_not_name_are_not_guessed(runs):
    for tables, _ in runs("subgroups"):
        assert tables["stragglers"] == []
        assert tables["rank_collectives"] == []
