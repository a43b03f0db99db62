"""Atomic writes, as in the program (docs/reference/outputs.md): a temporary file in the same folder is synced, then renamed. If
anything fails, the old file is unchanged.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["atomic_replace", "open_private"]


def open_private(path: str, flags: int) -> int:
    """An opener for open(): a new file is readable by its owner alone."""
    return os.open(path, flags, 0o600)


@contextlib.contextmanager
def atomic_replace(path: str, private: bool = False) -> Iterator[str]:
    """Yield the name of a temporary file; if the block ends without an exception, it becomes `path`. An existing
    file keeps its mode; a new one is readable as the umask says, or by its owner alone."""
    final = os.path.realpath(path)
    folder, name = os.path.split(final)
    root, ending = os.path.splitext(name)  # matplotlib derives the format from it
    number, part = tempfile.mkstemp(suffix=ending, prefix=f".{root[:200]}.part-", dir=folder)
    try:
        os.fchmod(number, _mode_of(final, private))
        yield part
        descriptor = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(part, final)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    finally:
        os.close(number)
    _sync_folder(folder)


def _mode_of(path: str, private: bool) -> int:
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        if private:
            return 0o600
        umask = os.umask(0o077)
        os.umask(umask)
        return 0o666 & ~umask


def _sync_folder(folder: str) -> None:
    with contextlib.suppress(OSError):  # not supported by every file system
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
