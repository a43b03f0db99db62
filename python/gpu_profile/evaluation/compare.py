"""Differences between two results. Runs in the baseline's process, on bytes received from the optimized side.

An element is beyond tolerance if |optimized - baseline| > atol + rtol |baseline|; NaN equals NaN, and an infinity
equals only itself. An element that agrees with a float64 run of the baseline is not counted, because there the baseline
is the imprecise side.
"""

from __future__ import annotations

import re
import sys
from typing import Any

__all__ = ["compare"]

Result = tuple[dict[str, Any], list[bytes]]
_FORMAT = re.compile(r"[<>|=][?biufc]\d{1,2}$|\|b1$")
_POISON = 0x7F


def compare(wanted: Result, got: Result, reference: Result | None, rtol: float, atol: float) -> dict[str, Any]:
    """Return {"problem": message or None, "difference": largest, "nan" and "unwritten": True for these errors, ...}."""
    found: dict[str, Any] = {"problem": None, "difference": 0.0, "beyond": 0.0, "reference": None}
    _walk(wanted, got, reference, rtol, atol, found)
    return found


def _walk(wanted: Result, got: Result, reference: Result | None, rtol: float, atol: float, found: dict[str, Any]) -> None:
    a, b = wanted[0], got[0]
    if a["is"] != b["is"]:
        found["problem"] = f"outputs have a different structure: {_said(b)} instead of {_said(a)}"
    elif a["is"] in ("tuple", "list", "dict"):
        if len(a["of"]) != len(b["of"]) or a.get("keys") != b.get("keys"):
            found["problem"] = f"outputs have a different structure: {_said(b)} instead of {_said(a)}"
            return
        for index, (one, other) in enumerate(zip(a["of"], b["of"])):
            exact = (reference[0]["of"][index], reference[1]) if reference else None
            _walk((one, wanted[1]), (other, got[1]), exact, rtol, atol, found)
    elif a["is"] == "array":
        _arrays(wanted, got, reference, rtol, atol, found)
    elif a["is"] == "float":
        one, other = float(a["value"]), float(b["value"])
        gap = 0.0 if one == other or (one != one and other != other) else abs(one - other)
        _count(found, gap, not gap <= atol + rtol * abs(one))
    elif a.get("value") != b.get("value"):
        found["problem"] = f"outputs differ: {b['value'][:40]} instead of {a['value'][:40]}"


def _said(tree: dict[str, Any]) -> str:
    return f"{tree['is']} of {len(tree['of'])}" if "of" in tree else str(tree.get("type", tree["is"]))


def _count(found: dict[str, Any], gap: float, beyond: bool) -> None:
    found["difference"] = max(found["difference"], gap)
    if beyond:
        found["beyond"] = max(found["beyond"], gap) if gap == gap else float("inf")


def _arrays(wanted: Result, got: Result, reference: Result | None, rtol: float, atol: float, found: dict[str, Any]) -> None:
    a, b = wanted[0], got[0]
    if a["shape"] != b["shape"]:
        found["problem"] = f"outputs have shape {tuple(b['shape'])} instead of {tuple(a['shape'])}"
        return
    if a["dtype"] != b["dtype"]:
        found["problem"] = f"outputs have dtype {b['dtype']} instead of {a['dtype']}"
        return
    numpy: Any = sys.modules["numpy"]
    one, other = _array(numpy, wanted), _array(numpy, got)
    if one is None or other is None:
        found["problem"] = f"outputs have dtype {b['dtype']}; this dtype cannot be compared"
        return
    with numpy.errstate(all="ignore"):
        _elements(numpy, one, other, _exact(numpy, reference), rtol, atol, found)
    if found["beyond"] and other.dtype.kind in "iufc":
        raw = numpy.frombuffer(got[1][b["block"]], "u1").reshape(-1, other.dtype.itemsize)
        if bool(((raw == _POISON).all(axis=1) & (one != other)).any()):
            found["unwritten"] = True


def _array(numpy: Any, result: Result) -> Any:
    tree, blocks = result
    if not _FORMAT.match(str(tree["format"])) or not 0 <= int(tree["block"]) < len(blocks):
        return None
    try:
        flat = numpy.frombuffer(blocks[int(tree["block"])], numpy.dtype(tree["format"]))
    except (ValueError, TypeError):
        return None
    return flat if flat.size == numpy.prod(tree["shape"], dtype=object) else None


def _exact(numpy: Any, reference: Result | None) -> Any:
    return _array(numpy, reference) if reference and reference[0]["is"] == "array" else None


def _elements(numpy: Any, one: Any, other: Any, exact: Any, rtol: float, atol: float, found: dict[str, Any]) -> None:
    wide = "c16" if one.dtype.kind == "c" else "f8"
    first, second = one.astype(wide), other.astype(wide)
    if bool((numpy.isnan(second) & ~numpy.isnan(first)).any()):
        found["nan"] = True
    same = (first == second) | (numpy.isnan(first) & numpy.isnan(second))
    gap = numpy.where(same, 0.0, numpy.abs(first - second))
    beyond = ~same & ~(gap <= atol + rtol * numpy.abs(first))
    if exact is not None and exact.shape == second.shape:
        truth = exact.astype(wide)
        error, own = numpy.abs(second - truth), numpy.abs(first - truth)
        beyond &= ~(error <= atol + rtol * numpy.abs(truth))
        if error.size:
            figures = {"optimized": float(error.max()), "baseline": float(own.max())}
            before = found["reference"] or figures
            found["reference"] = {name: max(value, before[name]) for name, value in figures.items()}
    if gap.size:
        _count(found, float(numpy.nanmax(gap)) if not numpy.isnan(gap).all() else float("inf"), False)
    if beyond.any():
        worst = gap[beyond]
        _count(found, float("inf") if numpy.isnan(worst).any() else float(worst.max()), True)
