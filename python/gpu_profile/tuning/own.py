"""Which command an investigation runs without a question: the one that this user gave, on this machine.

A folder can come from another user, who chose the command in it. The owner of its files says nothing, because unpacked files belong to the
user who unpacks them. So each command is kept in a private file outside the folder, with everything in the folder that decides
what is run, and with the inode of the folder: an edited, replaced, copied or unpacked investigation does not match. This is also the only
place that keeps a command with secrets in it.
"""

from __future__ import annotations

import json
import os
import secrets
from typing import TYPE_CHECKING, Any

from ..atomic_file import atomic_replace
from ..own_file import own

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .investigation import Investigation

__all__ = ["keep_command", "kept_command", "new_id", "state_folder"]

_COVERED = ("id", "command", "command_text", "cwd", "cwd_from_folder", "record")
_MOST_BYTES = 64 << 20


def new_id() -> str:
    return secrets.token_hex(16)


def state_folder() -> str:
    """Return the user's folder for these files, as in cli/query/line_reader.cc."""
    state = os.environ.get("XDG_STATE_HOME", "")
    base = state if os.path.isabs(state) else os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "gpu-profile", "tune")


def keep_command(found: Investigation, command: Sequence[str]) -> None:
    """Keep the command that the user gave or allowed. Raises OSError."""
    os.makedirs(state_folder(), mode=0o700, exist_ok=True)
    with atomic_replace(_path(found), private=True) as part, open(part, "w", encoding="utf-8") as file:
        json.dump({**_identity(found), "words": list(command)}, file)


def kept_command(found: Investigation) -> list[str] | None:
    """Return the command if it was kept for this folder as it is now; None if it was not, or if another user could have changed the file."""
    if found.document["id"] is None:
        return None
    try:
        with open(_path(found), "rb", opener=own(forbidden=0o077)) as file:
            kept = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    words: list[str] | None = kept.pop("words", None) if isinstance(kept, dict) else None
    return words if kept == _identity(found) else None


def _path(found: Investigation) -> str:
    return os.path.join(state_folder(), f"{found.document['id']}.json")


def _identity(found: Investigation) -> dict[str, Any]:
    return {"inode": os.stat(found.folder).st_ino, "investigation": {name: found.document[name] for name in _COVERED}}
