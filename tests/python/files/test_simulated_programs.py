"""Verdicts and gains of simulated programs whose truth is known (tests/simulate); the table of docs/how-it-works/verdicts.md is made of many more."""

import collections
import os
import sys

import pytest

from conftest import FIXTURES

ROOT = FIXTURES.parents[1]

sys.path.insert(0, str(ROOT / "tests" / "simulate"))

from families import FAMILIES  # noqa: E402
from judge import CLOSE, one  # noqa: E402

SEEDS = (101, 102, 103)  # none of those that rules were written with

BINARY = os.environ.get("GPUPROF_BIN", str(ROOT / "build" / "release" / "gpu-profile"))


@pytest.fixture(scope="module")
def judged():
    return [one(BINARY, family, seed) for family in FAMILIES for seed in SEEDS]


def test_no_verdict_is_confidently_wrong(judged):
    assert not [(family, seed, told) for family, seed, _, kind, _, told in judged if kind == "confidently wrong"]


def test_verdicts_are_right_or_acceptable(judged):
    counts = collections.Counter(kind for _, _, _, kind, _, _ in judged)
    assert counts["right"] + counts["acceptable"] >= 0.9 * len(judged), counts


def test_claimed_gains_are_near_the_true_ones(judged):
    close = [abs(claimed - true) <= CLOSE * true for _, _, _, _, found, _ in judged for _, claimed, true in found]
    assert len(close) > len(judged) / 3
    assert sum(close) >= 0.8 * len(close), f"{sum(close)} of {len(close)}"
