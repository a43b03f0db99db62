"""Runs the program for one call: with limits of time and output, and never longer than the call or the server.

The program gets no terminal, an unrelated working directory, so that no word is mistaken for a file next to it, and a
session of its own, so that a timeout ends its children, too. If the server is killed, the watcher ends it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
from typing import TYPE_CHECKING

import anyio

from .. import program
from ..errors import Error
from .watcher import MARK

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anyio.abc import ByteReceiveStream, Process

__all__ = ["MOST_OUTPUT", "end_all", "run"]

_INTERNAL = 6
MOST_OUTPUT = 64 << 20  # bytes of one answer before it is shortened; larger ones are an error
_MOST_ERRORS = 64 << 10
_running: set[int] = set()  # process groups
_starting: set[object] = set()  # calls whose program may have started without being among them yet


async def run(words: list[str], *, mark: str, time_out: float, memory: int, given: bytes, waiting: Callable[[float], Awaitable[None]]) -> bytes:
    """Return what the program prints. Raises Error with its exit code and last line; the same if it crashes or is too slow.

    `memory` is what it may allocate, in bytes; files that it maps do not count. `given` is its standard input. `waiting` is awaited every second with the
    seconds since the start.
    """
    command = [os.path.abspath(program.binary()), *words]
    start = object()
    _starting.add(start)
    try:
        process = await anyio.open_process(command, stdin=subprocess.PIPE, cwd="/", env={**os.environ, MARK: mark}, start_new_session=True)
        _running.add(process.pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended already, or has another user's rights
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (memory, memory))
    except OSError as problem:
        raise Error(None, f"cannot start {command[0]}: {problem.strerror}") from problem
    finally:
        _starting.discard(start)
    try:
        with anyio.fail_after(time_out):
            printed, errors = await _exchange(process, given, waiting)
            status = await process.wait()
    except TimeoutError:
        raise Error(_INTERNAL, f"gpu-profile {words[0]} took longer than {time_out:g} s; ask for a part of the recording, or start the server with a larger --time-out") from None
    finally:
        await _end(process)
    if status != 0:
        raise Error(status if status > 0 else _INTERNAL, _reason(status, errors, words[0]))
    return printed


async def end_all() -> None:
    """End the programs that run or start, with their children."""
    while _starting:
        await anyio.sleep(0.01)
    for group in _running:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


async def _exchange(process: Process, given: bytes, waiting: Callable[[float], Awaitable[None]]) -> tuple[bytes, bytes]:
    printed, errors = bytearray(), bytearray()

    async def give() -> None:
        assert process.stdin is not None
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError, ConnectionResetError):
            await process.stdin.send(given)
        await process.stdin.aclose()

    async def take_output(stream: ByteReceiveStream) -> None:
        async for chunk in stream:
            printed.extend(chunk)
            if len(printed) > MOST_OUTPUT:
                raise Error(_INTERNAL, f"the answer is larger than {MOST_OUTPUT >> 20} MiB; ask for fewer rows")

    async def take_errors(stream: ByteReceiveStream) -> None:
        async for chunk in stream:
            errors.extend(chunk)
            del errors[:-_MOST_ERRORS]

    async def report() -> None:
        seconds = 0.0
        while True:
            await anyio.sleep(1)
            seconds += 1
            await waiting(seconds)

    assert process.stdout is not None and process.stderr is not None
    try:
        async with anyio.create_task_group() as watching:
            watching.start_soon(report)
            async with anyio.create_task_group() as group:
                group.start_soon(give)
                group.start_soon(take_output, process.stdout)
                group.start_soon(take_errors, process.stderr)
            watching.cancel_scope.cancel()
    except BaseException as problem:  # a task group raises groups, which Python before 3.11 cannot catch by type
        found = _first_error(problem)
        if found is None:
            raise
        raise found from None
    return bytes(printed), bytes(errors)


def _first_error(problem: BaseException) -> Error | None:
    if isinstance(problem, Error):
        return problem
    inner: tuple[BaseException, ...] = getattr(problem, "exceptions", ())
    return next(filter(None, map(_first_error, inner)), None)


async def _end(process: Process) -> None:
    """End the program and its children, and wait for it."""
    with anyio.CancelScope(shield=True):
        if process.returncode != 0:  # otherwise nothing of it is left, and the number may be another's
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        await process.aclose()
    _running.discard(process.pid)


def _reason(status: int, errors: bytes, command: str) -> str:
    if status < 0:
        name = signal.Signals(-status).name if -status in {each.value for each in signal.Signals} else f"signal {-status}"
        return f"gpu-profile {command} was ended by {name}"
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("gpu-profile: ") if lines else f"gpu-profile {command} failed with exit code {status}"
