"""Signals that end `tune`. The first one raises KeyboardInterrupt, and further ones do not disturb what cleans up. From the moment in
which a step is saved, none has an effect: the step is done, and says so."""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SIGNALS", "ignore_signals", "interrupt", "interruptible"]

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let signals interrupt the block, except those that are ignored already, as under nohup."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, interrupt)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def interrupt(*_: Any) -> NoReturn:
    ignore_signals()
    raise KeyboardInterrupt


def ignore_signals() -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
