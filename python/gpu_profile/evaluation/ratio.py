"""How much faster, and how sure is that: two sets of times that were taken in turn.

The figure is the median of the rounds' ratios (a baseline time and the optimized time beside it), so that what slows both
cancels out. The interval and the verdict are libgpuprof's (gpuprof_bench_compare_json, the method of `bench`) where the
library is there. Else the interval is a bootstrap in Python: rounds are drawn with replacement 2,000 times and the middle
95 % of the medians kept; "faster" and "slower" then ask for an interval all beyond 1 % of equal, "same" for one within.
Seeded: the same times give the same answer.
"""

from __future__ import annotations

import random
from array import array
from statistics import median
from typing import NamedTuple

__all__ = ["Ratio", "bootstrapped", "ratio_of"]

_DRAWS = 2000
_MIN_EFFECT = 0.01


class Ratio(NamedTuple):
    """`low` and `high` are None where there are too few samples. `source` is "libgpuprof" or "bootstrap"."""

    speedup: float
    low: float | None
    high: float | None
    verdict: str
    source: str


def ratio_of(baseline: list[float], optimized: list[float]) -> Ratio:
    return _by_library(baseline, optimized) or bootstrapped(baseline, optimized)


def _by_library(baseline: list[float], optimized: list[float]) -> Ratio | None:
    from .. import bench_native
    from ..errors import Error

    try:
        found = bench_native.compare(array("d", baseline), array("d", optimized), paired=True, min_effect=_MIN_EFFECT)
    except Error:  # no library here, or an older one
        return None
    if found.get("speedup") is None:
        return None
    return Ratio(found["speedup"], found.get("speedup_low"), found.get("speedup_high"), found["verdict"], "libgpuprof")


def bootstrapped(baseline: list[float], optimized: list[float]) -> Ratio:
    rounds = [b / max(o, 1e-9) for b, o in zip(baseline, optimized)]
    draw = random.Random(len(rounds)).choices
    medians = sorted(median(draw(rounds, k=len(rounds))) for _ in range(_DRAWS))
    low, high = medians[round(0.025 * _DRAWS)], medians[round(0.975 * _DRAWS) - 1]
    return Ratio(median(rounds), low, high, _verdict(low, high), "bootstrap")


def _verdict(low: float, high: float) -> str:
    if low > 1 + _MIN_EFFECT:
        return "faster"
    if high < 1 - _MIN_EFFECT:
        return "slower"
    return "same" if low >= 1 - _MIN_EFFECT and high <= 1 + _MIN_EFFECT else "cannot tell"
