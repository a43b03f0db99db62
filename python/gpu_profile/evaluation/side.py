"""One side as the evaluator sees it: a worker process, a socket to it, and what became of it.

`ask` is the only way to talk. Whatever goes wrong is a SideFailure: one sentence that names what happened while doing
what. Time is taken here, too: the worker's own clock is not the only one.
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


class SideFailure(Exception):
    """`side` is "baseline" or "optimized"."""

    def __init__(self, side: str, text: str) -> None:
        super().__init__(f"{side}: {text}")
        self.side = side


class Side:
    def __init__(self, name: str, setup: dict[str, Any], patience_s: float) -> None:
        self.name, self._patience_s, self._count = name, patience_s, 0
        self._token = secrets.token_hex(16)
        self._link, theirs = socket.socketpair()
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        command = [sys.executable, "-c", _START, package, str(theirs.fileno())]
        with theirs:  # what the module prints goes to standard error: standard output is the evaluation's
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=2, pass_fds=[theirs.fileno()])
        with contextlib.suppress(OSError):  # a worker that is gone is noticed by ask()
            send(self._link, "", {**setup, "key": self._token})
        self.outside_ns = self.waited_ns = 0

    def ask(self, do: str, blocks: list[bytes] | None = None, **fields: Any) -> tuple[dict[str, Any], list[bytes]]:
        """What the worker answers; `outside_ns` is how long that took by this process' clock, `waited_ns` how much of it the two
        processes were ready and waited for a processor (0: not known)."""
        self._count += 1
        deadline = time.monotonic() + self._patience_s
        try:
            self._link.settimeout(self._patience_s)
            waited, begun = self._waited_ns(), time.perf_counter_ns()
            send(self._link, self._token, {"do": do, "id": self._count, **fields}, blocks)
            answer, back = receive(self._link, self._token, deadline)
            self.outside_ns = time.perf_counter_ns() - begun
            self.waited_ns = self._waited_ns() - waited
        except TimeoutError:
            raise self._failure(do, f"gave no answer in {self._patience_s:g} s") from None
        except (EOFError, OSError):
            raise self._failure(do, self._end()) from None
        except Forged:
            raise self._failure(do, "sent a message that the evaluator's own code cannot have sent") from None
        if answer.get("id") != self._count:
            raise self._failure(do, "sent a message that the evaluator's own code cannot have sent")
        if "error" in answer:
            text = answer["error"]
            raise self._failure(do, f"ran out of memory: {text}" if answer.get("out_of_memory") else text)
        return answer, back

    def reset_peak(self) -> None:
        """Makes the system's record of the highest memory use begin anew (Linux: clear_refs, 5)."""
        with contextlib.suppress(OSError), open(f"/proc/{self._process.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def memory(self) -> tuple[int | None, int | None]:
        """(highest, present) resident bytes of the process, as the kernel counts them."""
        found: dict[str, int] = {}
        with contextlib.suppress(OSError), open(f"/proc/{self._process.pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name in ("VmHWM", "VmRSS"):
                    found[name] = int(value.split()[0]) * 1024
        return found.get("VmHWM"), found.get("VmRSS")

    def _waited_ns(self) -> int:
        """Time on the run queue so far, of the worker's main thread and this one (Linux: schedstat, second figure)."""
        waited = 0
        with contextlib.suppress(OSError, ValueError, IndexError):
            for process in (self._process.pid, os.getpid()):
                with open(f"/proc/{process}/schedstat", encoding="ascii") as file:
                    waited += int(file.read().split()[1])
        return waited

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
            return f"ended by itself with status {status}"
        name = signal.Signals(-status).name if -status in {s.value for s in signal.Signals} else f"signal {-status}"
        return f"was ended by {name}" + (", perhaps for lack of memory" if name == "SIGKILL" else "")
