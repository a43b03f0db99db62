"""One evaluation: loads both sides, checks them, times them alternately, and checks what was timed.

    load -> check (fresh seeds, both sides) -> memory -> warm-up -> timed rounds, all results checked -> suspicions, patches

Seeds come from the system's random source at the moment of use, so that nothing can be precomputed. Samples that speak
against the optimized side cause a refusal only if three series of rounds agree. A side that fails is dropped; the other
one is still timed. Prints nothing.
"""

from __future__ import annotations

import argparse
from typing import Any

from . import timing
from .findings import Violations
from .footprint import Footprint, footprint_of
from .inputs import imports_of
from .precision import Errors
from .ratio import Ratio, ratio_of
from .sampler import Sampler, TimedSample, new_seed
from .side import Side, SideFailure
from .timed_results import TimedResults

__all__ = ["Evaluation"]

_ATTEMPTS = 3  # a single series of samples is not evidence on a busy machine
_CACHE_PAIRS = 5
_MAX_CACHE_PAIRS = 8 * _CACHE_PAIRS  # while other work may have slowed all repeated calls
_HELD_SAMPLES, _HELD_TRIES = 7, 2


class Evaluation:
    """Figures and violations, filled in by run(). Times are ms per call of every case; None if unknown."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.violations = Violations()
        self.failures: list[SideFailure] = []
        self.timer = timing.HOST
        self.timer_reason: str | None = None
        self.times: dict[str, list[float]] = {}
        self.host_times: dict[str, list[float]] = {}
        self.alone_times: dict[str, list[float]] = {}  # work on the stream without launch gaps
        self.import_ms: dict[str, float] = {}
        self.ratio: Ratio | None = None
        self.memory: dict[str, Footprint] = {}
        self.floor_ms: float | None = None
        self.errors = Errors()
        self.compared = False
        self._sampler = Sampler()
        self.timed = TimedResults(options, self.violations, self.errors, self._compare)
        self._bytes: dict[int, int] = {}  # bytes of inputs and outputs, by case
        self._sides: list[Side] = []

    @property
    def batch(self) -> int:
        return self._sampler.batch

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
            self._sampler.cases = answer["cases"] if answer else self._sampler.cases

    # ---- both sides

    def _together(self) -> None:
        baseline, optimized = self._sides
        try:
            for case in range(self._sampler.cases):
                for _ in range(self.options.checks):
                    self._check(baseline, optimized, case)
            limit = self.options.max_error_ratio
            passed = not self.violations.all() and (limit is None or not self.errors.beyond(limit))
            self._measure_memory(baseline)
            self._measure_memory(optimized, baseline)
            self._sampler.warm_up(self._sides, sum(self._bytes.values()))
            self._sampler.batch = 1 if self.timed.only_last else self._sampler.batch
            self._time(baseline, optimized)
            self.timed.conclude(passed)
            self._value_cache(optimized)
            self._look_again(optimized)
        except SideFailure as failure:
            self._drop(failure)
            self.times.clear()
            self.ratio = None

    def _check(self, baseline: Side, optimized: Side, case: int) -> None:
        seed, other = new_seed(), new_seed()
        plain, _ = baseline.ask("check", case=case, seed=seed, other=other)
        own, blocks = optimized.ask("check", case=case, seed=seed, other=other)
        self._bytes[case] = max(self._bytes.get(case, 0), int(plain["bytes"]), int(own["bytes"]))
        if _holds_unknown(plain["output"]):
            raise SideFailure("baseline", "returns a value that cannot be compared; supported are arrays of a loaded library, "
                              "numbers, text, and tuples, lists and dictionaries of them")
        self.violations.add_behaviour(plain, own)
        self.timed.only_last |= bool(plain["overwritten"])
        if _holds_unknown(own["output"]):
            return
        first, second = own["counts"]
        again, exchanged = blocks[first:first + second], blocks[first + second:]
        compared = self._compare(case, seed, own["output"], blocks[:first], True)
        self.violations.add_comparison(compared)
        self.compared = True
        self.errors.add(case, compared)
        self.timed.near = max(self.timed.near, compared["relative"])
        if not compared["problem"] and not compared["beyond"] and not own["late"]:
            self.violations.add_repeat(self._compare(case, seed, own["again"], again))
            if "exchanged" in own:
                self.violations.add_exchanged(self._compare(case, other, own["exchanged"], exchanged))

    def _compare(self, case: int, seed: int, output: Any, blocks: list[bytes], reference: bool = False) -> dict[str, Any]:
        """Compare a result in the baseline's process, which is the first side as long as there are two."""
        tolerance = {"rtol": self.options.rtol, "atol": self.options.atol, "reference": reference}
        return self._sides[0].ask("compare", blocks, case=case, seed=seed, output=output, **tolerance)[0]

    def _measure_memory(self, side: Side, baseline: Side | None = None) -> None:
        """Measure one call of the case with the most memory. With a baseline, the result of that call is checked, too."""
        found = []
        for case in range(self._sampler.cases):
            seed = new_seed()
            found.append(footprint_of(side, case, seed))
            answer, blocks = side.ask("output", index=0) if baseline else ({}, [])
            if baseline and not _holds_unknown(answer["output"]):
                self.violations.add_comparison(self._compare(case, seed, answer["output"], blocks))
        self.memory[side.name] = max(found, key=lambda each: each.peak_mb or 0)

    def _time(self, baseline: Side, optimized: Side) -> None:
        """Keep the first series of rounds without suspicion; a suspicion in all series is a violation."""
        against: list[str] = []
        for _ in range(_ATTEMPTS):
            shots = self._rounds(baseline, optimized)
            self._keep(shots)
            against = self._suspicions(baseline, shots)
            if not against:
                break
        for sentence in against:
            self.violations.add(sentence, True)
        self.ratio = ratio_of(self.times["baseline"], self.times["optimized"])
        if self.timer == timing.CUDA:
            self._time_alone(baseline, optimized)

    def _rounds(self, baseline: Side, optimized: Side) -> dict[str, list[TimedSample]]:
        shots: dict[str, list[TimedSample]] = {"baseline": [], "optimized": []}
        in_full = self.timed.rounds(self.options.repeat)
        for turn in range(self.options.repeat):
            calls = self._sampler.calls()
            for side in (baseline, optimized) if turn % 2 == 0 else (optimized, baseline):
                shots[side.name].append(self._sampler.sample(side, calls, keep=True))
                side.ask("settle")
            self.timed.check(baseline, optimized, calls, turn in in_full)
        return shots

    def _time_alone(self, baseline: Side, optimized: Side) -> None:
        """Time the work on the stream without launch gaps: the stream is blocked until a whole sample is queued. Work
        that waits for the device cannot be queued and has no such time."""
        times: dict[str, list[float]] = {"baseline": [], "optimized": []}
        for turn in range(_HELD_SAMPLES):
            if turn >= _HELD_TRIES and not any(times.values()):
                break
            calls = self._sampler.held_calls()
            for side in (baseline, optimized):
                hold = turn < _HELD_TRIES or bool(times[side.name])
                shot = self._sampler.sample(side, calls, hold=hold, keep=True)
                side.ask("settle")
                if shot.held and shot.device_ns is not None:
                    times[side.name].append(shot.device_ns / 1e6 / shot.calls)
            self.timed.check(baseline, optimized, calls, False)
        self.alone_times = times

    def _keep(self, shots: dict[str, list[TimedSample]]) -> None:
        self.timer, self.timer_reason = timing.timer_of(shots)
        self.times = {name: timing.per_call_ms(taken, self.timer) for name, taken in shots.items()}
        self.host_times = {name: timing.per_call_ms(taken, timing.HOST) for name, taken in shots.items()}

    # ---- what speaks against the figures

    def _suspicions(self, baseline: Side, shots: dict[str, list[TimedSample]]) -> list[str]:
        own = shots["optimized"]
        self.floor_ms = self._floor(baseline)
        found = [
            timing.elsewhere(own) if self.timer == timing.CUDA else None,
            timing.clocks_apart(own),
            timing.answers_late(shots["baseline"], own),
            timing.prepared_elsewhere(shots["baseline"], own),
            timing.floor_broken(self.times["baseline"], self.times["optimized"], self.floor_ms, sum(self._bytes.values())),
        ]
        return [sentence for sentence in found if sentence]

    def _value_cache(self, optimized: Side) -> None:
        """Time calls with new inputs, then with the same inputs again."""
        said: str | None = None
        for _ in range(_ATTEMPTS):
            new: list[TimedSample] = []
            known: list[TimedSample] = []
            for pair in range(_MAX_CACHE_PAIRS):
                if pair >= _CACHE_PAIRS and not timing.cached_undecided(timing.per_call_ms(new, self.timer), timing.per_call_ms(known, self.timer)):
                    break
                calls = self._sampler.calls()
                new.append(self._sampler.sample(optimized, calls))
                known.append(self._sampler.sample(optimized, calls))
            said = timing.cached(timing.per_call_ms(new, self.timer), timing.per_call_ms(known, self.timer))
            if said is None:
                return
        self.violations.add(said or "", True)

    def _look_again(self, optimized: Side) -> None:
        """Check the constraints, and the functions that the module replaced."""
        found = optimized.ask("replaced")[0]
        self.violations.add_replaced([str(name) for name in found["names"]])
        self.violations.add_hooks([str(name) for name in found["hooks"]])
        peak = self.memory["optimized"].peak_mb
        if peak is not None:
            self.violations.add_memory(peak, self.options.max_memory_mb)
        elif self.options.max_memory_mb is not None:
            self.violations.add("peak memory is unknown on this system")
        if self.ratio and not self.violations.void:
            self.violations.add_speedup(self.ratio.speedup, self.options.fail_under)

    def _floor(self, baseline: Side) -> float | None:
        """Return the time in ms to copy as many bytes as the inputs and outputs of each case; None if unknown."""
        total = 0.0
        for case, size in self._bytes.items():
            copied, _ = baseline.ask("copy", case=case, seed=new_seed())
            taken = copied.get("device_ns") if self.timer == timing.CUDA else copied["ns"]
            if not taken or not copied["bytes"]:
                return None
            total += taken / 1e6 * size / copied["bytes"]
        return total or None

    # ---- one side, when the other failed

    def _alone(self, side: Side) -> None:
        self._sampler.batch = 1
        self._measure_memory(side)
        self._sampler.warm_up([side], sum(self._bytes.values()))
        self._keep({side.name: self._sampler.take(side, self.options.repeat)})


def _holds_unknown(tree: dict[str, Any]) -> bool:
    return tree["is"] == "unknown" or any(map(_holds_unknown, tree.get("of", [])))
