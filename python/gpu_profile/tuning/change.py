"""What the user's code was when a state was recorded, from git: the commit, and what differs from it."""

from __future__ import annotations

import hashlib
import os
import subprocess
from typing import Any

__all__ = ["Code", "same_code"]

_MOST = 1 << 20  # bytes of a patch that is kept


class Code:
    """The code at one moment: `state`, None outside a git repository, and the patch against the commit."""

    def __init__(self, investigation: str) -> None:
        self.state: dict[str, Any] | None = None
        self.patch = b""
        commit = _git("rev-parse", "HEAD")
        if commit is None:
            return
        own = os.path.realpath(investigation)
        top = (_git("rev-parse", "--show-toplevel") or b"").decode("utf-8", "surrogateescape").strip()
        names = (_git("ls-files", "--others", "--exclude-standard", "-z", "--full-name", ":/") or b"").decode("utf-8", "replace").split("\0")
        outside = [name for name in names if name and not os.path.realpath(os.path.join(top, name)).startswith(own + os.sep)]
        self.patch = _git("diff", "HEAD", "--binary", "--no-color", "--no-ext-diff") or b""
        notes = []
        if len(self.patch) > _MOST:
            notes.append(f"the difference from the commit is {len(self.patch) / 1e6:.1f} MB and was not kept (limit: 1 MiB)")
        if len(outside) > 100:
            notes.append(f"{len(outside)} untracked files, the first 100 are listed")
        self.state = {
            "commit": commit.decode().strip(), "patch": None, "patch_sha256": hashlib.sha256(self.patch).hexdigest() if self.patch else None,
            "note": "; ".join(notes) or None, "untracked": outside[:100],
        }  # fmt: skip

    def kept(self, investigation: str, under: str) -> dict[str, Any] | None:
        """Write the patch into the folder `under`, relative to the investigation, and return the state."""
        if self.state is None:
            return None
        name = None
        if self.patch and len(self.patch) <= _MOST:
            name = os.path.join(under, "change.patch")
            with open(os.path.join(investigation, name), "wb") as file:
                file.write(self.patch)
        changed = not same_code(self.state, Code(investigation).state)
        notes = [note for note in (self.state["note"], "the code changed while it was recorded" if changed else None) if note]
        return {**self.state, "patch": name, "note": "; ".join(notes) or None}


def same_code(one: dict[str, Any] | None, other: dict[str, Any] | None) -> bool:
    """Whether git shows no difference: the same commit and the same patch. False if it is unknown."""
    return one is not None and other is not None and all(one[name] == other[name] for name in ("commit", "patch_sha256"))


def _git(*words: str) -> bytes | None:
    try:
        done = subprocess.run(["git", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError:  # git is not installed
        return None
    return done.stdout if done.returncode == 0 else None
