"""The library's timer through ctypes: the section "Benchmarks" of capi/gpuprof.h, one run at a time.

A Python function becomes a C callback that catches every exception: it ends the run and is raised again, unchanged, by
the call that started the run. Ctrl-C does so too, also where ctypes would ignore it: between the function and the library. Callbacks run on the thread that called run(). This module does not inspect arguments or
streams.
"""

from __future__ import annotations

import ctypes
import json
import signal
import threading
from array import array
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from . import declared, native
from .errors import Error, GpuBackendError
from .measurement import Comparison, Measurement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Work", "compare", "device_memory", "run"]

_Call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_Doubles = ctypes.POINTER(ctypes.c_double)
_declared: ctypes.CDLL | None = None


class Work(NamedTuple):
    """One function under test with bound arguments; ``prepare`` runs before every call and is not timed."""

    call: Callable[[], object]
    name: str
    prepare: Callable[[], object] | None = None


class _NativeWork(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("call", _Call),
        ("prepare", _Call),
        ("user", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
    ]


class _Caught:
    """The first exception raised by the callbacks of a run, or by Ctrl-C during it."""

    def __init__(self) -> None:
        self.problem: BaseException | None = None
        self._inside = False  # the function of a callback runs, and what it raises is caught

    def callback(self, function: Callable[[], object] | None) -> Any:
        if function is None:
            return _Call()
        wanted = function

        def call(_user: int | None) -> int:
            if self.problem is not None:
                return 1
            try:
                try:
                    self._inside = True
                    wanted()
                finally:
                    self._inside = False
            except BaseException as problem:  # must not reach C; run() raises it again
                self._inside = False
                self.problem = problem
                return 1
            return 0

        return _Call(call)

    @contextmanager
    def interrupts(self) -> Iterator[None]:
        """Keep Ctrl-C that arrives outside the functions for the next callback. Only for Python's own handler."""
        if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return

        def interrupted(_signal: int, _frame: object) -> None:
            if self._inside:
                raise KeyboardInterrupt
            self.problem = self.problem or KeyboardInterrupt()

        signal.signal(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def run(settings: Mapping[str, Any], works: list[Work]) -> tuple[list[Measurement], Comparison | None]:
    """Measure one function, or two alternately. ``settings``: options by their names in declared.py. Raises the
    functions' exceptions, and Error for errors of the library."""
    library = _library()
    bench = ctypes.c_void_p()
    caught = _Caught()
    options = declared.filled("bench", settings)
    native.check(library.gpuprof_bench_open(ctypes.byref(options), ctypes.byref(bench)))
    try:
        natives = [_native_work(work, caught) for work in works]
        start = library.gpuprof_bench_run if len(natives) == 1 else library.gpuprof_bench_run_pair
        with caught.interrupts():
            code = start(bench, *(ctypes.byref(one) for one in natives))
        if caught.problem is not None:
            raise caught.problem
        native.check(code)
        found = _answer(library.gpuprof_bench_json(bench))
        measurements = [
            Measurement.of(values, _samples(library, bench, index)) for index, values in enumerate(found["measurements"])
        ]
    finally:
        library.gpuprof_bench_free(bench)
        caught.problem = None  # its traceback references this frame
    comparison = found["comparison"]
    return measurements, comparison and Comparison.of(comparison, works[0].name, works[1].name)


def compare(baseline: array[float], candidate: array[float], paired: int, min_effect: float) -> dict[str, Any]:
    """Return the object of gpuprof_bench_compare_json, which says what `paired` means."""
    library = _library()
    text = library.gpuprof_bench_compare_json(
        _pointer(baseline), len(baseline), _pointer(candidate), len(candidate), paired, min_effect
    )
    return _answer(text)


def device_memory(device: int) -> tuple[int, int]:
    """Return free and total bytes of device memory, by the driver. Raises Error if unavailable."""
    library = _library()
    bench = ctypes.c_void_p()
    options = declared.filled("bench", {"timer": "cuda", "device": device, "cold": False})
    options.no_device_state = 1
    native.check(library.gpuprof_bench_open(ctypes.byref(options), ctypes.byref(bench)))
    free, total = ctypes.c_uint64(), ctypes.c_uint64()
    try:
        native.check(library.gpuprof_bench_memory(bench, ctypes.byref(free), ctypes.byref(total)))
    finally:
        library.gpuprof_bench_free(bench)
    return free.value, total.value


def _native_work(work: Work, caught: _Caught) -> _NativeWork:
    made = _NativeWork()
    made.size = ctypes.sizeof(made)
    made.call = caught.callback(work.call)
    made.prepare = caught.callback(work.prepare)
    made.name = work.name.encode("utf-8", "replace")
    return made


def _samples(library: ctypes.CDLL, bench: ctypes.c_void_p, index: int) -> array[float]:
    count = library.gpuprof_bench_samples(bench, index, None, 0)
    values = array("d", bytes(8 * count))
    if count:
        library.gpuprof_bench_samples(bench, index, _pointer(values), count)
    return values


def _pointer(values: array[float]) -> Any:
    return ctypes.cast((ctypes.c_double * len(values)).from_buffer(values), _Doubles) if len(values) else None


def _answer(text: bytes | None) -> dict[str, Any]:
    if text is None:
        raise Error(6, native.last_error())
    found: dict[str, Any] = json.loads(text)
    return found


def _library() -> ctypes.CDLL:
    global _declared
    if _declared is None:
        loaded = native.library()
        try:
            _declare(loaded)
        except AttributeError as problem:
            raise GpuBackendError(None, f"libgpuprof.so lacks the benchmark functions ({problem}); rebuild it with ./run") from problem
        _declared = loaded
    return _declared


def _declare(library: ctypes.CDLL) -> None:
    text, size, bench, number = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int
    work, count = ctypes.POINTER(_NativeWork), ctypes.POINTER(ctypes.c_uint64)
    native.declare(library, (
        ("gpuprof_bench_open", number, [ctypes.c_void_p, ctypes.POINTER(bench)]),
        ("gpuprof_bench_run", number, [bench, work]),
        ("gpuprof_bench_run_pair", number, [bench, work, work]),
        ("gpuprof_bench_json", text, [bench]),
        ("gpuprof_bench_samples", size, [bench, size, _Doubles, size]),
        ("gpuprof_bench_memory", number, [bench, count, count]),
        ("gpuprof_bench_free", None, [bench]),
        ("gpuprof_bench_compare_json", text, [_Doubles, size, _Doubles, size, ctypes.c_int32, ctypes.c_double]),
    ))
