"""`python -m gpu_profile.many_ranks`, started by `gpu-profile ranks` for URLs and Dask.

Writes summaries into a folder, and what became of each file as one line of JSON to standard output (the lines are described
in cli/ranks/python_engine.h). The program shows progress, joins the summaries and answers.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from ..errors import Error
from .files import Naming, list_files
from .gather import gather, ranks_named_once
from .reduction import Limits, Outcome, program_version
from .summaries import Cache, usual_cache

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["main", "storage_options"]

_INTERNAL, _INTERRUPTED = 6, 130


def main(arguments: list[str] | None = None) -> int:
    """Reduce the files and return the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the processes that read, and removes their folders
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        _reduce(_parsed(arguments))
        return 0
    except Error as problem:
        _say(error=problem.message, code=problem.code or _INTERNAL)
        return problem.code or _INTERNAL
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as problem:  # last resort: one line, never a traceback
        _say(error=f"internal error: {type(problem).__name__}: {problem}", code=_INTERNAL)
        return _INTERNAL


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
    parser.add_argument("--folder", required=True)
    parser.add_argument("--cache", default="")
    parser.add_argument("--dask")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--time-out", type=float, default=Limits().seconds)
    parser.add_argument("--memory", type=int, default=0)
    parser.add_argument("--step-range", default="")
    parser.add_argument("--rank-from", default="")
    parser.add_argument("--host-from", default="")
    parser.add_argument("--storage", action="append", default=[])
    return parser.parse_args(arguments)


def _reduce(given: argparse.Namespace) -> None:
    limits = Limits(given.time_out, given.memory, given.step_range)
    options = storage_options(given.storage)
    files = list_files(given.paths, options, Naming(given.rank_from, given.host_from))
    _say(files=len(files), bytes=sum(max(file.bytes, 0) for file in files))
    ranks = ranks_named_once(files)

    def take(number: int, outcome: Outcome, kept: bool) -> None:
        made, problem, foreign = outcome
        summary = os.path.join(given.folder, f"{number:07}.gpuprof") if made is not None else ""
        if made is not None:
            with open(summary, "wb") as written:
                written.write(made)
        file = files[number]
        _say(number=number, name=file.name, rank=ranks[number], bytes=file.bytes, kept=kept, summary=summary, problem=problem, foreign=foreign)

    cache = Cache(os.path.abspath(given.cache or usual_cache()), program_version(), limits.steps)
    gather(files, given.dask, given.workers or None, options, cache, limits, take)


def _say(**about: Any) -> None:
    print(json.dumps(about), flush=True)


if __name__ == "__main__":
    sys.exit(main())
