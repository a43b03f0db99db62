"""Chooses the clock and stream for timing a function, from its arguments and the loaded frameworks.

Imports nothing: a framework that the program has not imported is not in use. Objects are detected by their attributes.
A stream is a CUstream as an integer; stream objects are read by the attributes of their frameworks: ``__cuda_stream__``
(cuda.core's protocol), ``cuda_stream`` (PyTorch), ``ptr`` (CuPy), ``handle`` (Numba, cuda.core). JAX does not expose
its streams, so its functions are timed by the host's clock until their result is ready.
"""

from __future__ import annotations

import contextlib
import sys
from itertools import islice
from typing import Any, Callable, NamedTuple

from .arguments import unknown
from .errors import Error

__all__ = ["Place", "find_place", "handle_of", "leaves"]

_TIMERS = ("auto", "cuda", "host")
_DEPTH, _WIDTH = 8, 64  # limits of the search for arrays in containers, which may hold millions of numbers


class Place(NamedTuple):
    """The timer, device and stream for the library; ``inside`` is a context manager around the run."""

    timer: str
    device: int = 0
    stream: int = 0
    inside: Any = None
    waits: bool = False  # each call waits for its result
    notes: tuple[str, ...] = ()


def handle_of(stream: object) -> int:
    """Convert a stream to an integer. Raises Error for any other object."""
    given = stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        stream = protocol()[1] if callable(protocol) else protocol[1]
    else:
        for name in ("cuda_stream", "ptr", "handle"):
            if getattr(stream, name, None) is not None:
                stream = getattr(stream, name)
                break
    stream = getattr(stream, "value", stream)  # Numba's is a ctypes pointer, whose NULL has the value None
    if stream is None and given is not None:
        return 0
    try:
        return int(stream)  # type: ignore[call-overload, no-any-return]
    except (TypeError, ValueError):
        raise Error(2, f"invalid stream of type {type(given).__name__}: expected an integer or a stream of PyTorch, CuPy, Numba or cuda.core") from None


def find_place(timer: str, stream: object, graph: bool, arguments: object, probe: Callable[[], object]) -> Place:
    """Choose clock and stream. ``probe`` calls the function once if the arguments do not reveal its framework."""
    if timer not in _TIMERS:
        raise Error(2, unknown("timer", timer, _TIMERS))
    found = [*leaves(arguments)]
    if timer == "host":
        return Place("host", waits=_has_jax(found) or _module("jax") is not None, notes=_host_notes(found))
    if stream is not None:
        return Place(timer, _device_of(found), handle_of(stream))
    notes: tuple[str, ...] = ()
    if not _tells(found) and _is_undecided():
        found += leaves(probe())
        notes = ("called once before the warm-up to detect its framework",)
    place = _place_of(timer, graph, found)
    return place._replace(notes=(*notes, *place.notes))


def leaves(value: object, depth: int = _DEPTH) -> list[object]:
    """Return the first items of nested containers, or the value itself if it is not a container."""
    if depth == 0:
        return []
    held = value.values() if isinstance(value, dict) else value
    if isinstance(value, (list, tuple, dict)):
        return [leaf for one in islice(held, _WIDTH) for leaf in leaves(one, depth - 1)]  # type: ignore[call-overload]
    return [value]


def _place_of(timer: str, graph: bool, found: list[object]) -> Place:
    if _has_jax(found):
        if timer == "cuda":
            raise Error(2, "timer='cuda' cannot time JAX, which does not expose its streams; use timer='auto' or pass a stream")
        note = "timed by the host's clock: JAX does not expose its streams; each call waits until its result is ready"
        return Place("host", waits=True, notes=(note,))
    torch, cupy = _module("torch"), _module("cupy")
    if torch is not None and _torch_in_use(torch, found):
        return _framework_place(graph, int(torch.cuda.current_device()), torch.cuda.current_stream, torch.cuda.Stream, torch.cuda.stream)
    if cupy is not None and (_of(found, "cupy") or not _on_cpu(found)):
        cuda = cupy.cuda
        return _framework_place(graph, int(cuda.Device().id), cuda.get_current_stream, lambda: cuda.Stream(non_blocking=True), None)
    if timer == "cuda" or any(_module(name) is not None for name in ("numba.cuda", "cuda", "pycuda", "triton")):
        return Place(timer)
    return Place("host", notes=("timed by the host's clock: neither arguments nor result belong to a GPU framework; timer='cuda' times the device",))


# With `graph`, a non-default stream is created, because the default stream cannot be captured. The new stream does not
# wait for the default stream, which may still be computing the inputs, so this synchronises first.
def _framework_place(graph: bool, device: int, current: Callable[[], Any], make: Callable[[], Any], enter: Any) -> Place:
    stream = current()
    if graph and handle_of(stream) in (0, 1, 2):
        stream.synchronize()
        stream = make()
        return Place("cuda", device, handle_of(stream), enter(stream) if enter else stream)
    return Place("cuda", device, handle_of(stream))


# With timer='host', work that PyTorch and CuPy queue asynchronously is not included.
def _host_notes(found: list[object]) -> tuple[str, ...]:
    torch = _module("torch")
    if _of(found, "cupy") or (torch is not None and _torch_in_use(torch, found)):
        return ("the host's clock ends when the call returns, not when the device is done",)
    return ()


# Arguments reveal the framework if they contain its arrays.
def _tells(found: list[object]) -> bool:
    return _has_jax(found) or _of(found, "cupy") or _of(found, "torch")


# A loaded framework may be used by a function whose arguments do not reveal it.
def _is_undecided() -> bool:
    return any(_module(name) is not None for name in ("torch", "cupy", "jax"))


def _torch_in_use(torch: Any, found: list[object]) -> bool:
    on_device = [bool(leaf.is_cuda) for leaf in found if _is_from(leaf, "torch") and hasattr(leaf, "is_cuda")]
    with contextlib.suppress(Exception):  # builds without CUDA raise in several ways
        return any(on_device) or (not on_device and not _of(found, "cupy") and bool(torch.cuda.is_initialized()))
    return False


def _on_cpu(found: list[object]) -> bool:
    return any(_is_from(leaf, "torch") or _is_from(leaf, "numpy") for leaf in found)


def _device_of(found: list[object]) -> int:
    torch = _module("torch")
    if torch is not None and _torch_in_use(torch, found):
        return int(torch.cuda.current_device())
    cupy = _module("cupy")
    return int(cupy.cuda.Device().id) if cupy is not None and _of(found, "cupy") else 0


def _has_jax(found: list[object]) -> bool:
    return any(hasattr(leaf, "block_until_ready") for leaf in found)


def _of(found: list[object], framework: str) -> bool:
    return any(_is_from(leaf, framework) for leaf in found)


def _is_from(leaf: object, framework: str) -> bool:
    return any((one.__module__ or "").split(".")[0] == framework for one in type(leaf).__mro__ if isinstance(one.__module__, str))


def _module(name: str) -> Any:
    return sys.modules.get(name)
