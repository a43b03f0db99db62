"""Folders of recordings appear complete or not at all: they are made under another name beside their place. What a killed process left
has such a name, too, and the next process that changes the investigation removes it."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["is_leftover", "remove_leftovers", "removed_on_failure", "staged"]

# Two points: the temporary file of a program whose output was a temporary file.
_LEFTOVER = re.compile(r"\.{1,2}(investigation|report|timelines|baseline|\d+|again-\d+)\.part-")


@contextlib.contextmanager
def staged(place: str) -> Iterator[str]:
    """Yield a new folder that becomes `place` if the block ends without an exception, instead of what is there."""
    parent, name = os.path.split(place)
    part = os.path.join(parent, f".{name}.part-{secrets.token_hex(8)}")
    with removed_on_failure(part):
        os.makedirs(part)
        yield part
        shutil.rmtree(place, ignore_errors=True)
        os.rename(part, place)


@contextlib.contextmanager
def removed_on_failure(folder: str) -> Iterator[None]:
    """Remove the folder if the block ends with an exception, and the folder around it if nothing else is in it."""
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(folder))
        raise


def is_leftover(name: str) -> bool:
    return _LEFTOVER.match(name) is not None


def remove_leftovers(investigation: str) -> None:
    """Remove what killed processes left in the folders of an investigation. Links are removed, not followed."""
    trials = os.path.join(investigation, "trials")
    for folder in (investigation, os.path.join(investigation, "baseline"), trials, *_entries(trials)):
        for entry in _entries(folder):
            if not is_leftover(os.path.basename(entry)):
                continue
            if os.path.isdir(entry) and not os.path.islink(entry):
                shutil.rmtree(entry, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    os.unlink(entry)


def _entries(folder: str) -> list[str]:
    """The paths in a folder; none for a link or anything else."""
    if os.path.islink(folder):
        return []
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder)]
    except OSError:
        return []
