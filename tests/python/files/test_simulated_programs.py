"""Verdicts and gains of simulated programs whose truth is known (tests/simulate), and what is still said of damaged recordings of them.

The tables of docs/how-it-works/verdicts.md are made of many more.
"""

import collections
import copy
import os
import sys

import pytest

from conftest import FIXTURES

ROOT = FIXTURES.parents[1]

sys.path.insert(0, str(ROOT / "tests" / "simulate"))

import judge_damage  # noqa: E402
from damaged_programs import ALL_KINDS, draw  # noqa: E402
from judge import CLOSE, FAMILIES, one  # noqa: E402

SEEDS = (101, 102, 103)  # none of those that rules were written with
DAMAGE_SEED = "tests"

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


@pytest.fixture(scope="module")
def damaged():
    """(kind, outcomes, line) of two programs of each kind."""
    return [judge_damage.one(BINARY, DAMAGE_SEED, number, ALL_KINDS) for number in range(2 * len(ALL_KINDS))]


@pytest.mark.parametrize("failure", judge_damage.FAILURES)
def test_damaged_recordings_are_not_believed(damaged, failure):
    assert not [(line, found[failure]) for _, found, line in damaged if failure in found]


def test_most_damaged_recordings_have_an_answer(damaged):
    counts = collections.Counter(outcome for _, found, _ in damaged for outcome in found)
    assert counts["right"] + counts["acceptable"] >= 0.8 * len(damaged), counts


def answers(tmp_path, kind):
    """A program with this damage, and what is said of its recording without the damage."""
    program = draw(DAMAGE_SEED, 0, (kind,))
    return program, judge_damage.ask(BINARY, program.write(tmp_path, kind, program.clean))


def test_the_judge_sees_what_is_unsaid(tmp_path):
    program, clean = answers(tmp_path, "overrun")
    silent, telling = copy.deepcopy(clean), copy.deepcopy(clean)
    telling.said.add("overrun")
    telling.violated, telling.failed = {"serial streams"}, True
    assert "unsaid" in judge_damage.judged(program, silent, clean)
    assert set(judge_damage.judged(program, telling, clean)) <= set(judge_damage.OUTCOMES[:3])


def test_the_judge_sees_times_that_are_wrong(tmp_path):
    program, clean = answers(tmp_path, "overrun")
    believing = copy.deepcopy(clean)
    believing.said.add("overrun")
    believing.devices[0]["busy_ns"] *= 2
    assert "busy_ns" in judge_damage.judged(program, believing, clean)["confidently wrong"]


def test_the_judge_sees_false_alarms(tmp_path):
    program, clean = answers(tmp_path, "clean")
    alarmed = copy.deepcopy(clean)
    alarmed.said.add("overrun")
    assert "false alarm" in judge_damage.judged(program, alarmed, clean)


def test_the_judge_sees_gains_of_a_program_that_waits(tmp_path):
    program, clean = answers(tmp_path, "requests")
    blaming = copy.deepcopy(clean)
    blaming.verdict.update(name="host-bound (other)", share_pct=98.0, confidence="high")
    assert "confidently wrong" in judge_damage.judged(program, blaming, clean)
    blaming.verdict.update(name="cannot tell", share_pct=None, confidence=None)
    blaming.document.update(findings=[], predictions=[])
    assert set(judge_damage.judged(program, blaming, clean)) == {"right"}
