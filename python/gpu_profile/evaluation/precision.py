"""Errors of both sides against a float64 run of the baseline, pooled over the inputs that were checked.

A side that computes in a shorter type than the baseline, or from a rounded table, stays within a tolerance that allows
for a reordered sum. Its error is a multiple of the baseline's own, which it is compared with here.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

__all__ = ["MAX_ERROR_RATIO", "Errors", "Precision"]

# Measured by `python3 -m tests.evaluate.precision_trials` on drawn pairs: reordered, blocked and fused functions have at most
# 4.5 times the baseline's error, or fewer than 3 units in the last place; rounding to float16 has 15 times and 11 units.
MAX_ERROR_RATIO = 10.0
_MIN_ULP = 8.0  # of the rms error; a fast exponential has 2 to 5
_MIN_ULP_OF_EXACT = 64.0  # a baseline without errors is exact, or rounds inside, where float64 cannot show its error
# Of few elements, one side may be lucky: more than 10 times the error by chance is 1 in a million pairs of 8 elements, 1 in
# 600 of 3, 1 in 16 of one.
_ALLOWANCES = ((8, 1.0), (3, 2.0), (0, 10.0))


class Precision(NamedTuple):
    """Relative rms errors of both sides; the ratio is None if the baseline has no error."""

    optimized: float
    baseline: float
    ratio: float | None


class Errors:
    def __init__(self) -> None:
        self._sums: dict[tuple[int, int], list[float]] = {}  # by case and array: two sums of squares, elements, epsilon, checks

    def add(self, case: int, compared: dict[str, Any]) -> None:
        for index, (own, theirs, size, epsilon) in enumerate(compared["errors"]):
            before = self._sums.get((case, index), [0.0, 0.0, 0, epsilon, 0])
            self._sums[case, index] = [before[0] + own, before[1] + theirs, before[2] + size, epsilon, before[4] + 1]

    def worst(self) -> Precision | None:
        """Return the errors of the array whose optimized side is the least precise in comparison."""
        found = [(self._excess(each), self._precision(each)) for each in self._sums.values()]
        return max(found, key=lambda pair: pair[0])[1] if found else None

    def beyond(self, limit: float) -> Precision | None:
        """Return the errors of the worst array whose ratio is above the limit; None if there is none."""
        found = [(excess, self._precision(each)) for each in self._sums.values() if (excess := self._excess(each)) > limit]
        return max(found, key=lambda pair: pair[0])[1] if found else None

    @staticmethod
    def _precision(sums: list[float]) -> Precision:
        own, theirs = (math.sqrt(each / sums[4]) for each in sums[:2])
        return Precision(own, theirs, own / theirs if theirs else None)

    def _excess(self, sums: list[float]) -> float:
        """Return the ratio that counts: 0 if the error is rounding, or may be chance."""
        found = self._precision(sums)
        if found.optimized <= (_MIN_ULP if found.baseline else _MIN_ULP_OF_EXACT) * sums[3]:
            return 0.0
        allowance = next(factor for count, factor in _ALLOWANCES if sums[2] >= count)
        return (found.ratio if found.ratio is not None else math.inf) / allowance
