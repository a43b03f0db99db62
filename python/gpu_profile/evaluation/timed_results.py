"""Every timed result is checked, because a function may notice that it is being timed.

After the calls of a sample, each side sketches all their results under a new key, and the baseline's process compares the
sketches (sketch.py). The result that agrees the least is compared in full if it is beyond the tolerance, or much further
from the baseline than the checked results were. Results of randomly chosen rounds are compared in full in any case: the
last one, which had the least time to finish, or any. A wrong result among them means that the time is not that of the work.
"""

from __future__ import annotations

import argparse
import random
import secrets
import time
from typing import Any, Callable

from .findings import Violations
from .precision import Errors
from .side import Side

__all__ = ["TimedResults"]

_COMPARED = 5  # rounds with a full comparison in any case; with three checks, eight results for precision.py
_FURTHER = 16.0  # times the relative error of the checked results
_MIN_ROUNDING = 16.0  # in units of rounding; reordered sums of 1,000 values are off by 2
_MAX_FURTHER = 8  # full comparisons for that reason: each costs a call of the baseline in float64

Compare = Callable[..., dict[str, Any]]


class TimedResults:
    def __init__(self, options: argparse.Namespace, violations: Violations, errors: Errors, compare: Compare) -> None:
        self._options, self._violations, self._all_errors, self._compare = options, violations, errors, compare
        self.only_last = False  # results of the baseline are overwritten by its next call
        self.near = 0.0  # largest relative error of the checked results
        self.checked = self.wrong = 0
        self.taken_s = 0.0  # by all checks of timed results
        self._errors = Errors()
        self._difference = 0.0
        self._further = 0

    def rounds(self, count: int) -> set[int]:
        """Choose rounds for a full comparison."""
        return set(random.SystemRandom().sample(range(count), min(_COMPARED, count)))

    def check(self, baseline: Side, optimized: Side, calls: list[list[int]], in_full: bool) -> None:
        """Check the results of the calls just timed on both sides."""
        begun = time.perf_counter()
        request = {"key": secrets.token_hex(32), "rtol": self._options.rtol, "atol": self._options.atol}
        request["of"] = [len(calls) - 1] if self.only_last else list(range(len(calls)))
        answer, sketches = optimized.ask("sketch", **request)
        if answer["late"]:
            self._violations.add("outputs changed after the call returned", True)
        digests = answer["digests"]
        if digests:
            said = baseline.ask("agree", sketches, digests=digests, **request)[0]
            self.checked += len(digests)
            self._judge(optimized, calls, request["of"], said, in_full)
        self.taken_s += time.perf_counter() - begun

    def _judge(self, optimized: Side, calls: list[list[int]], of: list[int], said: dict[str, Any], in_full: bool) -> None:
        beyond = [float(each) for each in said["beyond"]]
        limit = max(_MIN_ROUNDING * float(said["rounding"]), _FURTHER * self.near)
        further = [float(each) / limit for each in said["relative"]]
        worst = max(range(len(of)), key=lambda place: max(beyond[place], further[place]))
        suspicious = beyond[worst] > 1
        if not suspicious and further[worst] > 1 and self._further < _MAX_FURTHER:
            self._further += 1
            suspicious = True
        if suspicious and not self._right(optimized, calls, of[worst]):
            self.wrong += max(sum(each > 1 for each in beyond), 1)
        if in_full:
            chosen = secrets.choice([of[-1], secrets.choice(of)])
            if chosen != of[worst] or not suspicious:
                self.wrong += not self._right(optimized, calls, chosen)

    def _right(self, optimized: Side, calls: list[list[int]], index: int) -> bool:
        answer, blocks = optimized.ask("output", index=index)
        case, seed = calls[index]
        compared = self._compare(case, seed, answer["output"], blocks, True)
        self._errors.add(case, compared)
        self._all_errors.add(case, compared)
        self._violations.add_comparison(compared)
        self._difference = max(self._difference, compared["beyond"])
        return not (compared["problem"] or compared["beyond"] or compared["constant"])

    def conclude(self, checks_passed: bool) -> None:
        """Add what the checks found, once all samples are taken."""
        if self.wrong and checks_passed:
            by = f", by up to {self._difference:.2e}" if self._difference else ""
            self._violations.add(f"results of timed calls are wrong: {self.wrong} of {self.checked}{by}", True)
        limit = self._options.max_error_ratio
        if limit is not None:
            timed = self._errors.beyond(limit) if checks_passed else None
            self._violations.add_precision(timed or self._all_errors.beyond(limit), " in timed calls" if timed else "")
