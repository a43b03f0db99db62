"""One side as seen by the evaluator: a worker process, a socket to it, and its end.

`ask` is the only way to communicate. Every failure is a SideFailure: a one-line message with the failure and the
current activity. The evaluator also measures time here, because the worker's clock alone cannot be trusted.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from typing import Any

from .wire import Forged, receive, send

__all__ = ["Side", "SideFailure"]

_START = "import sys; sys.path[0] = sys.argv.pop(1); from gpu_profile.evaluation.worker import main; main()"
_DOING = {
    "inputs": "importing INPUTS.py", "load": "importing it", "cases": "preparing inputs", "prepare": "making inputs",
    "check": "checking it", "time": "timing it", "call": "measuring memory", "memory": "measuring memory", "compare": "comparing outputs",
}


def _waited_ns(process: int) -> int:
    """Return the time in ns on the run queue so far, of the main thread of a process (Linux: schedstat, second figure; 0: unknown)."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{process}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[1])
    return 0


class SideFailure(Exception):
    """A failure of one side; `side` is "baseline" or "optimized"."""

    def __init__(self, side: str, text: str) -> None:
        super().__init__(f"{side}: {text}")
        self.side = side


class Side:
    def __init__(self, name: str, setup: dict[str, Any], timeout_s: float) -> None:
        self.name, self._timeout_s, self._count = name, timeout_s, 0
        self._token = secrets.token_hex(16)
        self._link, theirs = socket.socketpair()
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        command = [sys.executable, "-c", _START, package, str(theirs.fileno())]
        with theirs:  # output of the module goes to standard error; standard output is reserved for the evaluation
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=2, pass_fds=[theirs.fileno()])
        with contextlib.suppress(OSError):  # ask() detects a worker that has ended
            send(self._link, "", {**setup, "key": self._token})
        self.outside_ns = self.waited_ns = 0

    def ask(self, do: str, blocks: list[bytes] | None = None, **fields: Any) -> tuple[dict[str, Any], list[bytes]]:
        """Return the worker's answer. `outside_ns` is its duration by this process's clock, `waited_ns` the part of it
        in which the worker, or after it this process, was ready and waited for a CPU (0: unknown)."""
        self._count += 1
        deadline = time.monotonic() + self._timeout_s
        try:
            self._link.settimeout(self._timeout_s)
            waited, begun = _waited_ns(self._process.pid), time.perf_counter_ns()
            send(self._link, self._token, {"do": do, "id": self._count, **fields}, blocks)
            waited += _waited_ns(os.getpid())  # the worker may take this CPU as soon as it is asked, and work while this process waits
            answer, back = receive(self._link, self._token, deadline)
            self.outside_ns = time.perf_counter_ns() - begun
            self.waited_ns = _waited_ns(self._process.pid) + _waited_ns(os.getpid()) - waited
        except TimeoutError:
            raise self._failure(do, f"gave no answer within {self._timeout_s:g} s") from None
        except (EOFError, OSError):
            raise self._failure(do, self._end()) from None
        except Forged:
            raise self._failure(do, "sent a message that the evaluator's worker code cannot produce") from None
        if answer.get("id") != self._count:
            raise self._failure(do, "sent a message that the evaluator's worker code cannot produce")
        if "error" in answer:
            text = answer["error"]
            raise self._failure(do, f"ran out of memory: {text}" if answer.get("out_of_memory") else text)
        return answer, back

    def reset_peak(self) -> None:
        """Reset the system's peak memory use of the process (Linux: clear_refs, 5)."""
        with contextlib.suppress(OSError), open(f"/proc/{self._process.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def memory(self) -> tuple[int | None, int | None]:
        """Return (peak, current) resident bytes of the process, as counted by the kernel."""
        found: dict[str, int] = {}
        with contextlib.suppress(OSError), open(f"/proc/{self._process.pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name in ("VmHWM", "VmRSS"):
                    found[name] = int(value.split()[0]) * 1024
        return found.get("VmHWM"), found.get("VmRSS")

    def close(self) -> None:
        self._link.close()
        self._process.kill()
        self._process.wait()

    def _failure(self, do: str, text: str) -> SideFailure:
        self.close()
        return SideFailure(self.name, f"{text}, while {_DOING.get(do, 'answering')}")

    def _end(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        status = self._process.poll()
        if status is None:
            return "closed its connection"
        if status >= 0:
            return f"exited with status {status}"
        name = signal.Signals(-status).name if -status in {s.value for s in signal.Signals} else f"signal {-status}"
        return f"was killed by {name}" + (", possibly out of memory" if name == "SIGKILL" else "")
