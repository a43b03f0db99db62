"""`python -m gpu_profile.bench_command`, started by `gpu-profile bench FILE.py`."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from typing import Any

from ..benchmarking import Options, measure
from ..declared import options_of
from ..errors import Error
from ..measurement import Measurement
from ..sanitize import printable_lines
from ..user_file import load, missing, said, user_frames
from .call_arguments import arguments_of, family_of
from .bench_options import UsageError, given_options, parse
from .selection import Selected, selected

__all__ = ["main"]

_THRESHOLD, _USAGE, _UNREADABLE, _INTERRUPTED = 1, 2, 3, 130
_CONDITIONS = ("sm_clock_mhz", "sm_clock_min_mhz", "sm_clock_max_mhz", "mem_clock_mhz", "power_w", "temp_c", "throttle")


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks, write the document, report failures, and return the exit code."""
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
        os.set_inheritable(options.result_fd, False)
        os.dup2(2, 1)  # output of the file must not mix with the result
        return _run(options)
    except UsageError as problem:
        return _say(str(problem), _USAGE)
    except Error as problem:  # the library declares the options and is missing
        return _say(problem.message, problem.code or _UNREADABLE)
    except KeyboardInterrupt:
        return _say("interrupted", _INTERRUPTED)


def _run(options: argparse.Namespace) -> int:
    if not os.path.isfile(options.file):
        return _say(f"cannot read {options.file}: {missing(options.file)}", _UNREADABLE)
    status = 0
    found = []
    try:
        sys.argv[:] = [options.file]
        inputs = None
        if options.inputs is not None:
            inputs = getattr(load(options.inputs), "inputs", None)
            if not callable(inputs):
                raise LookupError(f"no function inputs(seed) in '{os.path.basename(options.inputs)}'")
        benchmarks = selected(load(options.file), options.function, options.file)
    except LookupError as problem:
        return _say(said(problem) if user_frames(problem) else str(problem.args[0]), _UNREADABLE)
    except (UsageError, KeyboardInterrupt):
        raise
    except BaseException as problem:  # includes SystemExit raised by a script
        return _say(f"{os.path.basename(options.file)}: {said(problem)}, while importing it", _UNREADABLE)
    for one in benchmarks:
        try:
            found.append(_benched(one, options, inputs))
        except (UsageError, KeyboardInterrupt):
            raise
        except Error as problem:
            limit = type(problem).__name__ == "MemoryLimitError"
            status = max(status, _say(f"{one.name}: {problem.message}", _THRESHOLD if limit else problem.code or _UNREADABLE))
        except BaseException as problem:
            status = max(status, _say(f"{one.name}: {said(problem)}", _UNREADABLE))
    _write(options.result_fd, found)
    return status


def _benched(one: Selected, options: argparse.Namespace, inputs: Any) -> tuple[Measurement, Options | None]:
    if one.own is not None:
        return dataclasses.replace(one.own(), name=one.name), None
    given = arguments_of(one.fn, options.args, inputs, family_of(options.file))
    chosen = _bench_options(one, options)
    return measure(one.fn, given, {}, chosen), chosen


def _bench_options(one: Selected, options: argparse.Namespace) -> Options:
    """Return the options of @benchmark, overridden by those of the command line."""
    given = given_options(options)
    if options.max_memory_mb is not None:
        given["max_memory_mb"] = options.max_memory_mb
    if options.memory:
        given["memory"] = True
    basis = one.decorated or Options()
    chosen = basis._replace(**given, name=basis.name or one.name)
    return chosen._replace(max_warmup_s=max(chosen.max_warmup_s, chosen.min_warmup_s))


def _write(result_fd: int, found: list[tuple[Measurement, Options | None]]) -> None:
    document = {"document": "bench", "schema": 1, "benchmarks": [_entry(*one) for one in found]}
    with os.fdopen(result_fd, "w", encoding="utf-8") as file:
        json.dump(document, file)


def _entry(found: Measurement, chosen: Options | None) -> dict[str, Any]:
    """Return the members that measure/bench_document.cc expects."""
    values = found.to_dict(samples=True)
    memory = values.pop("memory")
    conditions = {name: values.pop(name) for name in _CONDITIONS}
    conditions["readings"] = 0 if conditions["throttle"] is None else 1
    return {"measurement": {**values, "conditions": conditions}, "settings": chosen and _rules(chosen), "memory": memory}


def _rules(chosen: Options) -> dict[str, Any]:
    values = {option.field: getattr(chosen, option.name) for option in options_of("bench") if option.stopping}
    return {field: round(value * 1e9) if field.endswith("_ns") else value for field, value in values.items()}


def _say(text: str, status: int) -> int:
    print(f"gpu-profile: {printable_lines(text)}", file=sys.stderr, flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
