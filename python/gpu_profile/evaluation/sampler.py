"""Samples of both sides: the number of calls per sample, and the clocks read around each.

A sample has as many calls as fit into 1 ms, each with fresh inputs. Its duration is measured three times: by the
evaluator's clock, by the clock of the side's process, and by device events if the work is on a device. timing.py
decides which one is the figure.
"""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

from .side import Side

__all__ = ["Sampler", "TimedSample", "new_seed"]

_SAMPLE_NS = 1e6  # target duration of a sample; keeps the overhead of the clock small
_MAX_SAMPLE_NS = 20e6
_BATCH_BYTES = 256 << 20
_MAX_PREPARATION_NS = 50e6
_WARM_UP = (2, 10)
_HELD_CALLS = 64  # a queue holds about a thousand launches


class TimedSample(NamedTuple):
    """One sample, in ns for all its calls; device times are None without a device, and `reason` explains why."""

    calls: int
    prepare_ns: float  # generating inputs, by the evaluator's clock, without waiting for a CPU
    busy_ns: float  # the calls, measured the same way
    outside_ns: float  # the calls, by the evaluator's clock
    inside_ns: float  # the calls, by the clock of the side's process, until the whole device was idle
    device_ns: float | None = None  # the calls, by device events, until the stream was idle
    beyond_ns: float = 0.0  # from then until the whole device was idle
    idle_wait_ns: float = 0.0  # the cost of waiting for an idle device
    held: bool = False
    reason: str | None = None


class Sampler:
    def __init__(self) -> None:
        self.cases, self.batch = 1, 1

    def calls(self, batch: int | None = None) -> list[list[int]]:
        return [[case, new_seed()] for _ in range(batch or self.batch) for case in range(self.cases)]

    def sample(self, side: Side, calls: list[list[int]] | None = None, hold: bool = False, keep: bool = False) -> TimedSample:
        """Time the calls; `keep` copies their results at once, for timed_results.py."""
        calls = calls or self.calls()
        side.ask("collect")
        side.ask("prepare", calls=calls)
        prepared = max(0.0, float(side.outside_ns - side.waited_ns))
        said: dict[str, Any] = side.ask("time", hold=hold, keep=keep)[0]
        busy = max(0.0, float(side.outside_ns - side.waited_ns))
        lap = {name: said[name] for name in ("device_ns", "beyond_ns", "idle_wait_ns", "held") if name in said}
        return TimedSample(len(calls) // self.cases, prepared, busy, float(side.outside_ns), float(said["ns"]), **lap, reason=said.get("no_device_time"))

    def take(self, side: Side, count: int) -> list[TimedSample]:
        return [self.sample(side) for _ in range(count)]

    def warm_up(self, sides: list[Side], bytes_per_call: int) -> None:
        """Run until times no longer fall, then set the number of calls per sample."""
        before = float("inf")
        for turn in range(_WARM_UP[1]):
            calls = self.calls()
            shots = [self.sample(side, calls) for side in sides]
            taken = [shot.inside_ns for shot in shots]
            if turn + 1 >= _WARM_UP[0] and sum(taken) > 0.9 * before:
                break
            before = sum(taken)
        most = min(
            256.0, _SAMPLE_NS / max(min(taken), 1), _MAX_SAMPLE_NS / max(*taken, 1),
            _MAX_PREPARATION_NS / max(*(shot.prepare_ns for shot in shots), 1), _BATCH_BYTES / max(bytes_per_call, 1),
        )
        self.batch = max(1, int(most))
        calls = self.calls()
        for side in sides:
            self.sample(side, calls)

    def held_calls(self) -> list[list[int]]:
        return self.calls(min(self.batch, _HELD_CALLS))


def new_seed() -> int:
    return secrets.randbits(31)
