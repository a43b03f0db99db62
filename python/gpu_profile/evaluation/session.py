"""One evaluation: both sides are loaded, checked, timed in turn, and looked at again.

    load -> check (fresh seeds, both sides) -> memory -> warm-up -> timed rounds, some results compared -> floor, patches

Seeds come from the system's random source when they are needed, so that nothing can be computed before. A side that
fails is left out; the other is still timed. Nothing is printed here.
"""

from __future__ import annotations

import argparse
import random
import secrets
from statistics import median
from typing import Any

from .findings import Violations
from .inputs import imports_of
from .ratio import Ratio, ratio_of
from .side import Side, SideFailure

__all__ = ["Evaluation"]

_MIB = 1024.0 * 1024.0
_SAMPLE_NS = 1e6  # a sample has as many calls as fit into this, so that the clock's own cost is small
_LONGEST_SAMPLE_NS = 20e6
_BATCH_BYTES = 256 << 20
_LONGEST_PREPARATION_NS = 50e6
_WARM_UP = (2, 10)
_COMPARED = 4  # timed rounds whose results are compared


class Evaluation:
    """Figures and violations; run() fills them. Times are ms per call of every case; None is not known."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.violations = Violations()
        self.failures: list[SideFailure] = []
        self.times: dict[str, list[float]] = {}
        self.import_ms: dict[str, float] = {}
        self.ratio: Ratio | None = None
        self.memory_mb: dict[str, tuple[float | None, float | None]] = {}
        self.memory_source: str | None = None
        self.floor_ms: float | None = None
        self.reference: dict[str, float] | None = None
        self.batch = 1
        self._cases = 1
        self._bytes: dict[int, int] = {}  # of inputs and outputs, by case
        self._sides: list[Side] = []
        self._outside: list[float] = []
        self._prepared: dict[str, list[float]] = {"baseline": [], "optimized": []}

    def run(self) -> None:
        try:
            self._load()
            if len(self._sides) == 2:
                self._together()
            for side in [] if len(self._sides) == 2 and self.ratio else self._sides:
                self._try(side, self._alone)
        finally:
            for side in self._sides:
                side.close()

    # ---- loading

    def _try(self, side: Side, action: Any) -> Any:
        try:
            return action(side)
        except SideFailure as failure:
            self._drop(failure)
            return None

    def _drop(self, failure: SideFailure) -> None:
        self.failures.append(failure)
        self._sides = [side for side in self._sides if side.name != failure.side]

    def _load(self) -> None:
        options = self.options
        imported = {*imports_of(options.baseline), *imports_of(options.inputs or "")}
        family = next((name for name in ("torch", "cupy") if name in imported), "numpy")
        frameworks = [] if options.inputs else [family]
        for name in ("baseline", "optimized"):
            setup = {"module": getattr(options, name), "inputs": options.inputs, "entry": options.entry, "frameworks": frameworks}
            self._sides.append(Side(name, setup, options.time_out))
        parameters = 0
        for side in list(self._sides):
            self._try(side, lambda side: side.ask("inputs"))
        for side in list(self._sides):
            loaded = self._try(side, lambda side: side.ask("load")[0])
            if loaded:
                parameters = parameters or loaded["parameters"]
                self.import_ms[side.name] = side.outside_ns / 1e6
        wanted = {"shapes": options.shape, "dtypes": options.dtype, "family": family, "parameters": parameters}
        for side in list(self._sides):
            answer = self._try(side, lambda side: side.ask("cases", **wanted)[0])
            self._cases = answer["cases"] if answer else self._cases

    # ---- both sides

    def _together(self) -> None:
        baseline, optimized = self._sides
        try:
            for case in range(self._cases):
                for _ in range(self.options.checks):
                    self._check(baseline, optimized, case)
            self._measure_memory(baseline)
            self._measure_memory(optimized)
            self._warm_up(baseline, optimized)
            self._time(baseline, optimized)
            self._look_again(baseline, optimized)
        except SideFailure as failure:
            self._drop(failure)
            self.times.clear()
            self.ratio = None

    def _check(self, baseline: Side, optimized: Side, case: int) -> None:
        seed, other = _seed(), _seed()
        plain, _ = baseline.ask("check", case=case, seed=seed, other=other)
        own, blocks = optimized.ask("check", case=case, seed=seed, other=other)
        self._bytes[case] = max(self._bytes.get(case, 0), int(plain["bytes"]), int(own["bytes"]))
        if _holds_unknown(plain["output"]):
            raise SideFailure("baseline", "returns what cannot be compared: arrays of a loaded library, numbers, text and "
                              "tuples, lists and dictionaries of them can")
        self.violations.add_behaviour(plain, own)
        if _holds_unknown(own["output"]):
            return
        first, second = own["counts"]
        again, exchanged = blocks[first:first + second], blocks[first + second:]
        compared = self._compare(baseline, case, seed, own["output"], blocks[:first], True)
        self.violations.add_comparison(compared)
        self.reference = compared["reference"] or self.reference
        if not compared["problem"] and not compared["beyond"] and not own["late"]:
            self.violations.add_repeat(self._compare(baseline, case, seed, own["again"], again))
            if "exchanged" in own:
                self.violations.add_exchanged(self._compare(baseline, case, other, own["exchanged"], exchanged))

    def _compare(self, baseline: Side, case: int, seed: int, output: Any, blocks: list[bytes], reference: bool = False) -> dict[str, Any]:
        tolerance = {"rtol": self.options.rtol, "atol": self.options.atol, "reference": reference}
        return baseline.ask("compare", blocks, case=case, seed=seed, output=output, **tolerance)[0]

    def _measure_memory(self, side: Side) -> None:
        """Of one call, of the case with most. By the framework where device memory is what counts, else of the process."""
        most: tuple[float | None, float | None] = (None, None)
        for case in range(self._cases):
            side.reset_peak()
            answer, _ = side.ask("call", case=case, seed=_seed())
            peak, current = (answer["peak"], answer["current"]) if answer["source"] else side.memory()
            self.memory_source = answer["source"] or "process"
            if peak is not None and current is not None and peak / _MIB > (most[0] or 0):
                most = (peak / _MIB, current / _MIB)
        self.memory_mb[side.name] = most

    def _sample(self, side: Side, calls: list[list[int]]) -> float:
        side.ask("prepare", calls=calls)
        self._prepared[side.name].append(side.outside_ns / self.batch)
        taken = float(side.ask("time")[0]["ns"])
        return taken

    def _calls(self) -> list[list[int]]:
        return [[case, _seed()] for _ in range(self.batch) for case in range(self._cases)]

    def _warm_up(self, *sides: Side) -> None:
        """Until times no longer fall; then the number of calls per sample."""
        before = float("inf")
        for turn in range(_WARM_UP[1]):
            calls = self._calls()
            taken = [self._sample(side, calls) for side in sides]
            if turn + 1 >= _WARM_UP[0] and sum(taken) > 0.9 * before:
                break
            before = sum(taken)
        prepared = max(self._prepared[side.name][-1] for side in sides)
        most = min(
            256.0, _SAMPLE_NS / max(min(taken), 1), _LONGEST_SAMPLE_NS / max(*taken, 1),
            _LONGEST_PREPARATION_NS / max(prepared, 1), _BATCH_BYTES / max(sum(self._bytes.values()), 1),
        )
        self.batch = max(1, int(most))
        for kept in self._prepared.values():
            kept.clear()
        self._calls_once(*sides)

    def _calls_once(self, *sides: Side) -> None:
        calls = self._calls()
        for side in sides:
            self._sample(side, calls)
            self._prepared[side.name].clear()

    def _time(self, baseline: Side, optimized: Side) -> None:
        taken: dict[str, list[float]] = {"baseline": [], "optimized": []}
        compared = set(random.SystemRandom().sample(range(self.options.repeat), min(_COMPARED, self.options.repeat)))
        for turn in range(self.options.repeat):
            calls = self._calls()
            for side in (baseline, optimized) if turn % 2 == 0 else (optimized, baseline):
                taken[side.name].append(self._sample(side, calls))
                if side is optimized:
                    self._outside.append(float(side.outside_ns))
            if turn in compared:
                self._compare_timed(baseline, optimized, calls)
        self._value_cache(optimized)
        self.violations.add_clock(taken["optimized"], self._outside)
        self.times = {name: [each / 1e6 / self.batch for each in times] for name, times in taken.items()}
        self.ratio = ratio_of(self.times["baseline"], self.times["optimized"])

    def _compare_timed(self, baseline: Side, optimized: Side, calls: list[list[int]]) -> None:
        """A result of the calls just timed: the last, which had the least time, or any."""
        index = secrets.choice([len(calls) - 1, secrets.randbelow(len(calls))])
        answer, blocks = optimized.ask("output", index=index)
        if answer["late"]:
            self.violations.add("outputs changed after the call had returned", True)
        if not _holds_unknown(answer["output"]):
            case, seed = calls[index]
            self.violations.add_comparison(self._compare(baseline, case, seed, answer["output"], blocks))

    def _value_cache(self, optimized: Side) -> None:
        new, again = [], []
        for _ in range(5):
            calls = self._calls()
            new.append(self._sample(optimized, calls) / 1e6 / self.batch)
            again.append(self._sample(optimized, calls) / 1e6 / self.batch)
        self.violations.add_value_cache(min(new), median(again))

    def _look_again(self, baseline: Side, optimized: Side) -> None:
        """What is judged from both sides' figures, and what the module replaced."""
        times = {name: median(values) for name, values in self.times.items()}
        self.violations.add_preparation(self._prepared["baseline"], self._prepared["optimized"], 1e6 * min(self.times["baseline"]))
        self.floor_ms = self._floor(baseline)
        if self.floor_ms is not None:
            self.violations.add_floor(times["baseline"], times["optimized"], self.floor_ms, sum(self._bytes.values()))
        self.violations.add_replaced([str(name) for name in optimized.ask("replaced")[0]["names"]])
        peak = self.memory_mb["optimized"][0]
        if peak is not None:
            self.violations.add_memory(peak, self.options.max_memory_mb)
        elif self.options.max_memory_mb is not None:
            self.violations.add("peak memory is not known here")
        if self.ratio and not self.violations.void:
            self.violations.add_speedup(self.ratio.speedup, self.options.fail_under)

    def _floor(self, baseline: Side) -> float | None:
        """How long it takes to copy as much as the inputs and outputs of every case, where the inputs are; None unknown."""
        total = 0.0
        for case, size in self._bytes.items():
            copied, _ = baseline.ask("copy", case=case, seed=_seed())
            if not copied["ns"] or not copied["bytes"]:
                return None
            total += copied["ns"] / 1e6 * size / copied["bytes"]
        return total or None

    # ---- one side, when the other failed

    def _alone(self, side: Side) -> None:
        self.batch = 1
        self._measure_memory(side)
        self._warm_up(side)
        self.times[side.name] = [self._sample(side, self._calls()) / 1e6 / self.batch for _ in range(self.options.repeat)]


def _seed() -> int:
    return secrets.randbits(31)


def _holds_unknown(tree: dict[str, Any]) -> bool:
    return tree["is"] == "unknown" or any(map(_holds_unknown, tree.get("of", [])))
