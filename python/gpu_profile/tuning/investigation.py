"""The file of an investigation, FOLDER/investigation.json: everything but the recordings. Written atomically, by one
process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from typing import TYPE_CHECKING, Any

from ..atomic_file import atomic_replace
from ..errors import Error
from ..own_file import without_waiting
from .leftovers import is_leftover, remove_leftovers
from .shape import TIME, problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BY_DECISION", "FALSE_ACCEPTANCE", "TIME", "Investigation", "locked", "inside", "measured", "refuse_other_files", "remove_folder"]

BY_DECISION = "by decision"  # how the reason of a decision of the user begins
FALSE_ACCEPTANCE = 0.005  # per trial: compare calls a change faster if its 99 % interval is below 0

_MOST_BYTES = 64 << 20  # of the file
_FILE, _LOCK, _SCHEMA = "investigation.json", ".lock", 1
_UNREADABLE, _USAGE, _OTHER = 3, 2, 6


class Investigation:
    """`document`: id, command (or command_text: without its secrets), cwd, record options, repeat, states (the baseline and the trials)."""

    def __init__(self, folder: str, document: dict[str, Any]) -> None:
        self.folder = folder
        self.document = document

    @staticmethod
    def exists(folder: str) -> bool:
        return os.path.exists(os.path.join(folder, _FILE))

    @classmethod
    def begin(cls, folder: str, **values: Any) -> Investigation:
        return cls(folder, {"document": "tune", "schema": _SCHEMA, **values, "states": [], "total": None})

    @classmethod
    def load(cls, folder: str) -> Investigation:
        """Raises Error if there is none, or one that this version cannot read."""
        path = inside(folder, _FILE)
        try:
            with open(path, "rb", opener=without_waiting) as file:
                text = file.read(_MOST_BYTES + 1)
            if len(text) > _MOST_BYTES:
                raise Error(_UNREADABLE, f"cannot read {path}: it has more than {_MOST_BYTES >> 20} MiB, unlike an investigation")
            document = json.loads(text)
        except FileNotFoundError:
            raise Error(_UNREADABLE, f"no investigation in {folder}; begin one with gpu-profile tune -- CMD") from None
        except OSError as problem:
            raise Error(_UNREADABLE, f"cannot read {path}: {problem.strerror}") from problem
        except (ValueError, RecursionError) as problem:
            raise Error(_UNREADABLE, f"cannot read {path}: not JSON ({problem})") from problem
        if not isinstance(document, dict) or document.get("document") != "tune" or not document.get("states"):
            raise Error(_UNREADABLE, f"cannot read {path}: not an investigation of gpu-profile tune")
        if document.get("schema") != _SCHEMA:
            raise Error(_UNREADABLE, f"cannot read {path}: written by another version (schema {document.get('schema')}, expected {_SCHEMA})")
        wrong = problem_of(document)
        if wrong:
            raise Error(_UNREADABLE, f"cannot read {path}: {wrong}")
        return cls(folder, document)

    def save(self) -> None:
        path = inside(self.folder, _FILE)
        try:
            with atomic_replace(path, private=True) as part, open(part, "w", encoding="utf-8") as file:
                json.dump(self.document, file, indent=1, allow_nan=False)
        except OSError as problem:
            raise Error(_OTHER, f"cannot write {path}: {problem.strerror}; the investigation is as it was before") from problem

    @property
    def states(self) -> list[dict[str, Any]]:
        """The baseline, then the trials: state N is trial N."""
        found: list[dict[str, Any]] = self.document["states"]
        return found

    @property
    def trials(self) -> list[dict[str, Any]]:
        return self.states[1:]

    @property
    def current(self) -> int:
        """The state that the next trial is compared with: the last accepted trial, otherwise the baseline."""
        return max((n for n, state in enumerate(self.states) if n == 0 or state["decision"] == "accepted"), default=0)

    def trial(self, number: int) -> dict[str, Any]:
        if not 1 <= number < len(self.states):
            there = f"1 to {len(self.states) - 1}" if self.trials else "none"
            raise Error(_USAGE, f"no trial {number}; trials: {there}")
        return self.states[number]

    def code(self, state: int) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self.states[state]["code"]
        return found

    @property
    def chance_pct(self) -> float:
        """How probable it is, in percent, that at least one of this many trials is accepted if none changed anything."""
        return 100 * (1 - (1 - FALSE_ACCEPTANCE) ** len(self.trials))

    def recordings(self, state: int) -> list[str]:
        """The paths of a state's recordings: those made when it was measured again, if it was. Raises Error if one is missing."""
        found = self.states[state]
        latest = found["again"][-1] if found["again"] else found
        paths = [inside(self.folder, name) for name in latest["recordings"]]
        for path in paths:
            if not os.path.exists(path):
                raise Error(_UNREADABLE, f"{path} is missing: {'the baseline' if state == 0 else f'trial {state}'} cannot be compared without its recordings")
        return paths


def inside(folder: str, name: str) -> str:
    """Return the path of a file or folder of an investigation. Raises Error if the name leads out of it, or a part of it is a link."""
    path = folder
    for part in name.split("/"):
        if part in ("", ".", ".."):
            raise Error(_UNREADABLE, f"'{name}' is no name of a file in {folder}")
        path = os.path.join(path, part)
        if os.path.islink(path):
            raise Error(_UNREADABLE, f"{path} is a link; the folder of an investigation holds none")
    return path


def measured(trial: dict[str, Any]) -> dict[str, Any]:
    """The comparison that counts: the last one, if the trial was measured again."""
    found: dict[str, Any] = (trial["again"][-1] if trial["again"] else trial)["compared"]
    return found


def remove_folder(folder: str) -> None:
    """Remove what belongs to an investigation that did not begin, and the folder if nothing else is in it."""
    shutil.rmtree(os.path.join(folder, "baseline"), ignore_errors=True)
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(folder, _LOCK))
        os.rmdir(folder)


def refuse_other_files(folder: str) -> None:
    """A new investigation takes a folder of its own: it removes what an interrupted attempt left. Raises Error for any other folder."""
    try:
        names = set(os.listdir(folder))
    except FileNotFoundError:
        return
    except OSError as problem:
        raise Error(_USAGE, f"cannot use {folder} as the folder of an investigation: {problem.strerror}") from problem
    names = {name for name in names if not is_leftover(name)}
    if names and (_LOCK not in names or names - {_LOCK, "baseline"}):
        raise Error(_USAGE, f"{folder} contains other files; choose a new folder with --folder")


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Keep other processes from changing the investigation, and remove what those that were killed left. Raises Error if one does."""
    try:
        os.makedirs(folder, mode=0o755, exist_ok=True)
        descriptor = os.open(inside(folder, _LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except OSError as problem:
        raise Error(5 if problem.errno in (1, 13, 30) else 6, f"cannot write in {folder}: {problem.strerror}") from problem
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Error(6, f"another gpu-profile tune is working in {folder}") from None
        remove_leftovers(folder)
        yield
    finally:
        os.close(descriptor)
