"""The arguments of the package. cli/bench_functions.cc declares the same ones for people."""

from __future__ import annotations

import argparse
from typing import NoReturn

__all__ = ["UsageError", "parse"]


class UsageError(Exception):
    pass


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see gpu-profile bench --help)")


def parse(arguments: list[str]) -> argparse.Namespace:
    """Raises UsageError with one line."""
    parser = _Parser("gpu-profile bench", add_help=False, allow_abbrev=False)
    parser.add_argument("--result-fd", type=int, required=True)
    parser.add_argument("--file", required=True)
    parser.add_argument("--function")
    parser.add_argument("--args", action="append")
    parser.add_argument("--inputs")
    parser.add_argument("--timer")
    parser.add_argument("--hot", action="store_true")
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--no-blocking", action="store_true")
    parser.add_argument("--keep-throttled", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--max-memory-mb", type=float)
    parser.add_argument("--bytes", type=_count)
    parser.add_argument("--flops", type=_count)
    parser.add_argument("--flops-as")
    parser.add_argument("--warmup", type=float)
    parser.add_argument("--stop")
    for flag in ("--min-time", "--time-out", "--precision"):
        parser.add_argument(flag, type=float)
    for flag in ("--min-samples", "--max-samples"):
        parser.add_argument(flag, type=int)
    options = parser.parse_args(arguments)
    if options.args and options.inputs:
        raise UsageError("--args and --inputs both give the arguments: choose one")
    return options


def _count(text: str) -> float | str:
    return text if text == "count" else float(text)
