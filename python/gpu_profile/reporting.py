"""Delivers results: as text on standard error, or to a function. A failing report becomes a warning and never reaches
the monitored program.
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
    """Print the results (True), pass each to `report` (a callable), or do nothing (False, None)."""
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
    """Issue a warning that never becomes an exception, regardless of filters, so that the monitored program
    continues."""
    try:
        warnings.warn(f"gpu_profile: {message}", RuntimeWarning, stacklevel=3)
    except RuntimeWarning:
        pass
