"""Folders of `tune`, read without writing: the report, and whether the recordings are inside the roots."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..errors import Error
from ..tuning.investigation import Investigation
from ..tuning.report import markdown

if TYPE_CHECKING:
    from collections.abc import Callable

    from .roots import Roots

__all__ = ["check_recordings", "report"]

_UNREADABLE = 3


def report(folder: str) -> str:
    """Return the report of an investigation as Markdown. Raises Error if it cannot be read."""
    return str(_of(folder, markdown))


def check_recordings(folder: str, roots: Roots) -> None:
    """Raise Error if the investigation names a recording outside the roots, as a file from elsewhere may do."""
    for path in _of(folder, lambda found: [path for state in range(len(found.states)) for path in found.recordings(state)]):
        if os.path.lexists(path):
            roots.resolve(path)


def _of(folder: str, read: Callable[[Investigation], Any]) -> Any:
    found = Investigation.load(folder)
    try:
        return read(found)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as problem:
        raise Error(_UNREADABLE, f"cannot read the investigation in {folder}: damaged ({type(problem).__name__}: {problem})") from problem
