"""What the user's code was when a state was recorded, from git: the commit, and what differs from it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import resource
import shutil
import subprocess
import threading
import time
from typing import Any

from ..atomic_file import open_private

__all__ = ["Code", "same_code"]

_MOST = 1 << 20  # bytes of a patch that is kept
_MOST_READ = 256 << 20  # bytes that are read of git
_MOST_MEMORY = 900 << 20  # of git
_SECONDS = 60  # for all commands of git at one moment
# It reaches no other repository, and asks nobody.
_PLAIN = {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}


class Code:
    """The code at one moment: `state`, None outside a git repository and if git does not answer, and the patch against the commit."""

    def __init__(self, investigation: str) -> None:
        self._investigation = investigation
        self.state: dict[str, Any] | None = None
        self.patch = b""
        git = _Git()
        commit = git("rev-parse", "HEAD")
        if commit is None:
            return
        own = os.path.realpath(investigation)
        top = (git("rev-parse", "--show-toplevel") or b"").decode("utf-8", "surrogateescape").strip()
        names = (git("ls-files", "--others", "--exclude-standard", "-z", "--full-name", ":/") or b"").decode("utf-8", "replace").split("\0")
        outside = [name for name in names if name and not os.path.realpath(os.path.join(top, name)).startswith(own + os.sep)]
        patch = git("diff", "HEAD", "--binary", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
        if patch is None:
            return
        self.patch = patch
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


class _Git:
    """git in the current folder, without running anything that a repository names, and with limits of time and memory: it may come from elsewhere."""

    def __init__(self) -> None:
        self._program = _program()
        self._until = time.monotonic() + _SECONDS
        self._environment = {**os.environ, **_PLAIN}
        named = self("config", "--null", "--name-only", "--get-regexp", r"^filter\..*") or b""
        self._environment = _without_programs(self._environment, list(filter(None, named.decode("utf-8", "surrogateescape").split("\0"))))

    def __call__(self, *words: str) -> bytes | None:
        """What git prints. None outside a repository, and if git is missing, fails, or goes beyond a limit."""
        left = self._until - time.monotonic()
        if self._program is None or left <= 0:
            return None
        with subprocess.Popen([self._program, "--no-pager", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=self._environment) as running:  # fmt: skip
            assert running.stdout is not None
            limit = threading.Timer(left, running.kill)
            limit.start()
            try:
                with contextlib.suppress(ProcessLookupError):
                    resource.prlimit(running.pid, resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
                printed = running.stdout.read(_MOST_READ + 1)
                if len(printed) > _MOST_READ:
                    running.kill()
            finally:
                limit.cancel()
        return printed if running.returncode == 0 else None


def _program() -> str | None:
    """Return the path of git; not that of a file in the current folder, which PATH may name as "." or by an empty entry."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return shutil.which("git", path=os.pathsep.join(folder for folder in folders if os.path.isabs(folder)))


def _without_programs(environment: dict[str, str], filters: list[str]) -> dict[str, str]:
    """Return an environment in which git runs no hook, monitor, filter or pager. `filters`: the settings of filters that the repository has."""
    settings = {"core.fsmonitor": "false", "core.hooksPath": os.devnull, "core.pager": "cat", "diff.ignoreSubmodules": "dirty"}
    settings |= {name: "false" if name.endswith(".required") else "" for name in filters}
    plain = dict(environment)
    begin = int(environment.get("GIT_CONFIG_COUNT") or 0)
    for number, (name, value) in enumerate(settings.items(), begin):
        plain[f"GIT_CONFIG_KEY_{number}"] = name
        plain[f"GIT_CONFIG_VALUE_{number}"] = value
    return {**plain, "GIT_CONFIG_COUNT": str(begin + len(settings))}
