"""Summaries: those kept in a folder between runs, and the one that stands for a rank that was lost.

A kept summary is named after its file and its own content, KEY-DIGEST.gpuprof; one that is damaged does not fit its name and is
made again. Files whose storage says neither a time nor a tag are not kept: nothing would tell that they changed.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from typing import TYPE_CHECKING, Union

from ..atomic_file import atomic_replace
from ..errors import Error
from ..own_file import own

if TYPE_CHECKING:
    from .files import RankFile

__all__ = ["Cache", "lost_rank", "usual_cache"]


class Cache:
    """The kept summaries that a program of one version made, with one range that marks steps."""

    def __init__(self, folder: str, version: str, steps: str = "") -> None:
        self.folder = folder
        self._maker = (version, steps)
        try:
            os.makedirs(folder, exist_ok=True)
            names = os.listdir(folder)
        except OSError as problem:
            raise Error(5, f"cannot create {folder}: {problem.strerror}; name another folder with cache= or --cache") from None
        self._names = {name[:32]: name for name in names if name[32:33] == "-"}

    def find(self, file: RankFile) -> bytes | None:
        """Return the summary of a file that did not change, or None."""
        name = self._names.get(self._key(file))
        if name is None or not file.stamp:
            return None
        try:
            with open(os.path.join(self.folder, name), "rb", opener=own()) as kept:
                summary = kept.read()
        except OSError:
            return None
        return summary if name == self._name(file, summary) else None

    def keep(self, file: RankFile, summary: bytes) -> None:
        """Keep a summary. Raises Error if the folder cannot be written."""
        if not file.stamp:
            return
        path = os.path.join(self.folder, self._name(file, summary))
        try:
            with atomic_replace(path, private=True) as part, open(part, "wb") as kept:
                kept.write(summary)
        except OSError as problem:
            raise Error(5, f"cannot write {path}: {problem.strerror}") from None

    def _key(self, file: RankFile) -> str:
        identity = "\0".join((file.name, str(file.bytes), file.stamp, str(file.rank), file.host, str(os.geteuid()), *self._maker))
        return hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:32]

    def _name(self, file: RankFile, summary: bytes) -> str:
        return f"{self._key(file)}-{hashlib.sha256(summary).hexdigest()[:32]}.gpuprof"


def usual_cache() -> str:
    """Return the folder in which the program keeps summaries, too."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    home = named if os.path.isabs(named) else os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "gpu-profile", "ranks")


def lost_rank(rank: int | None, file: str, reason: str) -> bytes:
    """Return a capture whose only row is that of a rank that could not be read (docs/reference/capture-format.md)."""
    row: dict[str, int | str] = {"file": file, "status": "unreadable", "reason": reason}
    if rank is not None:
        row = {"rank": rank, **row}
    chunks = [_table("begin", {"key": "format", "value": "1"}), _table("rank", row), _table("end", {"key": "rank", "rows": 1})]
    return b"".join(_chunk(kind, sequence, payload) for sequence, (kind, payload) in enumerate(zip((1, 2, 3), chunks)))


def _chunk(kind: int, sequence: int, payload: bytes) -> bytes:
    header = b"\x89gpuprof" + struct.pack("<IIII", kind, len(payload), sequence, zlib.crc32(payload))
    return header + struct.pack("<I", zlib.crc32(header)) + payload


def _table(name: str, row: dict[str, Union[int, str]]) -> bytes:
    """One row of a table: every column is a constant, so there are no values after the front."""
    front = _varint(len(row)) + b"".join(_column(column, value) for column, value in row.items())
    return _text(name) + _varint(1) + _varint(len(front)) * 2 + _varint(0) * 2 + front


def _column(name: str, value: int | str) -> bytes:
    i64, i32, string, no_unit, present, constant, width = 2, 3, 5, 0, 0, 0, 0
    kind = string if isinstance(value, str) else i64 if name == "rows" else i32
    parameter = _text(value) if isinstance(value, str) else _varint(value << 1)
    return _text(name) + bytes((kind, no_unit, present, constant, width)) + _varint(len(parameter)) + parameter


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogateescape")
    return _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))
