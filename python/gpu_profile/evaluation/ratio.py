"""The speedup and its uncertainty, from two alternating sets of times.

The figure is the median of the rounds' ratios (a baseline time and the adjacent optimized time), so that slowdowns of
both cancel out. The interval and the verdict come from libgpuprof (gpuprof_bench_compare_json, the method of `bench`)
if available. Otherwise the interval is a bootstrap in Python: rounds are drawn with replacement 2,000 times, and the
interval is the middle 95 % of the medians. "faster" and "slower" then require an interval entirely beyond 1 % of equal,
"same" one within 1 %. The seed is fixed: the same times give the same result.
"""

from __future__ import annotations

import random
from array import array
from statistics import median
from typing import NamedTuple

__all__ = ["Ratio", "bootstrapped", "ratio_of"]

_DRAWS = 2000
_MIN_EFFECT = 0.01
_TWO_PROCESSES = 2


class Ratio(NamedTuple):
    """The speedup and its interval. `low` and `high` are None with too few samples; `source` is libgpuprof or bootstrap."""

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
        found = bench_native.compare(array("d", baseline), array("d", optimized), paired=_TWO_PROCESSES, min_effect=_MIN_EFFECT)
    except Error:  # the library is missing or older
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
