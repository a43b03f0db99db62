"""`python -m gpu_profile.mcp_server`, started by `gpu-profile mcp`."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from ..errors import Error
from .roots import Roots

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main"]

_USAGE, _INTERNAL, _INTERRUPTED = 2, 6, 130
_LEAST_BYTES, _MOST_BYTES = 2000, 10_000_000
_LEAST_GIB, _MOST_GIB = 0.1, 1_000_000


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Error(_USAGE, f"{message.removeprefix('argument ')} (see gpu-profile mcp --help)")


def main(arguments: list[str] | None = None) -> int:
    """Serve until the input ends; return the exit code. cli/mcp.cc declares the same options for help and completion."""
    parser = _Parser("gpu-profile mcp", add_help=False, allow_abbrev=False)
    parser.add_argument("--root", action="append", default=[])
    parser.add_argument("--time-out", type=float, default=120.0)
    parser.add_argument("--memory-gib", type=float, default=_three_quarters())
    parser.add_argument("--max-bytes", type=int, default=32_000)
    parser.add_argument("--workers", type=int, default=2)
    try:
        options = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
        if not 0 < options.time_out <= 86_400:
            raise Error(_USAGE, f"--time-out: expected a number of seconds above 0, up to 86,400, not {options.time_out:g}")
        if not _LEAST_GIB <= options.memory_gib <= _MOST_GIB:
            raise Error(_USAGE, f"--memory-gib: expected a number from {_LEAST_GIB:g} to {_MOST_GIB:,}, not {options.memory_gib:g}")
        if not _LEAST_BYTES <= options.max_bytes <= _MOST_BYTES:
            raise Error(_USAGE, f"--max-bytes: expected a number from {_LEAST_BYTES:,} to {_MOST_BYTES:,}, not {options.max_bytes:,}")
        if not 1 <= options.workers <= 64:
            raise Error(_USAGE, f"--workers: expected a number from 1 to 64, not {options.workers}")
        roots = Roots(options.root or [os.getcwd()])
        return _import_serve()(roots, options.time_out, int(options.memory_gib * 2**30), options.max_bytes, options.workers)
    except Error as problem:
        print(f"gpu-profile: {problem.message}", file=sys.stderr)
        return _INTERNAL if problem.code is None else problem.code
    except KeyboardInterrupt:  # before the server handles signals
        return _INTERRUPTED


def _three_quarters() -> float:
    """Of this machine's memory, in GiB."""
    return max(_LEAST_GIB, 0.75 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30)


def _import_serve() -> Callable[[Roots, float, int, int, int], int]:
    try:
        from .server import serve
    except ImportError as problem:
        raise Error(
            _INTERNAL, f"mcp needs Python 3.10 and the package mcp, version 2, in {sys.executable} ({problem}); install it with pip install 'gpu-profile[mcp]'"
        ) from None
    return serve


if __name__ == "__main__":
    sys.exit(main())
