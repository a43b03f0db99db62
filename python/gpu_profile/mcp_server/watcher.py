"""Ends what a server leaves behind, also if the server is killed: its programs, with their children, and its temporary folder.

A process of its own, in a session of its own, waits for the end of a pipe that only the server holds open. The programs of the server have
a mark in their environment, which their children inherit, so that none can be missed that was just starting or has left its session.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time

from ..errors import Error

__all__ = ["MARK", "watch"]

MARK = "GPUPROF_MCP_SERVER"  # the variable; its value is the server's

_INTERNAL = 6
_LONGEST_S = 10.0  # for programs that the kernel cannot end at once
_PAUSE_S = 0.05
_LOOKS = 3  # without a program: one that was just starting gets its environment between two of them


def watch(mark: str, folder: str) -> None:
    """Start the process for a server without threads. Raises Error if that is impossible."""
    try:
        reading, _writing = os.pipe()  # open until this process ends, and in no program that it starts
        if os.fork() == 0:
            try:
                _leave(reading)
                os.read(reading, 1)
                _end_programs(f"{MARK}={mark}".encode())
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os._exit(0)
        os.close(reading)
    except OSError as problem:
        raise Error(_INTERNAL, f"cannot start the process that watches the server: {problem.strerror}") from problem


def _leave(reading: int) -> None:
    """Leave everything that is the server's: its session, signals, folder, streams and files."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.chdir("/")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) != reading:
            with contextlib.suppress(OSError):
                os.close(int(name))


def _end_programs(mark: bytes) -> None:
    deadline = time.monotonic() + _LONGEST_S
    looks = 0
    while looks < _LOOKS and time.monotonic() < deadline:
        found = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _has(pid, mark)]
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        looks = 0 if found else looks + 1
        time.sleep(_PAUSE_S)


def _has(pid: int, mark: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return mark in file.read().split(b"\0")
    except OSError:  # of another user, or ended
        return False
