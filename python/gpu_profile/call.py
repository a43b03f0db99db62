"""One call of a decorated function: its runs, its report, and the value that the caller receives.

The wrappers of the decorator (decorator.py) call the function; this module does the rest. In a child created by fork()
during the call, nothing is reported, because the parent has the figures.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .repeats import MultiRunResult
from .reporting import deliver
from .samples import SampleSeries
from .summary import GpuSummary

if TYPE_CHECKING:
    from .decorator import Plan

__all__ = ["Call", "ProfiledResult"]

T = TypeVar("T")
G = TypeVar("G")


class ProfiledResult(Generic[T, G]):
    """The return value of a function, and the device's activity during the call.

    ``gpu`` is a GpuSummary, or a MultiRunResult if ``repeats`` > 1; ``value`` is then that of the last run.
    ``summaries`` (one per device) and ``samples`` are those of the last run.
    """

    __slots__ = ("value", "gpu", "summaries", "samples")

    def __init__(
        self, value: T, gpu: G, summaries: list[GpuSummary] | None = None, samples: SampleSeries | None = None
    ) -> None:
        self.value = value
        self.gpu = gpu
        self.summaries = summaries or []
        self.samples = SampleSeries() if samples is None else samples

    def __repr__(self) -> str:
        return f"ProfiledResult(value={self.value!r}, gpu={self.gpu!r})"


class Call:
    """One outermost call. Entered once per run, then ``finish`` is called. A failing run is reported immediately and
    is the last."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._runs: list[list[GpuSummary]] = []
        self._process = os.getpid()
        self._ended = False

    def goes_on(self) -> bool:
        """Whether this is the call's process and the call has not ended; a task started in it can outlive it."""
        return not self._ended and os.getpid() == self._process

    def finish(self, value: Any) -> Any:
        """Deliver the report, and return the caller's result in place of `value`."""
        gpu = self._report()
        if not self._plan.return_profile:
            return value
        return ProfiledResult(value, gpu, self._monitor.summaries, self._monitor.samples)

    def __enter__(self) -> None:
        self._monitor = self._plan.monitor()
        self._monitor.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._monitor.__exit__(kind, problem, trace)
        except BaseException as own:
            problem = own
            raise
        finally:
            self._record(problem)
            self._ended = problem is not None or len(self._runs) == self._plan.repeats

    def _record(self, problem: BaseException | None) -> None:
        if problem is None:
            self._runs.append(self._monitor.summaries)
        elif isinstance(problem, GeneratorExit):  # not a failure: the consumer stopped early
            self._runs.append(self._monitor.summaries)
            self._report()
        elif self._plan.repeats == 1:
            note = f"the region ended with {type(problem).__name__}"
            self._runs.append([summary.with_note(note) for summary in self._monitor.summaries])
            self._report()
        elif self._runs:
            done, asked = len(self._runs), self._plan.repeats
            self._report(f"{done} of {asked} runs; the next one ended with {type(problem).__name__}")

    def _report(self, note: str = "") -> GpuSummary | MultiRunResult:
        results: list[GpuSummary | MultiRunResult] = list(self._runs[0])
        if self._plan.repeats > 1:
            gathered = MultiRunResult.of_runs(self._runs, note)
            results = [gathered, *gathered.other_devices]
        if os.getpid() == self._process:
            deliver(self._plan.report, results)
        return results[0]
