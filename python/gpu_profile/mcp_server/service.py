"""What a call can use: the folders, the program with its limits, and what the program declares."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from typing import TYPE_CHECKING, Any

from ..errors import Error
from . import child

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .roots import Roots

__all__ = ["Scratch", "Service"]

_USAGE, _INTERNAL = 2, 6


class Scratch:
    """What a server keeps between calls: a folder for summaries of ranks, and what the program declares. `mark` tells its programs from
    those of other servers."""

    def __init__(self) -> None:
        self.declared: dict[str, dict[str, Any]] = {}
        self.mark = secrets.token_hex(16)
        self.place = os.path.join(os.path.abspath(os.environ.get("TMPDIR") or "/tmp"), f"gpu-profile-mcp-{self.mark}")
        self._made = False

    def folder(self) -> str:
        """Return the folder, which exists until remove()."""
        if not self._made:
            os.mkdir(self.place, 0o700)
            self._made = True
        return self.place

    def remove(self) -> None:
        if self._made:
            shutil.rmtree(self.place, ignore_errors=True)


class Service:
    """Made for one call. `waiting` is awaited every second while the program runs, with the seconds since its start."""

    def __init__(self, roots: Roots, time_out: float, memory: int, scratch: Scratch, waiting: Callable[[float], Awaitable[None]]) -> None:
        self.roots = roots
        self.time_out = time_out
        self.memory = memory
        self.scratch = scratch
        self._waiting = waiting

    async def run(self, words: list[str], sql: str = "") -> bytes:
        """Return what the program prints. Raises Error with its exit code and line."""
        return await child.run(words, mark=self.scratch.mark, time_out=self.time_out, memory=self.memory, given=sql.encode("utf-8", "replace"), waiting=self._waiting)

    async def document(self, words: list[str], sql: str = "") -> dict[str, Any]:
        """Return what the program prints as JSON."""
        printed = await self.run([*words, "--format=json"], sql)
        try:
            document = json.loads(printed)
        except ValueError as problem:
            raise Error(_INTERNAL, f"gpu-profile {words[0]} printed no JSON ({problem}); please report this") from problem
        return document if isinstance(document, dict) else {"items": document}

    async def declared(self) -> dict[str, dict[str, Any]]:
        """Return the lists that the program declares, as tables by name."""
        if not self.scratch.declared:
            self.scratch.declared = {table["name"]: table for table in (await self.document(["schema"]))["tables"]}
        return self.scratch.declared

    async def check_analyses(self, names: list[str], more: tuple[str, ...] = ()) -> None:
        """Raise Error unless these are analyses, or among `more`: the program would take another word for a file."""
        if not names:
            return
        known = {word for row in (await self.declared())["analyses"]["rows"] for word in (row[0], *(row[1] or "").split())}
        for name in names:
            if name not in known and name not in more:
                raise Error(_USAGE, f"unknown analysis '{name}'; the tool schema lists them")
