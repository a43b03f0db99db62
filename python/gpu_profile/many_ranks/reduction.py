"""One file of a job as a summary. This runs on the workers of an engine: it takes and returns plain values only.

The program reads each file in a process of its own, so a file that crashes it, hangs or needs too much memory costs neither
the worker nor the other files. A file in a storage is copied first: databases are not read in order, and a copy can be
compared with the size that was listed. It lies below a temporary folder, in which the program runs, by its URL as a relative
path; so the summary and all messages name the URL.
"""

from __future__ import annotations

import functools
import os
import posixpath
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from typing import Any, Optional

from ..errors import Error
from ..program import binary
from .files import RankFile, file_system, said

__all__ = ["Outcome", "copy_file", "program_version", "reduce_batch"]

# The summary, or None and why there is none; whether the file has an unknown format.
Outcome = tuple[Optional[bytes], str, bool]

_NO_RECORDING = 4  # exit code of `ranks reduce`
_BLOCK_BYTES = 4 << 20


def program_version() -> str:
    """Return what the program of this machine says of its version."""
    return _version(binary())


def reduce_batch(files: list[tuple[str, str, str, int, str]], options: Mapping[str, Any], version: str, seconds: float) -> list[Outcome]:
    """Return the outcome of each file, given as a plain tuple of `RankFile`. ``seconds``: limit per file."""
    try:
        own = program_version()
    except Error as problem:
        return [(None, problem.message, False)] * len(files)
    if own != version:
        return [(None, f"the worker has {own}, but the job needs {version}", False)] * len(files)
    return [_reduced(RankFile(*file), options, seconds) for file in files]


def copy_file(file: RankFile, options: Mapping[str, Any], folder: str) -> str:
    """Copy a file of a storage below a folder and return its relative path. Raises Error."""
    path = file.name if ".." not in file.name.split("/") else posixpath.basename(file.name)
    try:
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        storage, _ = file_system(file.url, options)
        with storage.open(file.path, "rb") as source, open(target, "wb") as copy:
            while block := source.read(_BLOCK_BYTES):
                copy.write(block)
            copied = copy.tell()
    except Error:
        raise
    except Exception as problem:  # each storage has its own
        raise Error(3, f"cannot read {file.name}: {said(problem, file.url, options)}") from None
    if file.bytes not in (-1, copied):
        raise Error(3, f"cannot read {file.name}: {copied} bytes arrived, but {file.bytes} were listed")
    return path


def _reduced(file: RankFile, options: Mapping[str, Any], seconds: float) -> Outcome:
    try:
        with tempfile.TemporaryDirectory(prefix="gpu-profile-") as folder:
            path = copy_file(file, options, folder) if file.url else file.path
            return _run(path, folder, seconds)
    except Error as problem:
        return None, problem.message, False
    except OSError as problem:
        return None, f"cannot read {file.name}: {problem.strerror}", False


def _run(path: str, folder: str, seconds: float) -> Outcome:
    summary = os.path.join(folder, "summary.gpuprof")
    command = [os.path.abspath(binary()), "ranks", "reduce", path, "--output", summary]
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None, f"reading it took longer than {seconds:g} s", False
    if done.returncode < 0:
        return None, f"the process that read it was ended by {signal.strsignal(-done.returncode)}", False
    if done.returncode > 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        problem = lines[-1].partition("gpu-profile: ")[2] or lines[-1] if lines else f"the process that read it ended with status {done.returncode}"
        return None, problem, done.returncode == _NO_RECORDING
    with open(summary, "rb") as made:
        return made.read(), "", False


@functools.lru_cache(maxsize=8)
def _version(program: str) -> str:
    try:
        done = subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Error(None, f"cannot start {program}: {problem}") from None
    return done.stdout.strip() or f"a program without a version ({program})"
