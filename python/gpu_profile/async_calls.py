"""Blocking calls from coroutines, in a thread of the event loop's executor."""

from __future__ import annotations

import asyncio
from typing import Callable, TypeVar

__all__ = ["in_thread"]

T = TypeVar("T")


async def in_thread(work: Callable[[], T], undo: Callable[[], object] | None = None) -> T:
    """Return work(). If the task is cancelled during it, `work` ends first, because a thread cannot be interrupted, and is
    undone."""
    loop = asyncio.get_running_loop()
    done = loop.run_in_executor(None, work)
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        while not done.done():
            try:
                await asyncio.wait([done])
            except asyncio.CancelledError:  # cancelled again
                continue
        if undo is not None and done.exception() is None:
            undo()
        raise
