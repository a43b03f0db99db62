"""One monitored region: a native session and a clock, or only the clock and the reason why there is no session.

Without ``strict`` the monitored code must run whatever is missing on the machine, so a failure to start becomes a note
in the summary. Invalid arguments are an error in both cases. Results are read once, when the region ends, and no native
object outlives it.
"""

from __future__ import annotations

import time
import weakref
from typing import TYPE_CHECKING, Any

from .errors import Error, GpuBackendError
from .samples import SampleSeries
from .summary import GpuSummary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .native import Session

__all__ = ["Region"]

_USAGE = 2  # exit code for invalid arguments


class Region:
    """A region, monitored from construction. Not thread-safe, except for ``summaries()``."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        """Start monitoring with the options of a GpuMonitor. Raises Error for invalid arguments, and with ``strict`` GpuBackendError if nothing can
        be sampled."""
        self._options = options
        self._reason: str | None = None
        self._session = self._started()
        self._begun = time.perf_counter()

    def summaries(self) -> list[GpuSummary]:
        """Return the summaries of all devices so far; at least one."""
        if self._session is None:
            return [self._without_samples(self._reason or "")]
        try:
            return [GpuSummary.from_dict(values) for values in self._session.summaries()]
        except Error as problem:
            return [self._without_samples(f"cannot read the summary: {problem.message}")]

    def samples(self) -> SampleSeries:
        """Return the samples of all devices so far; empty unless they are stored."""
        if self._session is None or not self._options["store_samples"]:
            return SampleSeries()
        devices = [values["device"] for values in self._session.summaries()]
        return SampleSeries.of_columns((device, self._session.columns(i)) for i, device in enumerate(devices))

    def finish(self) -> tuple[list[GpuSummary], SampleSeries]:
        """End the region and return the final summaries() and samples()."""
        if self._session is None:
            return self.summaries(), SampleSeries()
        notes = []
        try:
            self._session.stop()
        except Error as problem:
            notes.append(f"cannot stop the monitor cleanly: {problem.message}")
        try:
            samples = self.samples()
        except Error as problem:
            notes.append(f"cannot read the samples: {problem.message}")
            samples = SampleSeries()
        summaries = self.summaries()
        for note in notes:
            summaries = [summary.with_note(note) for summary in summaries]
        self.close()
        return summaries, samples

    def in_child(self) -> list[GpuSummary]:
        """Return the replacement for summaries() in a child created by fork()."""
        return [self._without_samples("no figures in a forked process; the parent has them")]

    def close(self) -> None:
        """End the region and discard its results."""
        if self._session is not None:
            self._closing()

    def _started(self) -> Session | None:
        try:
            from . import native

            session = native.Session(self._options)
        except (Error, ImportError) as problem:
            code, message = getattr(problem, "code", None), str(problem)
            if code == _USAGE:
                raise
            if self._options["strict"]:
                raise GpuBackendError(code, message) from problem
            self._reason = f"no samples: {message}"
            return None
        # Also runs at interpreter exit, while daemon threads may still be in the region.
        self._closing = weakref.finalize(self, session.close)
        return session

    def _without_samples(self, reason: str) -> GpuSummary:
        devices = self._options["device"]
        return GpuSummary(
            device=int(devices) if devices.isdigit() else 0,
            backend="none",
            pattern="unknown",
            duration_s=max(0.0, time.perf_counter() - self._begun - self._options["warmup_s"]),
            interval_s=self._options["interval_s"],
            notes=(reason,),
        )
