"""Bytes and FLOP of one call, for rates and their share of the device's peak: given, or counted in one additional call.

``bytes="count"`` adds up the arrays among arguments and result. Each must be read or written once, so the sum is a
lower bound and labelled "at least". ``flops="count"`` uses torch.utils.flop_counter, which knows matrix products,
convolutions and attention by their shapes. What cannot be counted is absent, with a note. Imports nothing that the
program has not imported.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, NamedTuple

from .bench_stream import leaves
from .errors import Error

__all__ = ["Counts", "count"]

_FORMATS = {
    "float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "int8": "int8",
    "float8_e4m3fn": "fp8", "float8_e5m2": "fp8", "float8_e4m3fnuz": "fp8", "float8_e5m2fnuz": "fp8",
}


class Counts(NamedTuple):
    """The figures of one call; ``*_from`` is the source of a figure, None if absent."""

    bytes: float | None = None
    bytes_from: str | None = None
    flops: float | None = None
    flops_from: str | None = None
    flops_as: str | None = None
    notes: tuple[str, ...] = ()


def count(bytes: float | str | None, flops: float | str | None, flops_as: str | None, arguments: object,
          call: Callable[[], object]) -> Counts:
    """Resolve the options of bench() to figures. Calls the function once if something must be counted."""
    notes: list[str] = []
    arrays = [leaf for leaf in leaves(arguments) if _is_array(leaf)]
    by_torch = None
    if "count" in (bytes, flops):
        result, by_torch = _called(call, flops == "count", notes)
        arrays += [leaf for leaf in leaves(result) if _is_array(leaf)]
        del result
    moved, moved_from = _figure("bytes", bytes), "given"
    if bytes == "count":
        moved, moved_from = float(sum(_size(array) for array in {id(array): array for array in arrays}.values())) or None, "at least"
        notes.append("bytes are a lower bound: the size of the arrays among arguments and result" if moved else
                     "bytes are unknown: no arrays among arguments and result")
    done, done_from = _figure("flops", flops), "given"
    if flops == "count":
        done, done_from = by_torch, "torch.utils.flop_counter"
    if done is None:
        flops_as = None
    elif flops_as is None:
        flops_as = _format_of(arrays)
    return Counts(moved, moved_from if moved else None, done, done_from if done else None, flops_as, tuple(notes))


def _figure(name: str, given: float | str | None) -> float | None:
    if isinstance(given, str) and given != "count":
        raise Error(2, f"invalid {name} '{given}': expected a number or 'count'")
    return None if isinstance(given, str) else given


def _called(call: Callable[[], object], flops: bool, notes: list[str]) -> tuple[object, float | None]:
    """Return the result of one call, and its FLOP by PyTorch's counter."""
    counter = _torch_counter() if flops else None
    if counter is None:
        if flops:
            notes.append("FLOP are unknown: counting needs an imported PyTorch with torch.utils.flop_counter")
        return call(), None
    with counter:
        result = call()
    found = float(counter.get_total_flops())
    if not found:
        notes.append("FLOP are unknown: torch.utils.flop_counter found no matrix products, convolutions or attention")
    return result, found or None


def _torch_counter() -> Any:
    if "torch" not in sys.modules:
        return None
    try:
        from torch.utils.flop_counter import FlopCounterMode  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    return FlopCounterMode(display=False)


def _is_array(leaf: object) -> bool:
    return hasattr(leaf, "dtype") and hasattr(leaf, "shape")


def _size(array: Any) -> int:
    size = getattr(array, "nbytes", None)
    return int(array.numel() * array.element_size() if size is None else size)


def _format_of(arrays: list[Any]) -> str | None:
    """The common number format of the floating-point arrays, otherwise of all arrays. PyTorch may multiply float32
    in tf32."""
    names = {str(array.dtype).split(".")[-1] for array in arrays}
    known = {_FORMATS[name] for name in names if name in _FORMATS}
    exact = known - {"int8"} or known
    (found,) = exact if len(exact) == 1 else (None,)
    torch: Any = sys.modules.get("torch")
    matmul = getattr(getattr(getattr(torch, "backends", None), "cuda", None), "matmul", None)
    return "tf32" if found == "fp32" and getattr(matmul, "allow_tf32", False) is True else found
