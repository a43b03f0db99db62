"""libgpuprof.so by ctypes: loading it, and one monitor of it as an object. The C interface is capi/gpuprof.h.

A ``Session`` is one run of a native monitor, from start to close. Its lock serves one purpose: a string that the library
returns lives until the next call for the same monitor. ctypes lets other Python threads run during every call. In a
child made by fork() a session is dead: closing it does nothing, everything else raises Error.
This module decides nothing about devices or statistics. It is imported when the first monitor starts, not before.
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
    from collections.abc import Iterable

    from .region import Options

__all__ = ["Session", "check", "declare", "last_error", "library", "metric_fields", "summary_text"]

_UNKNOWN_FIELD = ctypes.c_size_t(-1).value
_CLOSE_PATIENCE_S = 2.0  # a thread may be inside gpuprof_monitor_stop, which returns within a second

_loaded: ctypes.CDLL | None = None


class Session:
    """One run of a native monitor. It samples from construction to stop(); what it found can be read until close()."""

    def __init__(self, options: Options) -> None:
        """Raises Error with the library's code and sentence, or GpuBackendError when there is no library."""
        self._library = library()
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._monitor = ctypes.c_void_p()
        from . import declared

        native = declared.filled("monitor", options._asdict())
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
        """One summary object per device, and one that says why when there is no device."""
        with self._lock:
            monitor = self._open()
            count = self._library.gpuprof_monitor_device_count(monitor)
            texts = [self._library.gpuprof_monitor_summary_json(monitor, index) for index in range(max(1, count))]
        if None in texts:
            raise Error(6, last_error())
        return [json.loads(text) for text in texts]

    def columns(self, index: int) -> dict[str, array[float]]:
        """The kept samples of the index-th device: time_s and every metric, NaN where a sample has no value."""
        with self._lock:
            monitor = self._open()
            count = self._library.gpuprof_monitor_sample_count(monitor, index)
            return {field: self._column(monitor, index, field, count) for field in ("time_s", *metric_fields())}

    def close(self) -> None:
        """Stops and frees it. A thread that is using it is waited for; if it does not return, the memory stays."""
        if os.getpid() != self._process or not self._lock.acquire(timeout=_CLOSE_PATIENCE_S):
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
            raise Error(6, f"libgpuprof.so has no column {field}; it is of another version than this package")
        # While sampling goes on there may be more by now, never fewer.
        return values

    def _open(self) -> ctypes.c_void_p:
        if os.getpid() != self._process:
            raise Error(6, "this monitor belongs to the parent process")
        if not self._monitor:
            raise Error(6, "this monitor is closed")
        return self._monitor


def library() -> ctypes.CDLL:
    """The library, loaded once: GPUPROF_LIBRARY, else the wheel's, else the build of this checkout.

    Raises GpuBackendError, saying where it was looked for.
    """
    global _loaded
    if _loaded is None:
        _loaded = _load(_library_path())
    return _loaded


def check(code: int) -> None:
    """Raises Error for what a function of the library answered, unless it is success."""
    if code != 0:
        raise Error(code, last_error())


def last_error() -> str:
    """What the library said of the last failure on this thread."""
    said: bytes = library().gpuprof_last_error() or b""
    return said.decode("utf-8", "replace") or "libgpuprof.so failed and did not say why"


def declare(lib: ctypes.CDLL, functions: Iterable[tuple[str, Any, list[Any]]]) -> None:
    """Tells ctypes (name, result, arguments) of each function. Raises AttributeError for one that the library lacks."""
    for name, result, arguments in functions:
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments


def metric_fields() -> list[str]:
    """The metrics a sample can have, as the library lists them."""
    return [metric["field"] for metric in json.loads(library().gpuprof_metrics_json())]


def summary_text(summary_json: str) -> str:
    """A summary object as the text that the command line shows."""
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
        None, f"libgpuprof.so is missing: it is not in {looked}; build it with ./run, or name it in GPUPROF_LIBRARY"
    )


def _load(path: str) -> ctypes.CDLL:
    try:
        loaded = ctypes.CDLL(path)
    except OSError as problem:
        raise GpuBackendError(None, f"libgpuprof.so cannot be loaded: {problem}") from problem
    try:
        _declare(loaded)
    except AttributeError as problem:
        raise GpuBackendError(None, f"{path} is not the libgpuprof.so of this package: {problem}") from problem
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
