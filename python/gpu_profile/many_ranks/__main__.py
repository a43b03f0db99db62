"""`python -m gpu_profile.many_ranks`, started by `gpu-profile ranks` for URLs and Dask.

The program names what the user gave, and talks over standard input and output (conversation.py). It shows progress, joins the
summaries and answers.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import signal
import sys
from typing import TYPE_CHECKING, Any

from ..errors import Error
from .conversation import converse, tell

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["main", "storage_options"]

_INTERNAL, _INTERRUPTED = 6, 130


def main(arguments: list[str] | None = None) -> int:
    """Reduce the files and return the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the processes that read, and removes their folders
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    say = sys.stdout.fileno()
    try:
        given = _parsed(arguments)
        converse(sys.stdin.buffer, say, given.paths, given.dask, given.workers or None, storage_options(given.storage))
        return 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:  # the program has ended, or knows that the job cannot be read
        return _INTERNAL
    except Error as problem:
        return _fail(say, problem.message, problem.code or _INTERNAL)
    except Exception as problem:  # the last resort: one line, never a traceback
        return _fail(say, f"internal error: {type(problem).__name__}: {problem}", _INTERNAL)


def _fail(say: int, message: str, code: int) -> int:
    with contextlib.suppress(BrokenPipeError):
        tell(say, error=message, code=code)
    return code


def storage_options(pairs: Iterable[str]) -> dict[str, Any]:
    """Return KEY=VALUE pairs as a dictionary. ``a.b=x`` is ``{"a": {"b": "x"}}``; values are JSON if they can be, else
    text. Raises Error."""
    options: dict[str, Any] = {}
    for pair in pairs:
        path, equals, text = pair.partition("=")
        *outer, key = path.split(".")
        if not equals or not all((*outer, key)):
            raise Error(2, f"invalid --storage '{path}': expected KEY=VALUE, such as anon=true")
        inside = options
        for name in outer:
            inside = inside.setdefault(name, {})
            if not isinstance(inside, dict):
                raise Error(2, f"invalid --storage '{path}': '{name}' has a value already")
        try:
            inside[key] = json.loads(text)
        except ValueError:
            inside[key] = text
    return options


def _parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("gpu-profile ranks", add_help=False, allow_abbrev=False)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--dask")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--storage", action="append", default=[])
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
