"""Files that are complete or absent, as the program writes them (docs/reference/outputs.md): a part with another name in the same folder, synced,
then renamed. Whatever goes wrong, the old file is as it was.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["replacing"]


@contextlib.contextmanager
def replacing(path: str) -> Iterator[str]:
    """The name of a file to write; when the block ends without an exception it becomes `path`. A file that is there keeps its mode."""
    final = os.path.realpath(path)
    folder, name = os.path.split(final)
    root, ending = os.path.splitext(name)  # which matplotlib takes for the format
    number, part = tempfile.mkstemp(suffix=ending, prefix=f".{root[:200]}.part-", dir=folder)
    try:
        os.fchmod(number, _mode_of(final))
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


def _mode_of(path: str) -> int:
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0o077)
        os.umask(umask)
        return 0o666 & ~umask


def _sync_folder(folder: str) -> None:
    with contextlib.suppress(OSError):  # not every file system can
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
