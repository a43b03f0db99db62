"""Waits for a recording. A signal that ends `tune` ends the recording first, so that neither the recorded program nor a temporary file
is left behind: `subprocess.run` would kill `record` a quarter of a second after the signal. If `tune` is killed, the kernel ends `record`."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from typing import TYPE_CHECKING, Any

from .interruption import SIGNALS, interrupt

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["wait_for"]

_PR_SET_PDEATHSIG = 1  # of linux/prctl.h


def wait_for(words: Sequence[str]) -> int:
    """Run a command and return its exit status, negative for a signal. Raises KeyboardInterrupt after the command has ended, if this
    process received a signal during that time."""
    received: list[int] = []
    child: subprocess.Popen[bytes] | None = None

    def receive(number: int, _: Any) -> None:
        received.append(number)
        if child is not None and not (number == signal.SIGINT and _in_foreground()):  # a terminal sends it to the command, too
            child.send_signal(number)

    before = {number: signal.getsignal(number) for number in SIGNALS}
    prctl = ctypes.CDLL(None).prctl
    own = os.getpid()

    def end_with_parent() -> None:
        if before[signal.SIGTERM] is not signal.SIG_IGN:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)  # not receive(), which would lose it here
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
        if os.getppid() != own:
            os._exit(128 + signal.SIGTERM)

    try:
        for number in SIGNALS:
            if before[number] is not signal.SIG_IGN:
                signal.signal(number, receive)
        child = subprocess.Popen(words, preexec_fn=end_with_parent)
        if received:  # before the command existed
            child.send_signal(received[0])
        status = child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:
        interrupt()
    return status


def _in_foreground() -> bool:
    """Whether a terminal's interrupt reaches this process and its children."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
