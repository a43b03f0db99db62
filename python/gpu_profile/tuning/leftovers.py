"""What a step that fails or is killed leaves in the folder of an investigation. Folders of recordings that investigation.json does not name
are ignored, and removed by the step that needs their place; temporary files are removed by the next process that changes the investigation."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["is_leftover", "remove_leftovers", "removed_on_failure"]

# Two points: the temporary file of a program whose output was a temporary file.
_LEFTOVER = re.compile(r"\.{1,2}(investigation|report|timelines)\.part-")


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


def remove_leftovers(folder: str) -> None:
    """Remove temporary files of killed processes. A link is removed, not followed; a folder stays, because no program makes one."""
    for name in filter(is_leftover, os.listdir(folder)):
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, name))
