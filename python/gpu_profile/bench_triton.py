"""do_bench(): the arguments and results of triton.testing.do_bench, timed by bench().

It deliberately differs from Triton's: times are device times without launch gaps, samples taken at throttled clocks are
dropped, and the warm-up continues until times settle, even beyond ``warmup``. Quantiles are interpolated linearly, as
in Triton.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any, Callable

from .arguments import unknown
from .benchmarking import Options, measure
from .errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["do_bench"]

_MODES = ("min", "max", "mean", "median", "all")
_LIMIT_S = 3600.0  # timeout of a run whose only limit is its duration
_WARMUP_S = 3.0  # maximum warm-up while waiting for times to settle


def do_bench(
    fn: Callable[[], object],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Iterable[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Benchmark ``fn`` and return milliseconds per call: one figure, or a list for several ``quantiles`` or
    ``return_mode="all"``.

    ``warmup`` (default 25) and ``rep`` (default 100): duration of warm-up and sampling in ms. ``grad_to_none``: tensors
    whose ``grad`` is set to None before every call. ``return_mode``: "mean" (default), "median", "min", "max" or "all".
    Raises Error.
    """
    if return_mode not in _MODES:
        raise Error(2, unknown("return_mode", return_mode, _MODES))
    for quantile in quantiles or ():
        if not 0 <= quantile <= 1:
            raise Error(2, f"invalid quantile {quantile}: expected 0 to 1")
    tensors = list(grad_to_none) if grad_to_none is not None else None

    def forget() -> None:
        for tensor in tensors or ():
            tensor.grad = None

    options = Options(
        min_time_s=rep / 1e3, timeout_s=max(_LIMIT_S, rep / 1e3), min_warmup_s=warmup / 1e3,
        max_warmup_s=max(_WARMUP_S, warmup / 1e3), min_samples=1, stop="time", prepare=None if tensors is None else forget,
    )
    times = [ns / 1e6 for ns in measure(fn, (), {}, options).samples]
    if not times:
        raise Error(4, "no samples were taken")
    if quantiles is not None:
        found = [_quantile(sorted(times), quantile) for quantile in quantiles]
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return times
    if return_mode in ("min", "max"):
        return min(times) if return_mode == "min" else max(times)
    return statistics.fmean(times) if return_mode == "mean" else statistics.median(times)


def _quantile(ordered: list[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below, above = math.floor(place), math.ceil(place)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
