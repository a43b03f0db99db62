"""Device time of a sample: CUDA events on the framework's stream, through libgpuprof (gpuprof_stopwatch_*).

Runs in the process of a side. The library, the driver and the functions that return the current stream are obtained
before a module under test is imported. Without a device, library or stream, `reason` explains why, and only the host's
clock is used.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Callable

from .arrays import Arrays

__all__ = ["Stopwatch"]


class _Lap(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("device_ns", ctypes.c_double),
        ("beyond_ns", ctypes.c_double),
        ("idle_wait_ns", ctypes.c_double),
        ("held", ctypes.c_int32),
    ]


class Stopwatch:
    """One lap: find(), start(), the work, stop(), read(). Each does nothing once `reason` is set."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._streams = _streams()
        self._watch = ctypes.c_void_p()
        self._stream: int | None = None
        self.reason: str | None = "no framework with a CUDA device is loaded"
        if self._streams:
            self.reason = self._open()

    def find(self, values: Any) -> None:
        """Find the stream for work on these inputs: the framework's current one if an array is on a device."""
        self._stream = None
        if not self._watch:
            return
        families = {family.name for leaf in self._arrays.leaves(values) if (family := self._arrays.family(leaf)) and _on_device(family.name, leaf)}
        found = next((stream for name, stream in self._streams.items() if name in families), None)
        self.reason = None if found else "no input is an array on a CUDA device"
        self._stream = found() if found else None

    def start(self, hold: bool) -> None:
        if self._stream is not None:
            self._do(self._calls[0], ctypes.c_uint64(self._stream), ctypes.c_int32(hold))

    def stop(self) -> None:
        if self._stream is not None:
            self._do(self._calls[1])

    def read(self) -> dict[str, Any]:
        """Return the lap's figures in ns and `held`, or the reason for a missing device time."""
        lap = _Lap(size=ctypes.sizeof(_Lap))
        if self._stream is not None:
            self._do(self._calls[2], ctypes.byref(lap))
        if self._stream is None:
            return {"no_device_time": self.reason}
        return {name: getattr(lap, name) for name in ("device_ns", "beyond_ns", "idle_wait_ns", "held")}

    def _open(self) -> str | None:
        from ..errors import Error

        try:
            from ..native import library

            loaded: Any = library()
            self._calls = tuple(getattr(loaded, f"gpuprof_stopwatch_{name}") for name in ("start", "stop", "read"))
            self._last_error: Any = loaded.gpuprof_last_error
            code = loaded.gpuprof_stopwatch_open(ctypes.byref(self._watch))
        except (Error, AttributeError, OSError) as problem:  # the library is missing or older
            return f"device events need libgpuprof: {problem}"
        return self._said() if code else None

    def _do(self, function: Any, *arguments: Any) -> None:
        if function(self._watch, *arguments):
            self.reason, self._stream = self._said(), None

    def _said(self) -> str:
        return str((self._last_error() or b"").decode("utf-8", "replace"))


def _streams() -> dict[str, Callable[[], int]]:
    """Return the functions for the current stream, by framework."""
    found: dict[str, Callable[[], int]] = {}
    cuda: Any = getattr(sys.modules.get("torch"), "cuda", None)
    if hasattr(cuda, "current_stream") and cuda.is_available():
        current = cuda.current_stream
        found["torch"] = lambda: int(current().cuda_stream)
    cuda = getattr(sys.modules.get("cupy"), "cuda", None)
    if hasattr(cuda, "get_current_stream"):
        now = cuda.get_current_stream
        found["cupy"] = lambda: int(now().ptr)
    return found


def _on_device(family: str, leaf: Any) -> bool:
    return family == "cupy" or (family == "torch" and bool(leaf.is_cuda))
