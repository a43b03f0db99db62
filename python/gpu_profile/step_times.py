"""Durations of training steps on the host's clock, and their statistics."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any

__all__ = ["StepTimes"]


class StepTimes:
    """`step_s`: from the end of the step before (or the start of the epoch) to the end of the step. `fetch_s`: the part of it
    before the step begins, mostly waiting for the next batch."""

    def __init__(self) -> None:
        self.step_s, self.fetch_s = array("d"), array("d")

    def add(self, step_s: float, fetch_s: float) -> None:
        self.step_s.append(step_s)
        self.fetch_s.append(fetch_s)

    def extend(self, other: StepTimes) -> None:
        self.step_s.extend(other.step_s)
        self.fetch_s.extend(other.fetch_s)

    def to_dict(self) -> dict[str, Any]:
        total = math.fsum(self.step_s)
        return {
            "steps": len(self.step_s),
            "step_s": _statistics(self.step_s),
            "fetch_s": _statistics(self.fetch_s),
            "fetch_pct": 100 * math.fsum(self.fetch_s) / total if total > 0 else None,
        }


def _statistics(values: Sequence[float]) -> dict[str, float] | None:
    """None without values. Percentiles by nearest rank, as in the report."""
    if not values:
        return None
    ordered = sorted(values)

    def rank(percent: int) -> float:
        return ordered[max(0, math.ceil(percent * len(ordered) / 100) - 1)]

    return {"mean": math.fsum(ordered) / len(ordered), "min": ordered[0], "p50": rank(50), "p95": rank(95), "p99": rank(99), "max": ordered[-1]}
