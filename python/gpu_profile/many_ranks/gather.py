"""The summaries of all files of a job, from those that are kept and from an engine."""

from __future__ import annotations

import collections
import contextlib
from typing import TYPE_CHECKING, Any, Callable

from ..errors import Error
from .engines import EngineLost, reduce_files
from .reduction import Limits, Outcome, program_version

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .files import RankFile
    from .summaries import Cache

__all__ = ["gather", "ranks_named_once"]


def gather(files: Sequence[RankFile], client: Any, workers: int | None, options: Mapping[str, Any], cache: Cache, limits: Limits,
           take: Callable[[int, Outcome, bool], object]) -> None:
    """Call ``take`` with the number of each file, its outcome, and whether that was kept. Raises Error if no file has a
    summary, or the engine is lost."""
    problems: list[str] = []
    done = 0

    def count(number: int, outcome: Outcome, kept: bool) -> None:
        nonlocal done
        done += 1
        if outcome[0] is None:
            problems.append(outcome[1])
        take(number, outcome, kept)

    missing = []
    for number, file in enumerate(files):
        known = cache.find(file)
        if known is None:
            missing.append(number)
        else:
            count(number, (known, "", False), True)
    if missing:
        arguments = (options, program_version(), tuple(limits))
        try:
            with contextlib.closing(reduce_files([files[number] for number in missing], client, workers, *arguments)) as outcomes:
                for at, outcome in outcomes:
                    if outcome[0] is not None:
                        cache.keep(files[missing[at]], outcome[0])
                    count(missing[at], outcome, False)
        except EngineLost as lost:
            raise Error(3, f"the workers were lost after {done} of {len(files)} files ({lost}); their summaries are kept in "
                           f"{cache.folder}, so the same call reads only the others") from None
    if len(problems) == len(files):
        raise Error(3, f"cannot read the job: none of the {len(files)} files is of a rank; first error: {problems[0]}")


def ranks_named_once(files: Sequence[RankFile]) -> list[int | None]:
    """The rank in each file's name. A lost file whose rank another file also names must not stand in its way."""
    times = collections.Counter(file.rank for file in files)
    return [file.rank if times[file.rank] == 1 else None for file in files]
