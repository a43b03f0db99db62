"""The command of an investigation: what its folder may show of it, and whether it may run."""

from __future__ import annotations

import ctypes
import os
import shlex
import sys
from typing import TYPE_CHECKING

from .. import native
from ..errors import Error
from ..sanitize import printable_lines
from .own import kept_command, new_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .investigation import Investigation

__all__ = ["allowed", "text_without_secrets"]

_USAGE, _NOT_PERMITTED, _INTERNAL = 2, 5, 6


def text_without_secrets(command: Sequence[str]) -> str | None:
    """Return the command as captures have it if it contains a secret, else None."""
    library = native.library()
    words = [os.fsencode(word) for word in command]
    try:
        native.declare(library, (("gpuprof_command_text", ctypes.c_char_p, [ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t]),))
    except AttributeError as problem:
        raise Error(_INTERNAL, f"libgpuprof.so does not match this package: {problem}") from problem
    text: bytes | None = library.gpuprof_command_text((ctypes.c_char_p * len(words))(*words), len(words))
    if text is None:
        raise Error(_INTERNAL, native.last_error())
    return None if text == b" ".join(words) else os.fsdecode(text)


def allowed(found: Investigation, record: str, yes: bool) -> list[str]:
    """Return the command if this user gave it, or allows it now. Raises Error if it may not run. `record`: options of record, which are
    shown because they can change what is run."""
    own = kept_command(found)
    if own is not None:
        return own
    document, folder = found.document, found.folder
    if document["command_text"] is not None:
        raise Error(_USAGE, f"the command in {folder} contained a secret, which only the user who began it has; record it yourself and give --recording FILE")
    command = _one_line(shlex.join(["gpu-profile", "record", *shlex.split(record), "--", *document["command"]]))
    if yes:
        _say(f"you did not begin this investigation here; --yes runs its command: {command}\n")
    elif sys.stdin.isatty() and sys.stderr.isatty():
        _say(f"you did not begin this investigation here. Its command is\n  {command}\nRun it in {_one_line(os.getcwd())}? [y/N] ")
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise Error(_NOT_PERMITTED, "the command was not run")
    else:
        raise Error(_USAGE, f"you did not begin the investigation in {folder} here; to run its command, give --yes: {command}")
    document["id"] = new_id()  # from now on it is the user's; another copy keeps its own
    return list(document["command"])


def _one_line(text: str) -> str:
    return printable_lines(text.replace("\n", "\ufffd"))


def _say(text: str) -> None:
    print(f"gpu-profile: {text}", end="", file=sys.stderr, flush=True)
