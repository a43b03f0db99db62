"""Inputs and outputs of a function under test, identified by type without importing their library.

`Arrays` is created before a module under test is imported and keeps the functions it needs from every library loaded by
then: NumPy, PyTorch, CuPy, JAX. A value counts as an array only if its type is exactly the library's. A subclass or an
unknown type may compute on access, so it is described by its type's name and not accessed.

A value is described by a tree, {"is": "array", "dtype", "shape", "format", "block"} and the like, and blocks of bytes.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, NamedTuple

__all__ = ["Arrays", "Family"]

_MAX_SIZE = 100_000  # maximum elements of a described list or tuple


class Family(NamedTuple):
    """The arrays of one library. `host` converts to a NumPy array; `bounds` is (address, bytes) of the memory, None
    if unknown."""

    name: str
    types: tuple[type, ...]
    host: Callable[[Any], Any]
    dtype: Callable[[Any], str]
    bounds: Callable[[Any], tuple[int, int] | None]
    empty_like: Callable[[Any], Any] | None


class Arrays:
    def __init__(self) -> None:
        makers = {"numpy": _numpy, "torch": _torch, "cupy": _cupy, "jax": _jax}
        loaded = [make(sys.modules[name]) for name, make in makers.items() if name in sys.modules]
        self.families = [family for family in loaded if family is not None]
        self._generic: Any = getattr(sys.modules.get("numpy"), "generic", ())
        self._contiguous: Any = getattr(sys.modules.get("numpy"), "ascontiguousarray", None)

    def family(self, value: Any) -> Family | None:
        return next((f for f in self.families if type(value) in f.types), None)

    def leaves(self, value: Any) -> list[Any]:
        """Return the arrays in a value, in order."""
        if type(value) in (tuple, list):
            return [leaf for part in value for leaf in self.leaves(part)]
        if type(value) is dict:
            return [leaf for part in value.values() for leaf in self.leaves(part)]
        return [value] if self.family(value) else []

    def describe(self, value: Any, blocks: list[bytes]) -> dict[str, Any]:
        family = self.family(value)
        kind = type(value)
        if family:
            host = family.host(value)
            blocks.append(self._contiguous(host).tobytes())
            tree = {"is": "array", "dtype": family.dtype(value), "shape": list(host.shape)}
            return {**tree, "format": host.dtype.str, "block": len(blocks) - 1}
        if kind in (bool, int, float, str) or value is None:
            return {"is": kind.__name__, "value": repr(value)}
        if self._generic and kind.__module__ == "numpy" and isinstance(value, self._generic):
            blocks.append(value.tobytes())
            tree = {"is": "array", "dtype": value.dtype.name, "shape": []}
            return {**tree, "format": value.dtype.str, "block": len(blocks) - 1}
        if kind in (tuple, list) and len(value) <= _MAX_SIZE:
            return {"is": kind.__name__, "of": [self.describe(part, blocks) for part in value]}
        if kind is dict and all(type(key) is str for key in value):
            return {"is": "dict", "keys": list(value), "of": [self.describe(part, blocks) for part in value.values()]}
        return {"is": "unknown", "type": f"{kind.__module__}.{kind.__qualname__}"}

    def overlap(self, some: list[Any], others: list[Any]) -> bool:
        """Return whether any two arrays share memory."""
        theirs = [bounds for bounds in map(self._bounds, others) if bounds]
        for start, size in filter(None, map(self._bounds, some)):
            if any(start < there + length and there < start + size for there, length in theirs):
                return True
        return False

    def size(self, value: Any) -> int:
        return sum(bounds[1] for bounds in map(self._bounds, self.leaves(value)) if bounds)

    def _bounds(self, value: Any) -> tuple[int, int] | None:
        family = self.family(value)
        return family.bounds(value) if family else None


def _numpy(numpy: Any) -> Family | None:
    if not hasattr(numpy, "ndarray"):
        return None
    tools = getattr(getattr(numpy, "lib", None), "array_utils", None)
    byte_bounds = getattr(tools, "byte_bounds", None) or getattr(numpy, "byte_bounds", None)

    def bounds(value: Any) -> tuple[int, int] | None:
        if byte_bounds is None or not value.nbytes:
            return None
        low, high = byte_bounds(value)
        return low, high - low

    return Family("numpy", (numpy.ndarray,), lambda v: v, lambda v: str(v.dtype.name), bounds, numpy.empty_like)


def _torch(torch: Any) -> Family | None:
    if not hasattr(torch, "Tensor"):
        return None
    halves = tuple(filter(None, (getattr(torch, "bfloat16", None),)))

    def host(value: Any) -> Any:
        plain = value.detach().cpu()  # NumPy has no bfloat16; float32 represents all its values
        return (plain.float() if plain.dtype in halves else plain).contiguous().numpy()

    def bounds(value: Any) -> tuple[int, int] | None:
        size = value.numel() * value.element_size()
        return (value.data_ptr(), size) if size else None

    types = tuple(filter(None, (torch.Tensor, getattr(getattr(torch, "nn", None), "Parameter", None))))
    return Family("torch", types, host, lambda v: str(v.dtype).replace("torch.", ""), bounds, getattr(torch, "empty_like", None))


def _cupy(cupy: Any) -> Family | None:
    def bounds(value: Any) -> tuple[int, int] | None:
        return (value.data.ptr, value.nbytes) if value.nbytes else None

    return Family("cupy", (cupy.ndarray,), cupy.asnumpy, lambda v: str(v.dtype.name), bounds, cupy.empty_like)


def _jax(jax: Any) -> Family | None:
    kind = type(jax.numpy.zeros(1))
    host = sys.modules["numpy"].asarray
    return Family("jax", (kind,), host, lambda v: str(v.dtype.name), lambda _: None, None)
