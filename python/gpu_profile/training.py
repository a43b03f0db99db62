"""Monitors a training run for the callbacks of Lightning and Transformers: step times, device figures per epoch, ranges of
steps in recordings, and a JSON summary per rank.

A failure in here never reaches the training: it becomes a warning, and the rest of the run is not monitored. Nothing is started
before the training begins, so that callbacks can be pickled, and nothing is imported but a framework that runs already.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import math
import os
import sys
import threading
import time
from array import array
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from . import recording
from .atomic_file import atomic_replace
from .errors import Error
from .reporting import warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .arguments import Device
    from .monitor import GpuMonitor

__all__ = ["Options", "TrainingRun"]

_FILE, _RANGE = "gpu-profile-training.json", "step"
_SCHEMA = 1


@dataclasses.dataclass(frozen=True)
class Options:
    """The arguments of the callbacks."""

    device: Device | None = None
    interval_s: float = 0.2
    backend: str = "auto"
    warmup_steps: int = 10
    path: str | os.PathLike[str] | None = None
    mark_steps: bool = True
    report: bool | Callable[[dict[str, Any]], object] = True
    record_at: int | None = None
    record_steps: int = 10

    def __post_init__(self) -> None:
        if self.warmup_steps < 0:
            raise ValueError(f"warmup_steps must be at least 0, got {self.warmup_steps}")
        if self.record_steps < 1 or (self.record_at is not None and self.record_at < 1):
            raise ValueError(f"record_at and record_steps must be at least 1, got {self.record_at} and {self.record_steps}")
        self.monitor()  # raises invalid arguments here, not in the training

    def monitor(self) -> GpuMonitor:
        from .torch import GpuMonitor

        return GpuMonitor(self.device, self.interval_s, self.backend)


F = TypeVar("F", bound=Callable[..., None])


def _guarded(method: F) -> F:
    """After a failure, which is said once, the methods of a run do nothing."""

    @functools.wraps(method)
    def call(self: TrainingRun, *arguments: Any) -> None:
        if self.failed:
            return
        try:
            method(self, *arguments)
        except Exception as problem:
            self.failed = True
            warn(f"the training continues without monitoring: {type(problem).__name__}: {problem}")
            self.close()

    return call  # type: ignore[return-value]


class TrainingRun:
    """One training. The methods are called in the order of the events. Between two steps a framework may do other work, such as a
    validation: `resume` marks its end; `interrupt` says that there is some whose end is unknown, and the next step does not count."""

    def __init__(self, options: Options, framework: str) -> None:
        self.failed = False
        self._options = options
        self._framework = framework
        self._monitor: GpuMonitor | None = None
        self._marks: list[Any] = []
        self._begun = False

    @_guarded
    def begin(self, rank: int, world_size: int, folder: str) -> None:
        self._rank, self._world_size = rank, world_size
        self._path = _path_of(self._options.path, folder, rank, world_size)
        self._left = self._options.warmup_steps
        self._all = StepTimes()
        self._step = 0
        self._epochs = list[dict[str, Any]]()
        self._epoch: int | None = None
        self._problem = ""
        self._begun = True

    @_guarded
    def epoch_begin(self, number: int) -> None:
        if self._begun:
            self.epoch_end()
            self._epoch = number
            self._times = StepTimes()
            self._warmed_up = 0
            self._interrupted = 0
            self._counts = True
            if self._left == 0:
                self._start_monitor()
            self._mark = self._step_begun = time.perf_counter()

    @_guarded
    def step_begin(self) -> None:
        if self._begun and self._epoch is not None:
            self._step_begun = time.perf_counter()
            self._step += 1
            if self._step == self._options.record_at and self._rank == 0 and recording.in_standby():
                threading.Thread(target=_record, args=(self._options.record_steps,), daemon=True).start()
            if self._options.mark_steps:
                self._marks = _begin_range()
            if len(self._marks) < 2 and (self._options.mark_steps or recording.in_standby()):
                recording.step()  # no range of NVTX marks it

    @_guarded
    def step_end(self) -> None:
        if not self._begun or self._epoch is None:
            return
        self._end_range()
        now = time.perf_counter()
        if self._left > 0:
            self._left -= 1
            self._warmed_up += 1
            if self._left == 0:
                self._start_monitor()
                now = time.perf_counter()
        elif not self._counts:
            self._interrupted += 1
        else:
            self._times.add(now - self._mark, self._step_begun - self._mark)
        self._mark = self._step_begun = now
        self._counts = True

    @_guarded
    def resume(self) -> None:
        self._mark = self._step_begun = time.perf_counter()

    @_guarded
    def interrupt(self) -> None:
        self._counts = False

    @_guarded
    def epoch_end(self) -> None:
        if not self._begun or self._epoch is None:
            return
        self._end_range()
        values: dict[str, Any] = {"epoch": self._epoch, "warmup_steps": self._warmed_up, "interrupted_steps": self._interrupted, **self._times.to_dict(), "gpu": []}
        if self._monitor is not None:
            self._monitor.stop()
            values["gpu"] = [summary.to_dict() for summary in self._monitor.summaries]
            self._texts = [summary.format() for summary in self._monitor.summaries]
        self._all.extend(self._times)
        self._epochs.append(values)
        self._monitor = self._epoch = None
        self._write()

    @_guarded
    def end(self, problem: BaseException | None = None) -> None:
        """The training ended, perhaps with an exception."""
        if not self._begun:
            return
        if problem is not None:
            self._problem = type(problem).__name__
        self.epoch_end()
        self._begun = False
        self._write()
        if callable(self._options.report):
            self._options.report(self.to_dict())
        elif self._options.report and self._rank == 0 and sys.stderr is not None:
            print("\n".join([*self._lines(), *getattr(self, "_texts", [])]), file=sys.stderr)

    def close(self) -> None:
        """Discard what runs."""
        try:
            self._end_range()
            if self._monitor is not None:
                self._monitor.stop()
        except Exception:  # the first problem was said
            pass
        self._monitor = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "document": "training", "schema": _SCHEMA, "framework": self._framework, "rank": self._rank, "world_size": self._world_size,
            "complete": not self._begun and not self._problem, "problem": self._problem or None,
            "warmup_steps": self._options.warmup_steps - self._left, "interrupted_steps": sum(epoch["interrupted_steps"] for epoch in self._epochs),
            **self._all.to_dict(), "epochs": self._epochs,
        }  # fmt: skip

    def _start_monitor(self) -> None:
        self._monitor = self._options.monitor().start()

    def _end_range(self) -> None:
        while self._marks:
            self._marks.pop()()

    def _write(self) -> None:
        try:
            os.makedirs(os.path.dirname(self._path) or ".", exist_ok=True)
            with atomic_replace(self._path) as part, open(part, "w", encoding="utf-8") as file:
                json.dump(self.to_dict(), file, indent=1)
        except OSError as problem:
            warn(f"cannot write {self._path}: {problem.strerror}; the training continues")

    def _lines(self) -> list[str]:
        found = self.to_dict()
        ranks = "" if self._world_size == 1 else f", rank {self._rank} of {self._world_size}"
        warmup = found["warmup_steps"]
        lines = [f"gpu-profile: training{ranks}: {found['steps']} step{'s' * (found['steps'] != 1)} after {warmup} warm-up step{'s' * (warmup != 1)} ({self._path})"]
        step, fetch = found["step_s"], found["fetch_s"]
        if step is not None:
            lines.append(f"  step    mean {_ms(step['mean'])} · median {_ms(step['p50'])} · p95 {_ms(step['p95'])} · max {_ms(step['max'])}")
            lines.append(f"  fetch   mean {_ms(fetch['mean'])} · {found['fetch_pct']:.1f} % of the step, before the batch is there")
        return lines


def _path_of(path: str | os.PathLike[str] | None, folder: str, rank: int, world_size: int) -> str:
    """Each rank writes a file of its own."""
    named = os.path.join(folder, _FILE) if path is None else os.fspath(path)
    if world_size == 1:
        return named
    root, ending = os.path.splitext(named)
    return f"{root}.rank{rank}{ending}"


def _begin_range() -> list[Callable[[], object]]:
    """Open a range called "step" for the recorder: NVTX for gpu-profile record and Nsight Systems, record_function for
    torch.profiler. Return what closes them. Only of a PyTorch that is loaded."""
    torch = sys.modules.get("torch")
    if torch is None:
        return []
    function = torch.profiler.record_function(_RANGE)
    function.__enter__()
    ends: list[Callable[[], object]] = [functools.partial(function.__exit__, None, None, None)]
    if torch.cuda.is_initialized():
        with contextlib.suppress(RuntimeError):  # a PyTorch that was built without NVTX
            torch.cuda.nvtx.range_push(_RANGE)
            ends.append(torch.cuda.nvtx.range_pop)
    return ends


def _record(steps: int) -> None:
    """In a thread, because the folder of the captures may be on a slow file system."""
    try:
        recording.trigger(steps=steps)
    except Error as problem:
        warn(f"no steps are recorded: {str(problem).removeprefix('gpu-profile: ')}; the training continues")


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms"


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
