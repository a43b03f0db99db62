"""How much faster, and how sure is that: two sets of times that were taken in turn.

The figure is the ratio of the medians. Its interval is a bootstrap: rounds (a baseline time and the optimized time beside
it) are drawn with replacement 2,000 times, and the middle 95 % of the ratios kept. The verdict is "faster" or "slower" when the
whole interval lies beyond 1 % of equal, "same" when all of it lies within, else "unclear". Pure Python, seeded: the same
times give the same interval.
"""

from __future__ import annotations

import random
from statistics import median
from typing import NamedTuple

__all__ = ["Ratio", "ratio_of"]

_DRAWS = 2000
_MIN_EFFECT = 0.01


class Ratio(NamedTuple):
    speedup: float
    low: float
    high: float
    verdict: str


def ratio_of(baseline: list[float], optimized: list[float]) -> Ratio:
    rounds = list(zip(baseline, optimized))
    draw = random.Random(len(rounds)).choices
    ratios = sorted(_ratio(draw(rounds, k=len(rounds))) for _ in range(_DRAWS))
    low, high = ratios[round(0.025 * _DRAWS)], ratios[round(0.975 * _DRAWS) - 1]
    return Ratio(_ratio(rounds), low, high, _verdict(low, high))


def _ratio(rounds: list[tuple[float, float]]) -> float:
    return median(b for b, _ in rounds) / max(median(o for _, o in rounds), 1e-9)


def _verdict(low: float, high: float) -> str:
    if low > 1 + _MIN_EFFECT:
        return "faster"
    if high < 1 - _MIN_EFFECT:
        return "slower"
    return "same" if low >= 1 - _MIN_EFFECT and high <= 1 + _MIN_EFFECT else "unclear"
