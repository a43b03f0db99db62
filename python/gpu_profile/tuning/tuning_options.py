"""The arguments of `gpu-profile tune`. cli/tune.cc declares the same options for help and completion."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from typing import Any, NoReturn

from ..own_file import without_waiting
from .shape import is_word

__all__ = ["ACTIONS", "UsageError", "parse"]

ACTIONS = ("begin", "trial", "status", "next", "again", "report", "accept", "reject")
_APPLIES = {
    **dict.fromkeys(("change", "max_memory_mb", "evaluate", "evaluate_baseline", "inputs"), ("trial",)),
    **dict.fromkeys(("record", "repeat", "recording"), ("begin", "trial", "again")),
    "because": ("accept", "reject"),
    "yes": ("trial", "again"),
    "format": ("status", "next"),
}
_USUAL_FOLDER = "tune"
_MOST_CHARACTERS = 16 << 20  # of a project
_OF_PROJECTS = {"command": list, "record": str, "repeat": int, "folder": str}
_NAMES = {list: "a list of words", str: "a text", int: "a number"}


class UsageError(Exception):
    pass


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message.removeprefix('argument ')} (see gpu-profile tune --help)")


def parse(arguments: list[str]) -> argparse.Namespace:
    """Parse the arguments; `words` are those after the options. Raises UsageError with a one-line message."""
    parser = _Parser("gpu-profile tune", add_help=False, allow_abbrev=False)
    parser.add_argument("action", choices=ACTIONS)
    for name in ("--folder", "--project", "--record", "--evaluate", "--evaluate-baseline", "--inputs", "--because"):
        parser.add_argument(name)
    parser.add_argument("--repeat", type=int)
    parser.add_argument("--recording", action="append", default=[])
    parser.add_argument("--change", action="append", default=[])
    parser.add_argument("--max-memory-mb", type=float)
    parser.add_argument("--yes", action="store_true")
    parser.add_argument("--format", choices=("text", "json"))
    at = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:at])
    options.words = arguments[at + 1 :]
    for name, actions in _APPLIES.items():
        if getattr(options, name) and options.action not in actions:
            raise UsageError(f"--{name.replace('_', '-')} applies to {', '.join(actions)} only")
    _take_project(options)
    if not options.folder and os.path.islink(_USUAL_FOLDER):
        raise UsageError(f"{_USUAL_FOLDER} is a link, which is only followed if it is given with --folder")
    options.folder = options.folder or _USUAL_FOLDER
    _check(options)
    return options


def _take_project(options: argparse.Namespace) -> None:
    """Fill in what the project's file says and the command line does not."""
    if options.project is None:
        return
    for name, value in _project(options.project).items():
        if name == "command":
            options.words = options.words or (value if options.action == "begin" else [])
        elif getattr(options, name) is None:
            setattr(options, name, value)


def _project(path: str) -> dict[str, Any]:
    try:
        with open(os.path.realpath(path), encoding="utf-8", opener=without_waiting) as file:
            project = json.loads(file.read(_MOST_CHARACTERS))
    except OSError as problem:
        raise UsageError(f"cannot read {path}: {problem.strerror}") from problem
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"cannot read {path}: not JSON ({problem})") from problem
    if not isinstance(project, dict):
        raise UsageError(f"cannot read {path}: expected a JSON object with command, record, repeat or folder")
    for name, value in project.items():
        if name not in _OF_PROJECTS:
            raise UsageError(f"{path}: unknown member '{name}'; expected one of: {', '.join(_OF_PROJECTS)}")
        words = value if name == "command" and isinstance(value, list) else []
        if type(value) is not _OF_PROJECTS[name] or not all(isinstance(word, str) for word in words):
            raise UsageError(f"{path}: '{name}' must be {_NAMES[_OF_PROJECTS[name]]}")
    return project


def _check(options: argparse.Namespace) -> None:
    action, words = options.action, options.words
    if action == "begin" and not words and not options.recording:
        raise UsageError("nothing to record; expected -- CMD..., --recording FILE or a project with a command")
    if action == "begin" and words and options.recording:
        raise UsageError("--recording cannot be combined with a command")
    if action == "trial" and (len(words) != 1 or not words[0].strip()):
        raise UsageError('a trial needs one note that says what was changed: gpu-profile tune trial "NOTE"')
    if action in ("accept", "reject"):
        if len(words) != 1 or not words[0].isdecimal():
            raise UsageError(f"expected the number of a trial: gpu-profile tune {action} N --because TEXT")
        if not options.because:
            raise UsageError(f"{action} needs a reason: --because TEXT")
    if action in ("status", "next", "again", "report") and words:
        raise UsageError(f"unexpected argument '{words[0]}' after {action}")
    if options.repeat is not None and not 1 <= options.repeat <= 100:
        raise UsageError(f"--repeat: expected a number from 1 to 100, not '{options.repeat}'")
    if options.max_memory_mb is not None and not 0 < options.max_memory_mb < float("inf"):
        raise UsageError("--max-memory-mb: expected a number above 0")
    if (options.evaluate is None) != (options.evaluate_baseline is None):
        raise UsageError("--evaluate and --evaluate-baseline need each other")
    if options.inputs is not None and options.evaluate is None:
        raise UsageError("--inputs applies to --evaluate only")
    if action == "begin" and not all(map(is_word, words)):
        raise UsageError("a word of the command contains a zero byte or half a character")
    try:
        shlex.split(options.record or "")
    except ValueError as problem:
        raise UsageError(f"--record: {problem}") from problem
