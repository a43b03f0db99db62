"""Selects the functions of a file to benchmark: the named function; otherwise all decorated functions, in file order;
otherwise `kernel`.

A sweep (@perf_report) is one benchmark per point. Its function must return a Measurement, because a bare figure has no
samples.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from ..measurement import Measurement
from ..sweep import Benchmark, Sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Selected", "selected"]

_DEFAULT = "kernel"


class Selected(NamedTuple):
    """One benchmark: a function to time, or a function that times itself and returns a Measurement."""

    name: str
    fn: Callable[..., Any]
    own: Callable[[], Any] | None = None  # a point of a sweep
    decorated: Any = None  # the Options of @benchmark


def selected(module: Any, function: str | None, path: str) -> list[Selected]:
    """Return the benchmarks of a file. Raises LookupError with a one-line message."""
    own = {name: value for name, value in vars(module).items() if _is_benchmark(value)}
    if function is None and own:
        return [one for name, value in own.items() for one in _of(name, value)]
    wanted = function or _DEFAULT
    found = module
    for part in wanted.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        there = [name for name, value in vars(module).items() if callable(value) and getattr(value, "__module__", None) == module.__name__]
        hint = f"; found {', '.join(there[:5])}; select one with {os.path.basename(path)}:{there[0]}" if there else ""
        raise LookupError(f"no function '{wanted}' in {os.path.basename(path)}{hint}")
    return _of(wanted, found)


def _is_benchmark(value: Any) -> bool:
    return isinstance(value, Sweep) or hasattr(value, "bench_options")


def _of(name: str, value: Any) -> list[Selected]:
    if isinstance(value, Sweep):
        return list(_points(value))
    options = getattr(value, "bench_options", None)
    return [Selected(name, value if options is None else value.__wrapped__, None, options)]


def _points(sweep: Sweep) -> Iterator[Selected]:
    benchmarks = [sweep.benchmarks] if isinstance(sweep.benchmarks, Benchmark) else sweep.benchmarks
    for one in benchmarks:
        for x in one.x_vals:
            for line, shown in zip(one.line_vals, one.line_names):
                at = one.x_of(x)
                name = f"{one.plot_name}[{', '.join(f'{key}={value}' for key, value in at.items())}, {one.line_arg}={shown}]"
                given = {**at, one.line_arg: line, **one.args}
                yield Selected(name, sweep.fn, lambda given=given: _measured(sweep.fn(**given)))  # type: ignore[misc]


def _measured(found: Any) -> Measurement:
    if not isinstance(found, Measurement):
        raise TypeError(f"a sweep function returned {type(found).__name__}, which has no samples; return the result of gpu_profile.bench(), "
                        "or print figures with run() of the sweep")
    return found
