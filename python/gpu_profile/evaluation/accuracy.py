"""How far two arrays are apart, by the scale of their values and the precision of their type.

An element is beyond tolerance if |optimized - baseline| > atol + rtol |baseline|. Without --atol, the absolute part is a
fraction of the scale: the root mean square of the element's row, so that small outputs are held to their own size. An
element that is as close to a float64 run of the baseline as the baseline itself is not counted.

Two results are wrong whatever the tolerance: constant ones where the baseline's vary, and ones with nothing in common
with the baseline's. `errors` are the sums from which precision.py compares both sides with float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Tolerance", "epsilon_of", "judge"]

_EPSILON = {"float64": 2.0**-52, "complex128": 2.0**-52, "float16": 2.0**-10, "bfloat16": 2.0**-7}
_WIDE_RTOL = 1e-8  # of float64: float32 arithmetic is off by 6e-8, reordered float64 by 1e-13
_RTOL = 1e-3  # of float32; of shorter types, four units in the last place if that is more
_ATOL_SHARE = 0.1  # of rtol, times the scale; one unit in the last place if that is more
_MIN_ROW = 64  # shorter rows have no scale of their own
_WEAK_ROW = 1e-3  # a row of rounding errors has the scale of the array times this
_OWN_ERRORS = 8  # an error of 8 rms of the baseline's own is not beyond chance among 1e9 elements
_UNRELATED = 0.5  # relative error; independent values of equal scale have 1.4, zeros have 1
_VARIES_ULP, _VARIES_SHARE = 32, 0.25  # a range below is rounding, as of the sums of a softmax
_POISON = 0x7F


class Tolerance(NamedTuple):
    """--rtol and --atol; None: by type and scale."""

    rtol: float | None = None
    atol: float | None = None

    def of(self, dtype: str, scale: Any) -> tuple[float, Any]:
        """Return rtol, and atol in the unit of the scale."""
        ulp = epsilon_of(dtype)
        rtol = self.rtol if self.rtol is not None else _WIDE_RTOL if ulp < 1e-10 else max(_RTOL, 4 * ulp)
        return rtol, self.atol if self.atol is not None else max(_ATOL_SHARE * rtol, ulp) * scale


def epsilon_of(dtype: str) -> float:
    return _EPSILON.get(dtype, 2.0**-23)


def judge(numpy: Any, one: Any, other: Any, exact: Any, dtype: str, tolerance: Tolerance, found: dict[str, Any]) -> None:
    """Add to `found` (compare.py) what sets `other` apart from `one`; `exact` is the float64 result or None."""
    if one.dtype.kind not in "fc":
        _judge_exact(numpy, one, other, tolerance, found)
        return
    wide = "c16" if one.dtype.kind == "c" else "f8"
    first, second = one.astype(wide), other.astype(wide)
    same = (first == second) | (numpy.isnan(first) & numpy.isnan(second))
    gap = numpy.where(same, 0.0, numpy.abs(first - second))
    rtol, atol = tolerance.of(dtype, _scale(numpy, first))
    beyond = ~same & ~(gap <= atol + rtol * numpy.abs(first))
    better, own = False, 0.0
    if exact is not None:
        truth = exact.astype(wide)
        error, base = numpy.abs(second - truth), numpy.abs(first - truth)
        beyond &= ~(error <= numpy.maximum(atol + rtol * numpy.abs(truth), _OWN_ERRORS * _scale(numpy, base)))
        better, own = _add_errors(numpy, error, base, numpy.abs(truth), dtype, found)
    relative = _relative(numpy, gap, first)
    found["relative"] = max(found["relative"], relative)
    _add(numpy, gap, beyond | (relative > _UNRELATED and relative > max(rtol, 4 * own)), found)
    if bool((numpy.isnan(second) & ~numpy.isnan(first)).any()):
        found["nan"] = True
    found["constant"] = found["constant"] or (None if better else _constant(numpy, first if exact is None else truth, second, dtype))
    _find_unwritten(numpy, same, other, found)


def _judge_exact(numpy: Any, one: Any, other: Any, tolerance: Tolerance, found: dict[str, Any]) -> None:
    first, second = one.astype("f8"), other.astype("f8")
    gap = numpy.where(one == other, 0.0, numpy.maximum(numpy.abs(first - second), 1.0))  # 1.0: too large for float64
    within = gap <= (tolerance.atol or 0) + (tolerance.rtol or 0) * numpy.abs(first)
    found["relative"] = max(found["relative"], _relative(numpy, gap, first))
    _add(numpy, gap, ~within, found)
    found["constant"] = found["constant"] or _constant(numpy, first, second, "float64")
    _find_unwritten(numpy, one == other, other, found)


def _add(numpy: Any, gap: Any, beyond: Any, found: dict[str, Any]) -> None:
    if gap.size:
        found["difference"] = max(found["difference"], float(numpy.nanmax(gap)) if not numpy.isnan(gap).all() else float("inf"))
    if beyond.any():
        worst = gap[beyond]
        found["beyond"] = max(found["beyond"], float("inf") if numpy.isnan(worst).any() else float(worst.max()))


def _find_unwritten(numpy: Any, right: Any, other: Any, found: dict[str, Any]) -> None:
    if not found["beyond"] or other.dtype.kind not in "iufc":
        return
    raw = numpy.frombuffer(other.tobytes(), "u1").reshape(-1, other.dtype.itemsize)
    if bool(((raw == _POISON).all(axis=1) & ~right.reshape(-1)).any()):
        found["unwritten"] = True


def _rms(numpy: Any, magnitude: Any) -> Any:
    """Return the root mean square along the last axis, of finite values, without overflow."""
    finite = numpy.where(numpy.isfinite(magnitude), magnitude, 0.0)
    top = finite.max(axis=-1, keepdims=True, initial=0.0)
    return top * numpy.sqrt(numpy.square(finite / numpy.where(top == 0, 1.0, top)).mean(axis=-1, keepdims=True))


def _scale(numpy: Any, values: Any) -> Any:
    """Return the scale of each element, in a shape that broadcasts to the array's."""
    magnitude = numpy.abs(values)
    if not magnitude.size:
        return 0.0
    whole = float(_rms(numpy, magnitude.reshape(-1))[0])
    if magnitude.ndim < 2 or magnitude.shape[-1] < _MIN_ROW:
        return whole
    return numpy.maximum(_rms(numpy, magnitude), _WEAK_ROW * whole)


def _relative(numpy: Any, gap: Any, first: Any) -> float:
    """Return rms of the difference / rms of the baseline's; 0 if that is 0 or the difference is not finite."""
    scale = float(_rms(numpy, numpy.abs(first).reshape(-1))[0]) if gap.size else 0.0
    return float(_rms(numpy, gap.reshape(-1))[0]) / scale if scale else 0.0


def _add_errors(numpy: Any, error: Any, base: Any, truth: Any, dtype: str, found: dict[str, Any]) -> tuple[bool, float]:
    """Add the mean squares of both sides' errors, in units of the scale. Return whether the optimized side's is the smaller
    one, and the baseline's relative error."""
    scale = float(_rms(numpy, truth.reshape(-1))[0]) if truth.size else 0.0
    if not scale:
        return False, 0.0
    both = numpy.isfinite(error) & numpy.isfinite(base)
    own, theirs = (float(_rms(numpy, numpy.where(both, each, 0.0).reshape(-1))[0]) / scale for each in (error, base))
    found["errors"].append([own * own, theirs * theirs, int(truth.size), epsilon_of(dtype)])
    return own < theirs, theirs


def _constant(numpy: Any, wanted: Any, got: Any, dtype: str) -> str | None:
    if got.size < 2 or got.dtype.kind == "c":
        return None
    finite = wanted[numpy.isfinite(wanted)]
    if not finite.size or not bool((got.reshape(-1)[0] == got).all()):
        return None
    spread, top = float(finite.max() - finite.min()), float(numpy.abs(finite).max())
    if not spread > min(_VARIES_ULP * epsilon_of(dtype), _VARIES_SHARE) * top:
        return None
    return f"outputs are constant ({float(got.reshape(-1)[0]):.4g}) where the baseline's vary"
