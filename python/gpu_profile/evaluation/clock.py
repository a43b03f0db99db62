"""The clock of a worker: clock_gettime of the C library through ctypes, obtained before any module under test is
imported.

A module that replaces functions of Python's `time` does not affect it. The worker could still misreport it, so the
evaluator compares it with its own clock (findings.py, `clock`). A separate file, so that another time source replaces
only this one.
"""

from __future__ import annotations

import ctypes
from typing import Callable

__all__ = ["keep_freed_memory", "make_clock", "make_perturb"]

_MONOTONIC_RAW = 4
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # glibc, malloc.h
_MAPPED_BYTES, _TRIMMED_BYTES = 32 << 20, 1 << 30  # the largest threshold that mallopt accepts; more than results need
_M_PERTURB = -6  # glibc, malloc.h: fills every new block with the complement of the low byte


class _Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def make_clock() -> Callable[[], int]:
    """Return a function that returns nanoseconds."""
    now, read = _Timespec(), ctypes.CDLL(None).clock_gettime
    pointer = ctypes.byref(now)

    def clock() -> int:
        read(_MONOTONIC_RAW, pointer)
        return int(now.seconds * 1_000_000_000 + now.nanoseconds)

    return clock


def keep_freed_memory() -> None:
    """Keep malloc from returning freed memory to the system. It does so until the process has freed a large block, which
    the baseline's process does when it compares: the same function then took twice the time on the other side."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _TRIMMED_BYTES)


def make_perturb() -> Callable[[int], object]:
    """Return a function that makes malloc fill new memory with a byte (0: off), or does nothing if unsupported."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return lambda _: None

    def perturb(fill: int) -> object:
        return mallopt(_M_PERTURB, ~fill & 0xFF if fill else 0)

    return perturb
