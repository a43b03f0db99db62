"""The arguments of the package: its private ones, and the options that the library declares for `gpu-profile bench`.
The program (cli/bench/bench_command.cc) has validated their values and passes times in seconds."""

from __future__ import annotations

import argparse
from typing import Any, Callable, NoReturn

from ..declared import Option, options_of

__all__ = ["UsageError", "given_options", "parse"]


class UsageError(Exception):
    pass


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message.removeprefix('argument ')} (see gpu-profile bench --help)")


def parse(arguments: list[str]) -> argparse.Namespace:
    """Parse the arguments. Raises UsageError with a one-line message."""
    parser = _Parser("gpu-profile bench", add_help=False, allow_abbrev=False)
    parser.add_argument("--result-fd", type=int, required=True)
    parser.add_argument("--file", required=True)
    parser.add_argument("--function")
    parser.add_argument("--args", action="append")
    parser.add_argument("--inputs")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--max-memory-mb", type=float)
    for option in options_of("bench"):
        _add(parser, option)
    options = parser.parse_args(arguments)
    if options.args and options.inputs:
        raise UsageError("--args and --inputs are mutually exclusive")
    return options


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of bench() that were given, by parameter name."""
    values = {option.name: getattr(arguments, option.name) for option in options_of("bench") if option.flag}
    return {name: value for name, value in values.items() if value is not None}


def _add(parser: argparse.ArgumentParser, option: Option) -> None:
    if option.flag is None:
        return
    if option.kind in ("on", "off"):
        parser.add_argument(option.flag, dest=option.name, action="store_const", const=option.kind == "on")
    else:
        parser.add_argument(option.flag, dest=option.name, type=_TYPES.get(option.kind, float))


def _count(text: str) -> float | str:
    return text if text == "count" else float(text)


_TYPES: dict[str, Callable[[str], Any]] = {"text": str, "whole": int, "amount": _count}
