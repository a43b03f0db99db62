"""`python -m gpu_profile.evaluation`, started by `gpu-profile evaluate`."""

from __future__ import annotations

import sys

from .. import __version__
from ..sanitize import printable_lines
from .evaluation_options import UsageError, parse
from .session import Evaluation
from .verdict import exit_code, fixed_lines, json_text, table

__all__ = ["main"]

_USAGE, _UNREADABLE, _INTERNAL, _INTERRUPTED = 2, 3, 6, 130


def main(arguments: list[str] | None = None) -> int:
    """Evaluate, print the result, and return the exit code."""
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
        evaluation = Evaluation(options)
        evaluation.run()
        if options.json:
            print(json_text(evaluation, __version__), end="")
        else:
            print(("" if options.plain else table(evaluation) + "\n") + fixed_lines(evaluation), end="")
        sys.stdout.flush()
        for failure in evaluation.failures:
            _say(str(failure))
        return exit_code(evaluation)
    except UsageError as problem:
        return _say(str(problem), _USAGE)
    except FileNotFoundError as problem:
        return _say(str(problem), _UNREADABLE)
    except KeyboardInterrupt:
        return _say("interrupted", _INTERRUPTED)
    except Exception as problem:  # last resort: one line, never a traceback
        return _say(f"internal error: {type(problem).__name__}: {problem}", _INTERNAL)


def _say(text: str, status: int = 0) -> int:
    print(f"gpu-profile: {printable_lines(text)}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
