"""Waiting for a device, with framework functions obtained before a module under test is imported."""

from __future__ import annotations

import sys
from typing import Any, Callable

__all__ = ["waiter"]


def waiter() -> Callable[[Any], None]:
    """Return a function that waits for all work on all streams; its argument is the result of the call."""
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
