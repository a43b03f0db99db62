"""What the user's code was when a state was recorded, from git: the commit, and what differs from it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import threading
from typing import Any

from ..atomic_file import open_private

__all__ = ["Code", "same_code"]

_MOST = 1 << 20  # bytes of a patch that is kept
_MOST_READ = 256 << 20  # bytes that are read of git
_SECONDS = 60  # for one command of git


class Code:
    """The code at one moment: `state`, None outside a git repository, and the patch against the commit."""

    def __init__(self, investigation: str) -> None:
        self._investigation = investigation
        self.state: dict[str, Any] | None = None
        self.patch = b""
        commit = _git("rev-parse", "HEAD")
        if commit is None:
            return
        own = os.path.realpath(investigation)
        top = (_git("rev-parse", "--show-toplevel") or b"").decode("utf-8", "surrogateescape").strip()
        names = (_git("ls-files", "--others", "--exclude-standard", "-z", "--full-name", ":/") or b"").decode("utf-8", "replace").split("\0")
        outside = [name for name in names if name and not os.path.realpath(os.path.join(top, name)).startswith(own + os.sep)]
        self.patch = _git("diff", "HEAD", "--binary", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty") or b""
        notes = []
        if len(self.patch) > _MOST:
            notes.append(f"the difference from the commit is {len(self.patch) / 1e6:.1f} MB and was not kept (limit: 1 MiB)")
        if len(outside) > 100:
            notes.append(f"{len(outside)} untracked files, the first 100 are listed")
        self.state = {
            "commit": commit.decode().strip(), "patch": None, "patch_sha256": hashlib.sha256(self.patch).hexdigest() if self.patch else None,
            "note": "; ".join(notes) or None, "untracked": outside[:100],
        }  # fmt: skip

    def kept(self, place: str) -> dict[str, Any] | None:
        """Write the patch into the folder `place`, and return the state with the name of the patch there."""
        if self.state is None:
            return None
        name = None
        if self.patch and len(self.patch) <= _MOST:
            name = "change.patch"
            with open(os.path.join(place, name), "xb", opener=open_private) as file:
                file.write(self.patch)
        changed = not same_code(self.state, Code(self._investigation).state)
        notes = [note for note in (self.state["note"], "the code changed while it was recorded" if changed else None) if note]
        return {**self.state, "patch": name, "note": "; ".join(notes) or None}


def same_code(one: dict[str, Any] | None, other: dict[str, Any] | None) -> bool:
    """Whether git shows no difference: the same commit and the same patch. False if it is unknown."""
    return one is not None and other is not None and all(one[name] == other[name] for name in ("commit", "patch_sha256"))


def _git(*words: str, most: int = _MOST_READ) -> bytes | None:
    """What git prints, without running anything that a repository names: it may come from elsewhere. None outside a repository, and if
    git is missing, fails, or prints more than `most` bytes."""
    git = _program()
    if git is None:
        return None
    with subprocess.Popen([git, "--no-pager", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env=_environment(git)) as running:  # fmt: skip
        assert running.stdout is not None
        limit = threading.Timer(_SECONDS, running.kill)
        limit.start()
        try:
            printed = running.stdout.read(most + 1)
            if len(printed) > most:
                running.kill()
        finally:
            limit.cancel()
    return printed if running.returncode == 0 else None


def _program() -> str | None:
    """Return the path of git; not that of a file in the current folder, which PATH may name as "." or by an empty entry."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return shutil.which("git", path=os.pathsep.join(folder for folder in folders if os.path.isabs(folder)))


def _environment(git: str) -> dict[str, str]:
    """Return an environment in which git runs no hook, monitor, filter or pager, and reaches no other repository."""
    settings = {"core.fsmonitor": "false", "core.hooksPath": os.devnull, "core.pager": "cat", "diff.ignoreSubmodules": "dirty"}
    plain = {**os.environ, "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    named = subprocess.run([git, "config", "--null", "--name-only", "--get-regexp", r"^filter\..*"], stdin=subprocess.DEVNULL, capture_output=True,
                           check=False, env=plain)  # fmt: skip
    for name in filter(None, named.stdout.decode("utf-8", "surrogateescape").split("\0")):
        settings[name] = "false" if name.endswith(".required") else ""
    begin = int(plain.get("GIT_CONFIG_COUNT") or 0)
    for number, (name, value) in enumerate(settings.items(), begin):
        plain[f"GIT_CONFIG_KEY_{number}"], plain[f"GIT_CONFIG_VALUE_{number}"] = name, value
    return {**plain, "GIT_CONFIG_COUNT": str(begin + len(settings))}
