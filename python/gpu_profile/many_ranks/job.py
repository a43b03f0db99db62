"""`gpu_profile.ranks(paths)`: one recording of each rank of a job, as tables.

The program makes the summaries itself, or has them made by `client`, keeps them, and joins them into one capture, which `Ranks`
opens as any recording. So every engine gives the same tables, and Python computes none of them.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import subprocess
import tempfile
import weakref
from typing import TYPE_CHECKING, Any

from ..atomic_file import atomic_replace
from ..errors import Error
from ..program import answer, binary
from ..trace import Table, Trace
from .conversation import converse
from .files import RankFile, is_url
from .reduction import copy_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .conversation import Progress

    Path = str | os.PathLike[str]

__all__ = ["Ranks", "ranks"]


class Ranks(Trace):
    """A job of many ranks: a recording of summaries, whose analyses are `ranks`, `stragglers`, `job_steps`,
    `rank_collectives` and `hosts`."""

    def __init__(self, folder: str, files: Iterable[RankFile], options: Mapping[str, Any], given: Sequence[str]) -> None:
        super().__init__(os.path.join(folder, "job.gpuprof"))
        self._folder = folder
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._files = {file.name: file for file in files}
        self._options = options
        self._given = [os.path.realpath(path if os.path.isdir(path) else os.path.dirname(path) or ".") for path in given]

    def report(self, analysis: str = "stragglers") -> Table:
        """Return all rows of an analysis. Raises Error for an unknown name."""
        return super().report(analysis)

    @property
    def losses(self) -> Table:
        """One row per rank without a whole recording: rank, file, status (cut, unreadable, missing) and reason. Files
        of unknown formats are rows of report("losses")."""
        return self.sql("SELECT rank, file, status, reason FROM rank WHERE status <> 'whole' ORDER BY rank")

    def rank(self, number: int) -> Trace:
        """Open the recording of one rank. Raises Error if there is none, if it cannot be read, and if a summary names a file that
        is not below the folders that were given: one from elsewhere may name any file."""
        names = self.sql(f"SELECT file FROM rank WHERE rank = {int(number)} AND file IS NOT NULL").to_dict()["file"]
        if not names:
            raise Error(3, f"cannot open rank {number}: it has no file")
        file = self._files.get(names[0])
        if file is None:
            real = os.path.realpath(names[0])
            if os.path.exists(real) and not any(os.path.commonpath([real, folder]) == folder for folder in self._given):
                raise Error(3, f"cannot open rank {number}: {names[0]} is not in the folder that was given; a recording may name any file")
            return Trace(real)
        return Trace(os.path.join(self._folder, copy_file(file, self._options, self._folder)))

    def save(self, path: Path) -> None:
        """Write the job's summaries to one capture, which every command and `gpu_profile.open` read."""
        try:
            with atomic_replace(os.fspath(path)) as part:
                shutil.copyfile(self.path, part)
        except OSError as problem:
            raise Error(5, f"cannot write {os.fspath(path)}: {problem.strerror}") from None


def ranks(
    paths: Path | Iterable[Path],
    client: Any = None,
    *,
    workers: int | None = None,
    expect: int | None = None,
    steps: str | int | None = None,
    job: int | str | None = None,
    cache: Path | None = None,
    time_out: float = 600.0,
    memory: int = 0,
    rank_from: str = "",
    host_from: str = "",
    anonymise: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Ranks:
    """Read the recordings of a job, one or more files of each rank, as `gpu-profile ranks` does.

    ``paths``: folders, globs, files, or URLs that fsspec opens. ``client``: who reads the files: None (processes of
    this machine), an executor with ``submit``, a Dask client, the address of a scheduler or its scheduler file. ``workers``:
    files to read at once (default: one per core or worker). ``expect``: number of ranks (default: as recorded).
    ``steps``: those that prices are based on ("all", a number, "slowest:8", "100:200"; default: all that fit into about 2 GB). ``job``:
    which of several jobs in a folder, or "all". ``cache``: folder for summaries (default: in the user's cache folder).
    ``time_out``, ``memory``: limits of reading one file, in seconds and bytes (0: none). ``rank_from``, ``host_from``:
    regular expressions with one group, for names of files. ``anonymise``: short names for hosts and files.
    ``storage_options``: passed to fsspec. ``progress``: called with the numbers of files done, of all files, of bytes
    done, and of files lost. Raises Error.
    """
    given = [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    if not given:
        raise Error(2, "name the recordings, or a folder with one file of each rank")
    named = [each for path in given for each in ([path] if is_url(path) else _existing(path))]
    wanted = {"save": "job.gpuprof", "expect": expect, "job": job, "steps": steps, "workers": workers, "time-out": float(time_out), "memory": int(memory),
              "cache": os.path.abspath(os.path.expanduser(os.fspath(cache))) if cache is not None else None,
              "rank-from": rank_from or None, "host-from": host_from or None}
    words = [f"--{name}={value}" for name, value in wanted.items() if value is not None] + ["--anonymise"] * anonymise
    options = dict(storage_options or {})
    folder = tempfile.mkdtemp(prefix="gpu-profile-")
    try:
        stored: list[RankFile] = []
        if client is None and progress is None and not any(is_url(path) for path in named):
            answer("ranks", *named, "losses", *words, folder=folder)
        else:
            stored = _read_elsewhere(words, folder, named, client, workers, options, progress)
        return Ranks(folder, stored, options, [path for path in named if not is_url(path)])
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _existing(path: str) -> list[str]:
    path = os.path.abspath(path)
    found = [path] if os.path.exists(path) else sorted(glob.glob(path))
    if not found:
        raise Error(3, f"cannot read {path}: no such file or folder")
    return found


def _read_elsewhere(words: Sequence[str], folder: str, *what: Any) -> list[RankFile]:
    """Have the program save the job in the folder. ``what``: for `converse`. Return the files of storages."""
    command = [os.path.abspath(binary()), "ranks", "reduce", "-", "--quiet", *words]
    stored: list[RankFile] = []
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        try:
            with contextlib.suppress(BrokenPipeError):  # then the program says why
                stored = converse(process.stdout, process.stdin.fileno(), *what)
            said = process.stderr.read().decode("utf-8", "replace").strip()
        except BaseException:
            process.kill()  # workers of a pool may have a copy of its standard input, so closing that would not end it
            raise
    if process.returncode != 0:
        raise Error(process.returncode, said.rpartition("gpu-profile: ")[2] or f"gpu-profile failed with exit code {process.returncode}")
    return stored
