"""Differences between two results. Runs in the baseline's process, on bytes received from the optimized side.

The tree of a result is walked here; accuracy.py judges its arrays. Text, integers and truth values must be equal, unless
the user gave a tolerance. A result that differs in structure, shape or dtype is a problem, whatever its values.
"""

from __future__ import annotations

import math
import re
import sys
from typing import Any

from .accuracy import Tolerance, judge

__all__ = ["array_of", "compare"]

Result = tuple[dict[str, Any], list[bytes]]
_FORMAT = re.compile(r"[<>|=][?biufc]\d{1,2}$|\|b1$")


def compare(wanted: Result, got: Result, reference: Result | None, tolerance: Tolerance) -> dict[str, Any]:
    """Return {"problem": message or None, "difference": largest, "beyond": largest beyond tolerance, "relative": largest
    relative error of an array, "errors": one row per array (precision.py), "constant": sentence or None, "nan" and
    "unwritten": True for these errors}."""
    found: dict[str, Any] = {"problem": None, "difference": 0.0, "beyond": 0.0, "relative": 0.0, "constant": None, "errors": []}
    _walk(wanted, got, reference, tolerance, found)
    return found


def _walk(wanted: Result, got: Result, reference: Result | None, tolerance: Tolerance, found: dict[str, Any]) -> None:
    a, b = wanted[0], got[0]
    if a["is"] != b["is"]:
        found["problem"] = f"outputs have a different structure: {_said(b)} instead of {_said(a)}"
    elif a["is"] in ("tuple", "list", "dict"):
        if len(a["of"]) != len(b["of"]) or a.get("keys") != b.get("keys"):
            found["problem"] = f"outputs have a different structure: {_said(b)} instead of {_said(a)}"
            return
        for index, (one, other) in enumerate(zip(a["of"], b["of"])):
            exact = (reference[0]["of"][index], reference[1]) if reference else None
            _walk((one, wanted[1]), (other, got[1]), exact, tolerance, found)
    elif a["is"] == "array":
        _arrays(wanted, got, reference, tolerance, found)
    elif a["is"] == "float":
        _numbers(float(a["value"]), float(b["value"]), tolerance, found)
    elif a.get("value") != b.get("value"):
        found["problem"] = f"outputs differ: {b['value'][:40]} instead of {a['value'][:40]}"


def _said(tree: dict[str, Any]) -> str:
    return f"{tree['is']} of {len(tree['of'])}" if "of" in tree else str(tree.get("type", tree["is"]))


def _numbers(one: float, other: float, tolerance: Tolerance, found: dict[str, Any]) -> None:
    """Compare two numbers of Python as float32: they usually come from an array's element."""
    gap = 0.0 if one == other or (one != one and other != other) else abs(one - other)
    rtol, atol = tolerance.of("float32", abs(one))
    found["difference"] = max(found["difference"], gap)
    if one and math.isfinite(gap / abs(one)):
        found["relative"] = max(found["relative"], gap / abs(one))
    if not gap <= atol + rtol * abs(one):
        found["beyond"] = max(found["beyond"], gap) if gap == gap else float("inf")


def _arrays(wanted: Result, got: Result, reference: Result | None, tolerance: Tolerance, found: dict[str, Any]) -> None:
    a, b = wanted[0], got[0]
    if a["shape"] != b["shape"]:
        found["problem"] = f"outputs have shape {tuple(b['shape'])} instead of {tuple(a['shape'])}"
        return
    if a["dtype"] != b["dtype"]:
        found["problem"] = f"outputs have dtype {b['dtype']} instead of {a['dtype']}"
        return
    numpy: Any = sys.modules["numpy"]
    one, other = array_of(numpy, wanted), array_of(numpy, got)
    if one is None or other is None:
        found["problem"] = f"outputs have dtype {b['dtype']}; this dtype cannot be compared"
        return
    with numpy.errstate(all="ignore"):
        judge(numpy, one, other, _exact(numpy, a, reference), str(a["dtype"]), tolerance, found)


def array_of(numpy: Any, result: Result) -> Any:
    """Return the array that a tree describes; None if its bytes do not fit."""
    tree, blocks = result
    if not _FORMAT.match(str(tree["format"])) or not 0 <= int(tree["block"]) < len(blocks):
        return None
    try:
        return numpy.frombuffer(blocks[int(tree["block"])], numpy.dtype(tree["format"])).reshape(tree["shape"])
    except (ValueError, TypeError):
        return None


def _exact(numpy: Any, wanted: dict[str, Any], reference: Result | None) -> Any:
    """Return the float64 result; None if it is no wider than the baseline's, as of a function that rounds its inputs."""
    if not reference or reference[0]["is"] != "array" or reference[0]["shape"] != wanted["shape"]:
        return None
    wide = reference[0]["dtype"] in ("float64", "complex128") and wanted["dtype"] not in ("float64", "complex128")
    return array_of(numpy, reference) if wide else None
