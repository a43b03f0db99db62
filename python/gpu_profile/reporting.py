"""Hands results to whoever asked for them: text on standard error, or a function. Nothing that goes wrong here reaches
the monitored program: a report that fails becomes a warning.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Callable, Union

if TYPE_CHECKING:
    from .repeats import MultiRunResult
    from .summary import GpuSummary

__all__ = ["Report", "deliver", "warn"]

Report = Union[bool, None, Callable[[Any], object]]


def deliver(report: Report, results: Iterable[GpuSummary | MultiRunResult]) -> None:
    """Prints the results (True), calls `report` with each (a function), or does nothing (False, None)."""
    if not report:
        return
    for result in results:
        try:
            if callable(report):
                report(result)
            elif sys.stderr is not None:
                print(result.format(), file=sys.stderr)
        except Exception as problem:
            warn(f"the report failed: {type(problem).__name__}: {problem}")


def warn(message: str) -> None:
    """A warning that never becomes an exception, whatever the filters say: the monitored program goes on."""
    try:
        warnings.warn(f"gpu_profile: {message}", RuntimeWarning, stacklevel=3)
    except RuntimeWarning:
        pass
