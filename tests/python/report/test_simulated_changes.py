"""Predictions of `whatif` for simulated programs that run again with the change made (tests/simulate/whatif.py measures many more)."""

import importlib.util
import os

import pytest

from conftest import FIXTURES

ROOT = FIXTURES.parents[1]
BINARY = os.environ.get("GPUPROF_BIN", str(ROOT / "build" / "release" / "gpu-profile"))
SEEDS = (301, 302)  # none of those that the replay was written with

spec = importlib.util.spec_from_file_location("simulated_whatif", ROOT / "tests" / "simulate" / "whatif.py")
simulated = importlib.util.module_from_spec(spec)
spec.loader.exec_module(simulated)


@pytest.fixture(scope="module")
def results():
    """(family, change, truth in ns, prediction or the reason why there is none)"""
    found = []
    for family in simulated.FAMILIES:
        if family == "barely_used":
            continue
        for seed in SEEDS:
            _, _, true, predicted = simulated.one(BINARY, family, seed)
            found += [(f"{family} {seed}", change, truth, predicted[change]) for change, truth in true.items()]
    return found


def test_predictions_are_within_ten_percent(results):
    made = [(name, change, told[0] / truth - 1) for name, change, truth, told in results if not isinstance(told, str)]
    close = [error for _, _, error in made if abs(error) <= simulated.CLOSE]
    assert len(close) >= 0.95 * len(made), sorted(made, key=lambda each: -abs(each[2]))[:8]


def test_ranges_hold_the_truth(results):
    held = [told[1] <= truth <= told[2] for _, _, truth, told in results if not isinstance(told, str)]
    assert sum(held) >= 0.9 * len(held)


def test_complete_recordings_are_seldom_refused(results):
    refused = [(name, told) for name, _, _, told in results if isinstance(told, str)]
    assert len(refused) <= 0.15 * len(results), refused
