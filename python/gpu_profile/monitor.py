"""GpuMonitor: samples a device while code runs, and summarises how busy it was.

A monitor can be reused: each outermost `with` (or start() ... stop()) is a new region. Entering it while it runs, in
any thread, extends the region instead of starting a new one. In a child created by fork() a running monitor is
inactive, and leaving it does nothing. Sampling happens in a separate process, so it never competes for the
interpreter's lock.
"""

from __future__ import annotations

import math
import os
import threading
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable

from .arguments import Device, device_list, unknown
from .errors import Error
from .reporting import warn

if TYPE_CHECKING:  # imported at the start of a region otherwise, to keep importing this module cheap
    from typing_extensions import Self

    from .region import Region
    from .samples import SampleSeries
    from .summary import GpuSummary

__all__ = ["GpuMonitor"]


_MIN_INTERVAL_S = 0.001
_BACKENDS = ("auto", "nvml", "smi", "none")
_BACKENDS_TEXT = f"{', '.join(_BACKENDS)} or replay:FILE"


class GpuMonitor:
    """Sample devices from start() to stop(), or during a `with` or `async with` block.

    ``device``: a number in CUDA's numbering, a UUID, "all", or a list of them (default 0).
    ``interval_s``: seconds between samples (default 0.2, minimum 0.001).
    ``backend``: auto (default), nvml, smi, none, or replay:FILE.
    ``strict``: raise GpuBackendError if nothing can be sampled (default False: the summary states the reason).
    ``sync_fn``: called before and after the region to wait for asynchronous work (default None), such as
    ``torch.cuda.synchronize``.
    ``warmup_s``: seconds at the start of a region to exclude from the statistics (default 0).
    ``store_samples``: keep the samples for ``samples`` (default False), up to ``max_samples`` per device (default
    65536).
    ``capture``: file for the samples, readable by ``gpu-profile report FILE samples`` (default None).
    """

    def __init__(
        self,
        device: Device = 0,
        interval_s: float = 0.2,
        backend: str = "auto",
        strict: bool = False,
        sync_fn: Callable[[], object] | None = None,
        warmup_s: float = 0.0,
        store_samples: bool = False,
        max_samples: int | None = None,
        capture: str | os.PathLike[str] | None = None,
    ) -> None:
        """Check the arguments without loading or starting anything. Raises ValueError or TypeError."""
        if not _MIN_INTERVAL_S <= interval_s < math.inf:
            raise ValueError(f"interval_s must be finite and at least {_MIN_INTERVAL_S} seconds, got {interval_s}")
        if not 0 <= warmup_s < math.inf:
            raise ValueError(f"warmup_s must be finite and at least 0 seconds, got {warmup_s}")
        if max_samples is not None and max_samples < 1:
            raise ValueError(f"max_samples must be at least 1, got {max_samples}")
        if sync_fn is not None and not callable(sync_fn):
            raise TypeError(f"invalid sync_fn {sync_fn!r}: expected a function without arguments")
        if not isinstance(backend, str):
            raise TypeError(f"invalid backend {backend!r}: expected {_BACKENDS_TEXT}")
        if backend not in _BACKENDS and not backend.startswith("replay:"):
            raise ValueError(unknown("backend", backend, (*_BACKENDS, "replay:FILE")))
        self._sync_fn = sync_fn
        self._options: dict[str, Any] = {  # by their names in declared.py
            "device": device_list(device),
            "backend": backend,
            "interval_s": float(interval_s),
            "warmup_s": float(warmup_s),
            "max_samples": max_samples or 0,  # 0: the library's default
            "strict": bool(strict),
            "store_samples": bool(store_samples),
            "capture": None if capture is None else os.fspath(capture),
        }
        self._lock = threading.RLock()
        self._depth = 0
        self._region: Region | None = None
        self._summaries: list[GpuSummary] = []
        self._samples: SampleSeries | None = None
        self._forked = False
        _monitors.add(self)

    def start(self) -> Self:
        """Start a region; does nothing while one is active. An exception of sync_fn is raised and nothing starts."""
        if self._region is None:
            from .region import Region

            self._synchronize()
            with self._lock:
                if self._region is None:
                    self._region = Region(self._options)
                    self._forked = False
        return self

    def stop(self) -> None:
        """End the region; does nothing without an active region. An exception of sync_fn is raised after the end."""
        try:
            if self._region is not None:
                self._synchronize()
        finally:
            with self._lock:
                region, self._region = self._region, None
                if region is not None:
                    self._summaries, self._samples = region.finish()

    @property
    def summary(self) -> GpuSummary:
        """The summary of the first device for the last region, or for the active one so far."""
        return self.summaries[0]

    @property
    def summaries(self) -> list[GpuSummary]:
        """The summaries of all devices, like `summary`. Raises Error before the first region."""
        with self._lock:
            found = self._summaries if self._region is None else self._region.summaries()
        if not found:
            raise Error(None, "this monitor has not run yet; use it in `with`, or call start() and stop()")
        return list(found)

    @property
    def samples(self) -> SampleSeries:
        """The samples of all devices in time order; empty without ``store_samples``."""
        from .samples import SampleSeries

        with self._lock:
            found = self._samples if self._region is None else self._region.samples()
        return SampleSeries() if found is None else found

    def to_pandas(self) -> Any:
        """Return the samples as a pandas DataFrame."""
        return self.samples.to_pandas()

    def plot(self, *fields: str) -> Any:
        """Return the samples as a matplotlib Figure; see SampleSeries.plot()."""
        return self.samples.plot(fields) if fields else self.samples.plot()

    def __enter__(self) -> Self:
        with self._lock:
            self._depth += 1
            outermost = self._depth == 1
        if outermost:
            try:
                self.start()
            except BaseException:
                with self._lock:
                    self._depth -= 1
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._depth -= 1
            outermost = self._depth == 0
        if not outermost:
            return
        try:
            self.stop()
        except Exception as own:
            if problem is None:
                raise
            # The program must see the exception of the region.
            warn(f"sync_fn failed after the region failed: {type(own).__name__}: {own}")

    async def __aenter__(self) -> Self:
        """As `with`, in a thread of the event loop's executor, so that other tasks continue. sync_fn is called there,
        too: let it name its device, because CUDA's current device differs by thread."""
        from .async_calls import in_thread

        return await in_thread(self.__enter__, undo=lambda: self.__exit__(None, None, None))

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        from .async_calls import in_thread

        await in_thread(lambda: self.__exit__(kind, problem, trace))

    def _repr_html_(self) -> str:
        from . import html

        try:
            return html.preformatted("\n\n".join(summary.format() for summary in self.summaries))
        except Error as problem:
            return html.preformatted(problem.message)

    def _synchronize(self) -> None:
        # A forked child cannot use its parent's CUDA context.
        if self._sync_fn is not None and not self._forked:
            self._sync_fn()

    def _after_fork(self) -> None:
        """Reset in the child: the region belongs to the parent, and another thread may have held the lock."""
        self._lock = threading.RLock()
        if self._region is not None:
            self._summaries = self._region.in_child()
            self._samples = None
            self._region = None
            self._forked = True


_monitors: weakref.WeakSet[GpuMonitor] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for monitor in list(_monitors):
        monitor._after_fork()


os.register_at_fork(after_in_child=_after_fork_in_child)
