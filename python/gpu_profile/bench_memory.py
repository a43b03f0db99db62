"""Memory use of a block: ``with gpu_profile.memory() as m``.

The source is the allocator: PyTorch's counters if it is imported and uses CUDA (its CPU tensors are not counted), CuPy's
pool, or Python's allocations (tracemalloc) without a framework. Numba, PyCUDA and cuda.core have no counters, so the driver is queried. The
driver's figure for the whole device is recorded, too; ``MemoryUse.outside_bytes`` is the difference: contexts, code,
libraries, other processes. Measuring a peak resets the framework's peak counter; blocks may be nested.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from .bench_native import device_memory
from .errors import Error

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["MemoryLimitError", "MemoryUse", "check_limit", "framework_counters", "memory"]

_MIB = 1 << 20
_open: list[memory] = []  # open blocks; they share a peak counter, which is reset when another block begins


class MemoryLimitError(Error):
    """Peak memory exceeded ``max_memory_mb``."""


class _Counts(NamedTuple):
    """Current bytes, and peak bytes since the last reset; None if the source does not count them."""

    allocated: int | None
    peak_allocated: int | None
    reserved: int | None
    peak_reserved: int | None


@dataclasses.dataclass(frozen=True)
class MemoryUse:
    """Bytes at the end of a block and peak bytes inside it; None if the source does not count them, never 0."""

    source: str  # "torch", "cupy", "driver", "tracemalloc"
    allocated_bytes: int | None
    peak_allocated_bytes: int | None
    reserved_bytes: int | None  # held by the framework, in use or cached
    peak_reserved_bytes: int | None
    device_used_bytes: int | None  # whole device, all processes, at the end
    device_total_bytes: int | None
    outside_bytes: int | None  # device_used_bytes - reserved_bytes
    notes: tuple[str, ...] = ()

    @property
    def peak_mb(self) -> float | None:
        """Peak allocated memory, otherwise peak reserved memory, in MiB; ``max_memory_mb`` limits this figure."""
        peak = self.peak_reserved_bytes if self.peak_allocated_bytes is None else self.peak_allocated_bytes
        return None if peak is None else peak / _MIB

    @property
    def current_mb(self) -> float | None:
        return None if self.allocated_bytes is None else self.allocated_bytes / _MIB

    def to_dict(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "notes": list(self.notes)}

    def __str__(self) -> str:
        named = (
            ("peak", self.peak_allocated_bytes), ("current", self.allocated_bytes), ("reserved peak", self.peak_reserved_bytes),
            ("device in use", self.device_used_bytes), ("outside the framework", self.outside_bytes),
        )
        known = " · ".join(f"{name} {_scaled(value)}" for name, value in named if value is not None)
        return f"{known or 'unknown'} ({self.source})"


class memory:  # noqa: N801 (used as a function: with memory() as m)
    """Count the memory of a ``with`` block. ``use`` is its MemoryUse, whose attributes are available here, too. Not
    thread-safe."""

    def __init__(self) -> None:
        self._source: Any = None
        self._use: MemoryUse | None = None
        self._peaks: list[int | None] = [None, None]

    @property
    def use(self) -> MemoryUse:
        """The use now, or at the end of the block. Raises Error before the block has begun."""
        if self._source is None:
            raise Error(2, "the memory() block has not begun; use `with gpu_profile.memory() as m`")
        return self._found() if self._use is None else self._use

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.use, name)

    def __enter__(self) -> Self:
        if self in _open:
            raise Error(2, "this memory() block is already open; create another one")
        self._use = None
        self._peaks = [None, None]
        for outer in _open:
            outer._keep_peaks()
        self._source = _source()
        self._source.begin()
        _open.append(self)
        return self

    def __exit__(self, *_exception: object) -> None:
        _open.remove(self)
        try:
            self._use = self._found()
            for outer in _open:
                outer._keep_peaks()
        finally:
            self._source.end()

    def __str__(self) -> str:
        return str(self.use)

    def _keep_peaks(self) -> _Counts:
        counts: _Counts = self._source.counts()
        for place, peak in enumerate((counts.peak_allocated, counts.peak_reserved)):
            seen = [each for each in (self._peaks[place], peak) if each is not None]
            self._peaks[place] = max(seen, default=None)
        return counts

    def _found(self) -> MemoryUse:
        counts = self._keep_peaks()
        used, total, notes = self._source.device()
        outside = None if used is None or counts.reserved is None else used - counts.reserved
        if outside is not None:
            notes.append("memory outside the framework: contexts, code and workspaces of libraries, and other processes on the device")
        return MemoryUse(self._source.name, counts.allocated, self._peaks[0], counts.reserved, self._peaks[1], used, total,
                         outside, (*self._source.notes, *notes))


def check_limit(use: MemoryUse, max_memory_mb: float | None) -> None:
    """Check a peak against a limit in MiB. Raises MemoryLimitError above the limit, Error if the peak is unknown."""
    if max_memory_mb is None:
        return
    peak = use.peak_mb
    if peak is None:
        raise Error(4, f"cannot check max_memory_mb: {use.source} does not record a peak")
    if peak > max_memory_mb:
        raise MemoryLimitError(1, f"Constraint violated: peak memory {peak:.0f}MB exceeds limit {max_memory_mb:.0f}MB")


class _Torch:
    name = "torch"

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.notes = ()

    def begin(self) -> None:
        self._torch.cuda.init()
        self._torch.cuda.reset_peak_memory_stats()

    def counts(self) -> _Counts:
        cuda = self._torch.cuda
        return _Counts(cuda.memory_allocated(), cuda.max_memory_allocated(), cuda.memory_reserved(), cuda.max_memory_reserved())

    def device(self) -> tuple[int | None, int | None, list[str]]:
        return _by_driver(self._torch.cuda.mem_get_info)

    def end(self) -> None:
        pass


class _Cupy:
    """CuPy records no peak, so a hook checks the pool after every allocation of this thread."""

    name = "cupy"

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._pool = cupy.get_default_memory_pool()
        self._hook: Any = None
        self._peak: list[int] = [0, 0]
        self.notes: tuple[str, ...] = ()

    def begin(self) -> None:
        self._peak = [0, 0]
        self._look()
        base = getattr(self._cupy.cuda, "MemoryHook", None)
        if base is None:
            self.notes = ("peaks are unknown: this CuPy has no MemoryHook",)
            return
        look = self._look
        self._hook = type("PeakHook", (base,), {"name": "gpu_profile", "malloc_postprocess": lambda _self, **_sizes: look()})()
        self._hook.__enter__()

    def counts(self) -> _Counts:
        self._look()
        known = self._hook is not None
        used, total = int(self._pool.used_bytes()), int(self._pool.total_bytes())
        return _Counts(used, self._peak[0] if known else None, total, self._peak[1] if known else None)

    def device(self) -> tuple[int | None, int | None, list[str]]:
        return _by_driver(self._cupy.cuda.runtime.memGetInfo)

    def end(self) -> None:
        if self._hook is not None:
            self._hook.__exit__(None, None, None)

    def _look(self) -> None:
        self._peak = [max(self._peak[0], int(self._pool.used_bytes())), max(self._peak[1], int(self._pool.total_bytes()))]


class _Tracemalloc:
    name = "tracemalloc"
    notes = ("Python's allocations inside the block (including NumPy's), by tracemalloc; allocations of other libraries are not counted",)

    def begin(self) -> None:
        import tracemalloc

        self._mine = not tracemalloc.is_tracing()
        if self._mine:
            tracemalloc.start()
        self._base = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()

    def counts(self) -> _Counts:
        import tracemalloc

        now, peak = tracemalloc.get_traced_memory()
        return _Counts(max(0, now - self._base), max(0, peak - self._base), None, None)

    def device(self) -> tuple[int | None, int | None, list[str]]:
        return None, None, []

    def end(self) -> None:
        import tracemalloc

        if self._mine:
            tracemalloc.stop()


class _Uncounted:
    """PyTorch without CUDA: its CPU allocator keeps no counters, and Python's see only the objects around its tensors."""

    name = "torch"
    notes = ("unknown: PyTorch's CPU allocator keeps no counters; torch.profiler with profile_memory=True records its allocations",)

    def begin(self) -> None:
        pass

    def counts(self) -> _Counts:
        return _Counts(None, None, None, None)

    def device(self) -> tuple[int | None, int | None, list[str]]:
        return None, None, []

    def end(self) -> None:
        pass


def _scaled(count: int) -> str:
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if abs(count) >= 1024**power:
            return f"{count / 1024**power:.4g} {unit}"
    return f"{count} B"


class _Driver:
    """Frameworks without counters: the growth of the whole device's memory use since the block began."""

    name = "driver"
    notes = ("growth of the whole device's memory use, by the driver; includes other processes, has no peak",)

    def __init__(self) -> None:
        self._base = self._used()

    def begin(self) -> None:
        self._base = self._used()

    def counts(self) -> _Counts:
        return _Counts(self._used() - self._base, None, None, None)

    def device(self) -> tuple[int | None, int | None, list[str]]:
        return _by_driver(lambda: device_memory(0))

    def end(self) -> None:
        pass

    @staticmethod
    def _used() -> int:
        free, total = device_memory(0)
        return total - free


def framework_counters() -> Any:
    """The counters of an imported framework with a device: name, begin(), counts(), end(); None if there is none."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    with contextlib.suppress(Exception):  # builds without CUDA raise in several ways
        if torch is not None and torch.cuda.is_available() and hasattr(torch.cuda, "max_memory_reserved"):
            return _Torch(torch)
    with contextlib.suppress(Exception):
        if cupy is not None and cupy.cuda.runtime.getDeviceCount() > 0:
            return _Cupy(cupy)
    return None


def _source() -> Any:
    counters = framework_counters()
    if counters is not None:
        return counters
    if any(name in sys.modules for name in ("numba.cuda", "cuda", "pycuda")):
        with contextlib.suppress(Error):
            return _Driver()
    return _Uncounted() if "torch" in sys.modules else _Tracemalloc()


def _by_driver(read: Any) -> tuple[int | None, int | None, list[str]]:
    try:
        free, total = read()
    except Exception as problem:
        return None, None, [f"the whole device's memory use is unknown: {problem}"]
    return int(total - free), int(total), []
