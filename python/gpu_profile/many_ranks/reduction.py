"""One file of a job as a summary. This runs on the workers of an engine: it takes and returns plain values only.

The program reads each file in a process of its own, so a file that crashes it, hangs or needs too much memory costs neither
the worker nor the other files. A file in a storage is copied first: databases are not read in order, and a copy can be
compared with the size that was listed. It lies below a temporary folder, in which the program runs, by its URL as a relative
path; so the summary and all messages name the URL.

How the process ended is returned as it is: the program at the other end of the conversation decides what that means.
"""

from __future__ import annotations

import contextlib
import functools
import os
import posixpath
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from typing import Any, Optional

from ..errors import Error
from ..program import binary
from .files import RankFile, file_system, said

__all__ = ["Outcome", "Running", "copy_file", "failed", "program_version", "reduce_batch"]

# The summary, or None; how the process ended, as `subprocess` says it (None: after too long), what it said on standard error, and how
# much memory was free then.
Outcome = tuple[Optional[bytes], Optional[int], str, int]

_UNREADABLE = 3  # exit code of `ranks reduce`
_SAID_BYTES = 4096  # of the end
_BLOCK_BYTES = 4 << 20


def failed(problem: str) -> Outcome:
    """Return the outcome of a file that no process has read."""
    return None, _UNREADABLE, problem, 0


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


def reduce_batch(files: list[tuple[Any, ...]], options: Mapping[str, Any], version: str, seconds: float,
                 running: Running | None = None) -> list[Outcome]:
    """Return the outcome of each file, given as a plain tuple of `RankFile`. ``seconds``: that each may take."""
    try:
        own = program_version()
    except Error as problem:
        return [failed(problem.message)] * len(files)
    if own != version:
        return [failed(f"the worker has {own}, but the job needs {version}")] * len(files)
    return [_reduced(RankFile(*file), options, seconds, running or Running()) for file in files]


def copy_file(file: RankFile, options: Mapping[str, Any], folder: str, seconds: float = 600.0) -> str:
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


def _reduced(file: RankFile, options: Mapping[str, Any], seconds: float, running: Running) -> Outcome:
    try:
        with tempfile.TemporaryDirectory(prefix="gpu-profile-") as folder:
            path = copy_file(file, options, folder, seconds) if file.url else file.path
            return _run(path, file.words, folder, seconds, running)
    except Error as problem:
        return failed(problem.message)
    except OSError as problem:
        return failed(f"cannot read {file.name}: {problem.strerror}")


def _run(path: str, words: tuple[str, ...], folder: str, seconds: float, running: Running) -> Outcome:
    summary = os.path.join(folder, "summary.gpuprof")
    process = running.start([os.path.abspath(binary()), "ranks", "reduce", path, "--output", summary, *words], folder)
    try:
        said = process.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        return None, None, "", 0
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
        running.ended(process)
    if process.returncode != 0:
        return None, process.returncode, said[-_SAID_BYTES:].decode("utf-8", "replace"), _free_memory()
    with open(summary, "rb") as made:
        return made.read(), 0, "", 0


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
