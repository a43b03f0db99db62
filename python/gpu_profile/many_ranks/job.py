"""`gpu_profile.ranks(paths)`: one recording of each rank of a job, as tables.

Summaries are made by the program itself, or by `client`, and kept. The program joins them into one capture, which `Ranks`
opens as any recording. So every engine gives the same tables, and Python computes none of them.
"""

from __future__ import annotations

import collections
import contextlib
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
from .engines import EngineLost, reduce_files
from .files import RankFile, is_url, list_files, rank_in_name
from .reduction import copy_file, program_version
from .summaries import Cache, lost_rank, usual_cache

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Path = str | os.PathLike[str]

__all__ = ["Ranks", "ranks"]

_SECONDS_PER_FILE = 600.0

Progress = Callable[[int, int, int, int], object]


class Ranks(Trace):
    """A job of many ranks: a recording of summaries, whose analyses are `ranks`, `stragglers`, `job_steps`,
    `rank_collectives` and `hosts`."""

    def __init__(self, folder: str, files: Iterable[RankFile], options: Mapping[str, Any]) -> None:
        super().__init__(os.path.join(folder, "job.gpuprof"))
        self._folder = folder
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._files = {file.name: file for file in files}
        self._options = options

    def report(self, analysis: str = "stragglers") -> Table:
        """Return all rows of an analysis. Raises Error for an unknown name."""
        return super().report(analysis)

    @property
    def losses(self) -> Table:
        """One row per rank without a whole recording: rank, file, status (cut, unreadable, missing) and reason. Files
        of unknown formats are rows of report("losses")."""
        return self.sql("SELECT rank, file, status, reason FROM rank WHERE status <> 'whole' ORDER BY rank")

    def rank(self, number: int) -> Trace:
        """Open the recording of one rank. Raises Error if there is none, or it cannot be read."""
        names = self.sql(f"SELECT file FROM rank WHERE rank = {int(number)} AND file IS NOT NULL").to_dict()["file"]
        if not names:
            raise Error(3, f"cannot open rank {number}: it has no file")
        file = self._files.get(names[0])
        if file is None:
            return Trace(names[0])
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
    cache: Path | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Ranks:
    """Read the recordings of a job, one or more files of each rank, as `gpu-profile ranks` does.

    ``paths``: folders, globs, files, or URLs that fsspec opens. ``client``: who reads the files: None (processes of
    this machine), an executor with ``submit``, a Dask client or the address of a scheduler. ``workers``: files to read at
    once (default: one per core or worker). ``expect``: number of ranks (default: as recorded). ``cache``: folder for
    summaries (default: in the user's cache folder). ``storage_options``: passed to fsspec. ``progress``: called with the
    numbers of files done, of all files, of bytes done, and of files lost. Raises Error.
    """
    named = [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    if not named:
        raise Error(2, "name the recordings, or a folder with one file of each rank")
    kept = os.path.abspath(os.path.expanduser(os.fspath(cache))) if cache is not None else usual_cache()
    limits = ["--workers", str(workers or 0), *(["--expect", str(expect)] if expect is not None else [])]
    options = dict(storage_options or {})
    folder = tempfile.mkdtemp(prefix="gpu-profile-")
    try:
        if client is None and progress is None and not any(is_url(path) for path in named):
            _join(_existing(named), folder, kept, limits)
            return Ranks(folder, (), options)
        files = list_files(named, options)
        foreign = _reduce(files, client, workers, options, Cache(kept, program_version()), progress, folder)
        _join_summaries(files, foreign, folder, limits)
        return Ranks(folder, (file for file in files if file.url), options)
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
            progress: Progress | None, folder: str) -> list[str]:
    """Write a summary of each file, also of lost ones, into the folder; return the paths of files that are no
    recordings."""
    foreign: list[str] = []
    problems: list[str] = []
    done = read = 0

    def take(number: int, summary: bytes | None, problem: str, is_foreign: bool) -> None:
        nonlocal done, read
        file = files[number]
        done, read = done + 1, read + max(file.bytes, 0)
        if summary is None:
            problems.append(problem)
        if is_foreign:
            foreign.append(_foreign_file(file, folder))
        else:
            with open(_summary_path(folder, number), "wb") as written:
                written.write(summary if summary is not None else lost_rank(ranks_named[number], file.name, problem))
        if progress is not None:
            progress(done, len(files), read, len(problems))

    os.mkdir(os.path.join(folder, "summaries"))
    ranks_named = _ranks_named_once(files)
    missing = []
    for number, file in enumerate(files):
        known = cache.find(file)
        if known is None:
            missing.append(number)
        else:
            take(number, known, "", False)
    if missing:
        try:
            arguments = (options, program_version(), _SECONDS_PER_FILE)
            with contextlib.closing(reduce_files([files[number] for number in missing], client, workers, *arguments)) as outcomes:
                for at, outcome in outcomes:
                    if outcome[0] is not None:
                        cache.keep(files[missing[at]], outcome[0])
                    take(missing[at], *outcome)
        except EngineLost as lost:
            raise Error(3, f"the workers were lost after {done} of {len(files)} files ({lost}); their summaries are kept in "
                           f"{cache.folder}, so the same call reads only the others") from None
    if len(problems) == len(files):
        raise Error(3, f"cannot read the job: none of the {len(files)} files is of a rank; first error: {problems[0]}")
    return sorted(foreign)


def _ranks_named_once(files: Sequence[RankFile]) -> list[int | None]:
    """The rank in each file's name. A lost file whose rank another file also names must not stand in its way."""
    found = [rank_in_name(file.name) for file in files]
    times = collections.Counter(found)
    return [rank if times[rank] == 1 else None for rank in found]


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


def _join(paths: Sequence[str], folder: str, cache: str, limits: Sequence[str]) -> None:
    answer("ranks", *paths, "losses", "--save", "job.gpuprof", "--cache", cache, *limits, folder=folder)


def _join_summaries(files: Sequence[RankFile], foreign: Sequence[str], folder: str, limits: Sequence[str]) -> None:
    try:
        _join([os.path.join(folder, "summaries"), *foreign], folder, os.path.join(folder, "joined"), limits)
    except Error as problem:
        message = problem.message
        for number, file in enumerate(files):
            message = message.replace(_summary_path(folder, number), file.name)
        raise Error(problem.code, message) from None
