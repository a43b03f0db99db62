"""What holds of predictions and verdicts on every recording; few of what tests/simulate/properties.py, judge_peers.py and judge.py look at."""

import os
import sys

import pytest

from conftest import FIXTURES

ROOT = FIXTURES.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "simulate"))

import judge  # noqa: E402
import judge_peers  # noqa: E402
import properties  # noqa: E402
from near_ties import NEAR_TIES  # noqa: E402
from peer_programs import LATE_RANKS, PEERS  # noqa: E402

BINARY = os.environ.get("GPUPROF_BIN", str(ROOT / "build" / "release" / "gpu-profile"))
SEED = "tests"
PROGRAMS = 40


@pytest.mark.parametrize("path", properties.fixtures(), ids=lambda path: path.name)
def test_fixtures(path):
    """No prediction is below its floor, and no plan against its verdict."""
    wrong, _ = properties.broken(BINARY, str(path))
    assert not wrong


@pytest.fixture(scope="module")
def drawn():
    return [properties.drawn(BINARY, SEED, number) for number in range(PROGRAMS)]


def test_programs(drawn):
    assert not [(name, wrong) for name, wrong, _, _ in drawn if wrong]


def test_ranges_hold_the_truth(drawn):
    held = [inside for _, _, _, ranges in drawn for _, _, inside, _ in ranges]
    assert len(held) >= PROGRAMS and sum(held) >= 0.85 * len(held)


@pytest.mark.parametrize("family", sorted(PEERS))
def test_late_ranks_are_told_from_transfers(family):
    told = [judge_peers.judged(BINARY, family, f"{SEED}/{number}") for number in range(3)]
    assert not [each for each in told if each[2] in ("wrong", "unsaid")]
    assert family not in LATE_RANKS or any(each[2] == "right" for each in told)


@pytest.mark.parametrize("family", sorted(NEAR_TIES))
def test_a_share_is_not_a_gain(family):
    told = [judge.one(BINARY, family, seed) for seed in range(401, 405)]
    assert not [each for each in told if each[3] in ("wrong", "confidently wrong")]
