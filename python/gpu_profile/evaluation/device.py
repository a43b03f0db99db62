"""Waiting for a device by the functions that a framework had before a module under test was imported."""

from __future__ import annotations

import sys
from typing import Any, Callable

__all__ = ["waiter"]


def waiter() -> Callable[[Any], None]:
    """A function that returns when all work of all streams is done; it is given what was returned."""
    waits: list[Callable[[], Any]] = []
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and cuda.is_available():
        waits.append(cuda.synchronize)
    cupy = sys.modules.get("cupy")
    if cupy is not None:
        waits.append(cupy.cuda.runtime.deviceSynchronize)
    block: Any = getattr(sys.modules.get("jax"), "block_until_ready", None)

    def wait(value: Any) -> None:
        for each in waits:
            each()
        if block is not None:
            block(value)

    return wait
