"""The recordings of one state: made by running the command until their noise is known, or copies of given files."""

from __future__ import annotations

import contextlib
import filecmp
import math
import os
import shlex
import shutil
import signal
import statistics
from typing import TYPE_CHECKING

from .. import program
from ..atomic_file import open_private
from ..errors import Error
from .answers import compared
from .command import text_without_secrets
from .waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["FEWEST", "MOST", "WANTED_PCT", "copied", "half_width_pct", "made"]

FEWEST, MOST = 3, 5
WANTED_PCT = 2.0  # half-width of the 95 % interval of the mean at which the noise is low enough
_T_95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}  # Student's t, two-sided


def half_width_pct(values: Sequence[float]) -> float | None:
    """Half of the 95 % interval of the mean, in percent of it; None for less than two values."""
    if len(values) < 2 or statistics.fmean(values) <= 0:
        return None
    t = _T_95.get(len(values) - 1, 2.0 + 2.4 / (len(values) - 1))
    return 100 * t * statistics.stdev(values) / math.sqrt(len(values)) / statistics.fmean(values)


def copied(files: Sequence[str], place: str) -> list[str]:
    """Copy the files into the folder `place` and return their names there. Raises Error if one is unreadable."""
    _refuse_duplicates(files)
    names = []
    for number, file in enumerate(files, 1):
        program.answer("report", file, "summary", "--format", "json")  # an error for any other file
        name = f"{number}-{os.path.basename(file)}"
        try:
            _copy(file, os.path.join(place, name))
        except OSError as problem:
            raise Error(6, f"cannot copy {file} to {place}: {problem.strerror}") from problem
        names.append(name)
    return names


def _copy(file: str, to: str) -> None:
    """Copy a file with its mode. What is at the new name already, such as a link, is not written through."""
    with open(file, "rb") as source, open(to, "xb", opener=open_private) as target:
        shutil.copyfileobj(source, target)
    shutil.copymode(file, to)


def _refuse_duplicates(files: Sequence[str]) -> None:
    """One recording twice would look like a program without noise."""
    for number, file in enumerate(files):
        for other in files[:number]:
            with contextlib.suppress(OSError):  # copied() says which file cannot be read
                if filecmp.cmp(other, file, shallow=False):
                    raise Error(2, f"{other} and {file} are the same recording; record the program again to know its noise")


def made(command: Sequence[str], options: str, repeat: int | None, place: str, say: Callable[[str], None]) -> list[str]:
    """Record the command into the folder `place` and return the names of the recordings there: `repeat` times, otherwise at least FEWEST
    times, until the noise is low or MOST are there. Raises Error if `record` fails."""
    names: list[str] = []
    times: list[float] = []
    while len(names) < (repeat or MOST):
        name = f"{len(names) + 1}.gpuprof"
        say(f"recording {len(names) + 1} of {repeat or f'{FEWEST} to {MOST}'}")
        _record(command, options, os.path.join(place, name))
        names.append(name)
        times.append(_time(os.path.join(place, names[0]), os.path.join(place, name)))
        width = half_width_pct([each for each in times if each > 0])
        if repeat is None and len(names) >= FEWEST and width is not None and width <= WANTED_PCT:
            break
    return names


def _record(command: Sequence[str], options: str, path: str) -> None:
    words = [os.path.abspath(program.binary()), "record", *shlex.split(options), "-o", path, "--", *command]
    try:
        status = wait_for(words)
    except OSError as problem:
        raise Error(6, f"cannot start {words[0]}: {problem.strerror}") from problem
    if status != 0:
        how = f"recording failed with exit code {status}" if status > 0 else f"record was ended by {_signal_name(-status)}"
        raise Error(status if status > 0 else 6, f"{how}: {text_without_secrets(command) or shlex.join(command)}")


def _signal_name(number: int) -> str:
    known = {each.value: each.name for each in signal.Signals}
    return known.get(number, f"signal {number}")


def _time(first: str, recording: str) -> float:
    """The time that compare judges by, in ns; 0 if it finds none."""
    found = compared([first], [recording])
    return float(found["new_ns"] or 0)
