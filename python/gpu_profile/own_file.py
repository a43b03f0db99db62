"""Whose files are trusted, as in core/base/ownership.h: this user's and root's. What another user can put somewhere may be anything."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["own", "without_waiting"]


def without_waiting(path: str, flags: int) -> int:
    """An opener for open(): of a regular file and nothing else. A link is not followed, a pipe not waited for. Raises OSError."""
    opened = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    if stat.S_ISREG(os.fstat(opened).st_mode):
        return opened
    os.close(opened)
    raise OSError(errno.EINVAL, "not a regular file")


def own(forbidden: int = 0) -> Callable[[str, int], int]:
    """An opener for open(): of a regular file of this user or root without any of the `forbidden` bits in its mode."""

    def opener(path: str, flags: int) -> int:
        opened = without_waiting(path, flags)
        about = os.fstat(opened)
        if about.st_uid in (os.geteuid(), 0) and not about.st_mode & forbidden:
            return opened
        os.close(opened)
        raise PermissionError(errno.EPERM, "another user's")

    return opener
