"""`gpu_profile.ranks(paths)`: one recording of each rank of a job, as tables.

Summaries are made by the program itself, or by `client`, and kept. The program joins them into one capture, which `Ranks`
opens as any recording. So every engine gives the same tables, and Python computes none of them.
"""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
import weakref
from typing import TYPE_CHECKING, Any, Callable

from ..atomic_file import atomic_replace
from ..errors import Error
from ..program import answer
from ..trace import Table, Trace
from .files import Naming, RankFile, is_url, list_files
from .gather import gather, ranks_named_once
from .reduction import Limits, Outcome, copy_file, program_version
from .summaries import Cache, lost_rank, usual_cache

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Path = str | os.PathLike[str]

__all__ = ["Ranks", "ranks"]

Progress = Callable[[int, int, int, int], object]


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
    named = [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    if not named:
        raise Error(2, "name the recordings, or a folder with one file of each rank")
    kept = os.path.abspath(os.path.expanduser(os.fspath(cache))) if cache is not None else usual_cache()
    limits = Limits(float(time_out), int(memory))
    naming = Naming(rank_from, host_from)
    wanted = {"--expect": expect, "--job": job, "--steps": steps}
    words = [word for name, value in wanted.items() if value is not None for word in (name, str(value))]
    words += ["--anonymise"] * anonymise
    options = dict(storage_options or {})
    folder = tempfile.mkdtemp(prefix="gpu-profile-")
    try:
        if client is None and progress is None and not any(is_url(path) for path in named):
            words += ["--workers", str(workers or 0), "--time-out", str(limits.seconds), "--memory", str(limits.memory)]
            words += [f"--{name}={value}" for name, value in (("rank-from", rank_from), ("host-from", host_from)) if value]
            _join(_existing(named), folder, kept, words)
            return Ranks(folder, (), options, _existing(named))
        files = list_files(named, options, naming)
        foreign = _reduce(files, client, workers, options, Cache(kept, program_version()), limits, progress, folder)
        _join_summaries(files, foreign, folder, words)
        return Ranks(folder, (file for file in files if file.url), options, [path for path in named if not is_url(path)])
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _existing(paths: Iterable[str]) -> list[str]:
    found: list[str] = []
    for path in paths:
        path = os.path.abspath(path)
        each = [path] if os.path.exists(path) else sorted(glob.glob(path))
        if not each:
            raise Error(3, f"cannot read {path}: no such file or folder")
        found += each
    return found


def _reduce(files: Sequence[RankFile], client: Any, workers: int | None, options: Mapping[str, Any], cache: Cache,
            limits: Limits, progress: Progress | None, folder: str) -> list[str]:
    """Write a summary of each file, also of lost ones, into the folder; return the paths of files that are no
    recordings."""
    foreign: list[str] = []
    done = read = lost = 0
    ranks_named = ranks_named_once(files)

    def take(number: int, outcome: Outcome, kept: bool) -> None:
        nonlocal done, read, lost
        file = files[number]
        summary, problem, is_foreign = outcome
        done, read = done + 1, read + max(file.bytes, 0)
        lost += summary is None and not is_foreign
        if is_foreign:
            foreign.append(_foreign_file(file, folder))
        else:
            with open(_summary_path(folder, number), "wb") as written:
                written.write(summary if summary is not None else lost_rank(ranks_named[number], file.name, problem))
        if progress is not None:
            progress(done, len(files), read, lost)

    os.mkdir(os.path.join(folder, "summaries"))
    gather(files, client, workers, options, cache, limits, take)
    return sorted(foreign)


def _foreign_file(file: RankFile, folder: str) -> str:
    if not file.url:
        return file.path
    path = os.path.join(folder, file.name)  # the program runs there, and names it by its URL
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as stand_in:
        stand_in.write("not a recording\n")
    return file.name


def _summary_path(folder: str, number: int) -> str:
    return os.path.join(folder, "summaries", f"{number:07}.gpuprof")


def _join(paths: Sequence[str], folder: str, cache: str, words: Sequence[str]) -> None:
    answer("ranks", *paths, "losses", "--save", "job.gpuprof", "--cache", cache, *words, folder=folder)


def _join_summaries(files: Sequence[RankFile], foreign: Sequence[str], folder: str, words: Sequence[str]) -> None:
    try:
        _join([os.path.join(folder, "summaries"), *foreign], folder, os.path.join(folder, "joined"), words)
    except Error as problem:
        message = problem.message
        for number, file in enumerate(files):
            message = message.replace(_summary_path(folder, number), file.name)
        raise Error(problem.code, message) from None
