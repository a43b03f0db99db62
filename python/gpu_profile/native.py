"""libgpuprof.so through ctypes: loading it, and native monitors as objects. The C interface is capi/gpuprof.h.

A ``Session`` is one run of a native monitor, from start to close. Its lock serves one purpose: a string returned by the
library is valid until the next call for the same monitor. ctypes lets other Python threads run during every call. In a
child created by fork() a session is dead: closing it does nothing, everything else raises Error. This module contains
no logic about devices or statistics. It is imported when the first monitor starts.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading
from array import array
from typing import TYPE_CHECKING, Any

from .errors import Error, GpuBackendError
from .program import built_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Session", "check", "declare", "last_error", "library", "metric_fields", "summary_text"]

_UNKNOWN_FIELD = ctypes.c_size_t(-1).value
_CLOSE_TIMEOUT_S = 2.0  # a thread may be inside gpuprof_monitor_stop, which returns within a second

_loaded: ctypes.CDLL | None = None


class Session:
    """One run of a native monitor. It samples from construction to stop(); its results can be read until close()."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        """Start sampling. Raises Error with the library's code and message, or GpuBackendError without the library."""
        self._library = library()
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._monitor = ctypes.c_void_p()
        from . import declared

        native = declared.filled("monitor", options)
        check(self._library.gpuprof_monitor_open(ctypes.byref(native), ctypes.byref(self._monitor)))
        try:
            check(self._library.gpuprof_monitor_start(self._monitor))
        except BaseException:
            self.close()
            raise

    def stop(self) -> None:
        with self._lock:
            check(self._library.gpuprof_monitor_stop(self._open()))

    def summaries(self) -> list[dict[str, Any]]:
        """Return one summary object per device, or one with the reason if no device is found."""
        with self._lock:
            monitor = self._open()
            count = self._library.gpuprof_monitor_device_count(monitor)
            texts = [self._library.gpuprof_monitor_summary_json(monitor, index) for index in range(max(1, count))]
        if None in texts:
            raise Error(6, last_error())
        return [json.loads(text) for text in texts]

    def columns(self, index: int) -> dict[str, array[float]]:
        """Return the stored samples of the index-th device: time_s and every metric, NaN where absent."""
        with self._lock:
            monitor = self._open()
            count = self._library.gpuprof_monitor_sample_count(monitor, index)
            return {field: self._column(monitor, index, field, count) for field in ("time_s", *metric_fields())}

    def close(self) -> None:
        """Stop and free it. Waits for a thread that uses it; if that thread does not return, the memory is leaked."""
        if os.getpid() != self._process or not self._lock.acquire(timeout=_CLOSE_TIMEOUT_S):
            return
        try:
            monitor, self._monitor = self._monitor, ctypes.c_void_p()
            self._library.gpuprof_monitor_free(monitor)
        finally:
            self._lock.release()

    def _column(self, monitor: ctypes.c_void_p, index: int, field: str, count: int) -> array[float]:
        values = array("d", bytes(8 * count))
        out = (ctypes.c_double * count).from_buffer(values) if count else None
        there = self._library.gpuprof_monitor_column(monitor, index, field.encode(), out, count)
        if there == _UNKNOWN_FIELD:
            raise Error(6, f"libgpuprof.so has no column '{field}'; its version does not match this package")
        # During sampling the number can only have grown since.
        return values

    def _open(self) -> ctypes.c_void_p:
        if os.getpid() != self._process:
            raise Error(6, "this monitor belongs to the parent process")
        if not self._monitor:
            raise Error(6, "this monitor is closed")
        return self._monitor


def library() -> ctypes.CDLL:
    """Load the library once: GPUPROF_LIBRARY, otherwise the wheel's, otherwise the build of this checkout.

    Raises GpuBackendError with the searched locations.
    """
    global _loaded
    if _loaded is None:
        _loaded = _load(_library_path())
    return _loaded


def check(code: int) -> None:
    """Check the status returned by a library function. Raises Error unless it is success."""
    if code != 0:
        raise Error(code, last_error())


def last_error() -> str:
    """Return the library's message for the last failure on this thread."""
    said: bytes = library().gpuprof_last_error() or b""
    return said.decode("utf-8", "replace") or "libgpuprof.so failed without a message"


def declare(lib: ctypes.CDLL, functions: Iterable[tuple[str, Any, list[Any]]]) -> None:
    """Declare each function (name, result, arguments) to ctypes. Raises AttributeError for a missing function."""
    for name, result, arguments in functions:
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = arguments


def metric_fields() -> list[str]:
    """Return the metrics of a sample, as listed by the library."""
    return [metric["field"] for metric in json.loads(library().gpuprof_metrics_json())]


def summary_text(summary_json: str) -> str:
    """Format a summary object as the command line does."""
    text: bytes | None = library().gpuprof_summary_text(summary_json.encode())
    if text is None:
        raise Error(6, last_error())
    return text.decode("utf-8", "replace")


def _library_path() -> str:
    named = os.environ.get("GPUPROF_LIBRARY")
    if named:
        return named
    places = built_files("libgpuprof.so")
    for place in places:
        if os.path.exists(place):
            return place
    looked = " or ".join(os.path.dirname(place) for place in places)
    raise GpuBackendError(
        None, f"cannot find libgpuprof.so in {looked}; build it with ./run, or set GPUPROF_LIBRARY to its path"
    )


def _load(path: str) -> ctypes.CDLL:
    try:
        loaded = ctypes.CDLL(path)
    except OSError as problem:
        raise GpuBackendError(None, f"cannot load libgpuprof.so: {problem}") from problem
    try:
        _declare(loaded)
    except AttributeError as problem:
        raise GpuBackendError(None, f"{path} does not match this package: {problem}") from problem
    return loaded


def _declare(lib: ctypes.CDLL) -> None:
    text, size, monitor = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p
    doubles = ctypes.POINTER(ctypes.c_double)
    declare(lib, (
        ("gpuprof_version", text, []),
        ("gpuprof_last_error", text, []),
        ("gpuprof_options_json", text, []),
        ("gpuprof_monitor_open", ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(monitor)]),
        ("gpuprof_monitor_start", ctypes.c_int, [monitor]),
        ("gpuprof_monitor_stop", ctypes.c_int, [monitor]),
        ("gpuprof_monitor_free", None, [monitor]),
        ("gpuprof_monitor_device_count", size, [monitor]),
        ("gpuprof_monitor_summary_json", text, [monitor, size]),
        ("gpuprof_summary_text", text, [text]),
        ("gpuprof_monitor_sample_count", size, [monitor, size]),
        ("gpuprof_monitor_column", size, [monitor, size, text, doubles, size]),
        ("gpuprof_metrics_json", text, []),
    ))
