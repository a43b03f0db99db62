"""One file of a job as a summary. This runs on the workers of an engine: it takes and returns plain values only.

The program reads each file in a process of its own, so a file that crashes it, hangs or needs too much memory costs neither
the worker nor the other files. A file in a storage is copied first: databases are not read in order, and a copy can be
compared with the size that was listed. It lies below a temporary folder, in which the program runs, by its URL as a relative
path; so the summary and all messages name the URL.

As in cli/ranks/second_try.cc, a file whose process ran out of memory is read once more, with twice the limit if that is free.
"""

from __future__ import annotations

import contextlib
import functools
import os
import posixpath
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

from ..errors import Error
from ..program import binary
from .files import RankFile, file_system, said

__all__ = ["Limits", "Outcome", "Running", "copy_file", "program_version", "reduce_batch"]

# The summary, or None and why there is none; whether the file has an unknown format.
Outcome = tuple[Optional[bytes], str, bool]

_NO_RECORDING = 4  # exit code of `ranks reduce`
_OUT_OF_MEMORY = "out of memory"  # what it says
_BLOCK_BYTES = 4 << 20


class Limits(NamedTuple):
    """Per file: seconds, bytes of memory (0: no limit), and the range that marks a step ("": detected)."""

    seconds: float = 600.0
    memory: int = 0
    steps: str = ""


class Running:
    """The processes that read files for threads of this process, so that all of them can be ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def start(self, command: list[str], folder: str) -> subprocess.Popen[bytes]:
        """Start a process; at once ended after `stop`."""
        with self._lock:
            process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self._processes.add(process)
            if self._stopped:
                process.kill()
            return process

    def ended(self, process: subprocess.Popen[bytes]) -> None:
        """Forget a process."""
        with self._lock:
            self._processes.discard(process)

    def stop(self) -> None:
        """End all processes, also those that are started from now on."""
        with self._lock:
            self._stopped = True
            for process in self._processes:
                process.kill()


def program_version() -> str:
    """Return what the program of this machine says of its version."""
    return _version(binary())


def reduce_batch(files: list[tuple[Any, ...]], options: Mapping[str, Any], version: str, limits: tuple[float, int, str],
                 running: Running | None = None) -> list[Outcome]:
    """Return the outcome of each file, given as a plain tuple of `RankFile`. ``limits``: as a plain tuple of `Limits`."""
    try:
        own = program_version()
    except Error as problem:
        return [(None, problem.message, False)] * len(files)
    if own != version:
        return [(None, f"the worker has {own}, but the job needs {version}", False)] * len(files)
    return [_reduced(RankFile(*file), options, Limits(*limits), running or Running()) for file in files]


def copy_file(file: RankFile, options: Mapping[str, Any], folder: str, seconds: float = Limits().seconds) -> str:
    """Copy a file of a storage below a folder and return its relative path. Raises Error, also if it takes longer."""
    path = file.name if ".." not in file.name.split("/") else posixpath.basename(file.name)
    deadline = time.monotonic() + seconds
    try:
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        storage, _ = file_system(file.url, options)
        with storage.open(file.path, "rb") as source, open(target, "wb") as copy:
            while block := source.read(_BLOCK_BYTES):
                copy.write(block)
                if time.monotonic() > deadline:
                    raise Error(3, f"cannot read {file.name}: copying it took longer than {seconds:g} s")
            copied = copy.tell()
    except Error:
        raise
    except Exception as problem:  # each storage has its own
        raise Error(3, f"cannot read {file.name}: {said(problem, file.url, options)}") from None
    if file.bytes not in (-1, copied):
        raise Error(3, f"cannot read {file.name}: {copied} bytes arrived, but {file.bytes} were listed")
    return path


def _reduced(file: RankFile, options: Mapping[str, Any], limits: Limits, running: Running) -> Outcome:
    try:
        with tempfile.TemporaryDirectory(prefix="gpu-profile-") as folder:
            path = copy_file(file, options, folder, limits.seconds) if file.url else file.path
            return _run_twice(_command(path, file, limits), folder, limits, running)
    except Error as problem:
        return None, problem.message, False
    except OSError as problem:
        return None, f"cannot read {file.name}: {problem.strerror}", False


def _command(path: str, file: RankFile, limits: Limits) -> list[str]:
    command = [os.path.abspath(binary()), "ranks", "reduce", path]
    if file.rank is not None:
        command += ["--rank", str(file.rank)]
    if file.host:
        command += ["--host", file.host]
    if limits.steps:
        command += ["--step-range", limits.steps]
    return command


def _run_twice(command: list[str], folder: str, limits: Limits, running: Running) -> Outcome:
    outcome, short = _run(command, folder, limits, running)
    if not short:
        return outcome
    more = 2 * limits.memory
    if more > _free_memory():
        return None, f"{outcome[1]} with memory={limits.memory}; {more} bytes for a second try are not free", False
    outcome, short = _run(command, folder, limits._replace(memory=more), running)
    if not short:
        return outcome
    return None, outcome[1] + (f" with memory={limits.memory}, and with {more}" if limits.memory else ", twice"), False


def _run(command: list[str], folder: str, limits: Limits, running: Running) -> tuple[Outcome, bool]:
    """Return the outcome, and whether the process ran out of memory."""
    summary = os.path.join(folder, "summary.gpuprof")
    limited = ["--memory", str(limits.memory)] if limits.memory else []
    process = running.start([*command, "--output", summary, *limited], folder)
    try:
        said = process.communicate(timeout=limits.seconds)[1]
    except subprocess.TimeoutExpired:
        return (None, f"reading it took longer than {limits.seconds:g} s", False), False
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
        running.ended(process)
    code = process.returncode
    if code == 0:
        with open(summary, "rb") as made:
            return (made.read(), "", False), False
    if code < 0:
        short = limits.memory > 0 or -code == signal.SIGKILL
        return (None, f"the process that read it was ended by {signal.strsignal(-code)}", False), short
    lines = said.decode("utf-8", "replace").strip().splitlines()
    problem = lines[-1].partition("gpu-profile: ")[2] or lines[-1] if lines else f"the process that read it ended with status {code}"
    return (None, problem, code == _NO_RECORDING), limits.memory > 0 and problem.startswith(_OUT_OF_MEMORY)


def _free_memory() -> int:
    """Return the bytes that processes could have now without swapping; 0 if the system does not say."""
    with contextlib.suppress(OSError), open("/proc/meminfo") as about:
        for line in about:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 0


@functools.lru_cache(maxsize=8)
def _version(program: str) -> str:
    try:
        done = subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Error(None, f"cannot start {program}: {problem}") from None
    return done.stdout.strip() or f"a program without a version ({program})"
