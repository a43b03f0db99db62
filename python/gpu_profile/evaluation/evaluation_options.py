"""The arguments of `gpu-profile evaluate`. cli/evaluate.cc declares the same options for help and completion."""

from __future__ import annotations

import argparse
import os
from typing import NoReturn

from ..user_file import missing
from .precision import MAX_ERROR_RATIO

__all__ = ["UsageError", "parse"]


class UsageError(Exception):
    pass


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message.removeprefix('argument ')} (see gpu-profile evaluate --help)")


def parse(arguments: list[str]) -> argparse.Namespace:
    """Parse the arguments. Raises UsageError with a one-line message."""
    parser = _Parser("gpu-profile evaluate", add_help=False, allow_abbrev=False)
    parser.add_argument("baseline")
    parser.add_argument("optimized")
    parser.add_argument("--inputs")
    parser.add_argument("--entry", default="kernel")
    parser.add_argument("--shape", action="append", type=_shape, default=None)
    parser.add_argument("--dtype", action="append", default=None)
    parser.add_argument("--rtol", type=float)
    parser.add_argument("--atol", type=float)
    parser.add_argument("--max-error-ratio", type=float)
    parser.add_argument("--max-memory-mb", type=float)
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--checks", type=int, default=3)
    parser.add_argument("--fail-under", type=float)
    parser.add_argument("--time-out", type=float, default=120.0)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    _check(options)
    return options


def _shape(text: str) -> list[int]:
    parts = text.lower().split("x")
    if not all(part.isdecimal() and 0 < int(part) < 1 << 31 for part in parts):
        raise argparse.ArgumentTypeError(f"expected positive sizes such as 1024x1024, not '{text}'")
    return [int(part) for part in parts]


def _check(options: argparse.Namespace) -> None:
    for name, low, high in (("repeat", 5, 100_000), ("checks", 1, 1000), ("time_out", 0.1, 1e6), ("rtol", 0, 1e9), ("atol", 0, 1e300)):
        value = getattr(options, name)
        if value is not None and not low <= value <= high:
            raise UsageError(f"--{name.replace('_', '-')}: expected a number from {low} to {high:g}, not '{value:g}'")
    for name in ("max_memory_mb", "fail_under", "max_error_ratio"):
        value = getattr(options, name)
        if value is not None and not 0 < value < float("inf"):
            raise UsageError(f"--{name.replace('_', '-')}: expected a number above 0, not '{value:g}'")
    if options.inputs and (options.shape or options.dtype):
        raise UsageError("--shape and --dtype cannot be combined with --inputs; they apply to generated inputs")
    for path in filter(None, (options.baseline, options.optimized, options.inputs)):
        if not os.path.isfile(path):
            raise FileNotFoundError(f"cannot read {path}: {missing(path)}")
    if options.max_error_ratio is None and options.rtol is None and options.atol is None:
        options.max_error_ratio = MAX_ERROR_RATIO
    options.shape = options.shape or [[1024, 1024]]
    options.dtype = options.dtype or ["float32"]
