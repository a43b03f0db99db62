"""Controls for a program running under ``gpu-profile record``: when to record, and where its iterations start.

``start()`` and ``stop()`` start and stop recording in this process (with ``--capture-range start-stop`` nothing is
recorded before the first ``start()``); ``step()`` marks the start of an iteration (``--capture-range iteration:A-B``).
Each returns whether the process is being recorded; outside ``record`` they do nothing and return False.

``trigger(DIR, seconds=5).wait(60)`` records five seconds of all ranks of a job that runs under ``record --standby -o DIR``, and returns
the captures. It may be called in another process, in the training loop, or in a server's handler; inside such a job DIR may be omitted.
Everything goes through files in DIR, by the program ``gpu-profile trigger``; the recorded processes are not talked to.
"""

from __future__ import annotations

import ctypes
import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from .errors import Error
from .program import answer

_LIBRARY = "libgpuprof_inject.so"


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL | None:
    if "GPUPROF_RECORD_DIR" not in os.environ:
        return None
    for name in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"):
        path = os.environ.get(name, "")
        if os.path.basename(path) == _LIBRARY:
            try:
                return ctypes.CDLL(path)
            except OSError:
                return None
    return None


def _call(name: str) -> bool:
    library = _library()
    return library is not None and bool(getattr(library, name)())


def start() -> bool:
    """Start recording in this process."""
    return _call("gpuprof_record_start")


def stop() -> bool:
    """Stop recording in this process; ``start()`` resumes it."""
    return _call("gpuprof_record_stop")


def step() -> bool:
    """Mark the start of the next iteration. The first one is number 1."""
    return _call("gpuprof_record_step")


def in_standby() -> bool:
    """Return whether this process runs under ``record --standby``, so that trigger() needs no folder."""
    return _FOLDER in os.environ


_FOLDER = "GPUPROF_STANDBY"  # set by the launcher for the command
_LOOK_S = 0.2


@dataclass(frozen=True)
class Trigger:
    """A request that has been written. ``folder`` is where its captures appear."""

    number: int
    folder: Path
    open_ns: int
    close_ns: int

    def processes(self) -> list[dict[str, Any]]:
        """Return what is known of the processes that take part: host, pid, rank, state, late_ns, file and others."""
        return [each for each in status(self.folder.parent) if each["trigger"] == self.number]

    def wait(self, timeout: float) -> list[Path]:
        """Wait up to ``timeout`` seconds after the recording ends; return the captures that exist then.

        Raises Error if there are none.
        """
        import time

        until = max(time.time(), self.close_ns / 1e9) + timeout
        while True:
            known = self.processes()
            settled = bool(known) and all(each["file"] or each["state"] in ("missed", "died", "no capture") for each in known)
            if (settled and time.time_ns() > self.open_ns + 10**9) or time.time() >= until:
                break
            time.sleep(_LOOK_S)
        files = sorted({Path(each["file"]) for each in known if each["file"]})
        if not files:
            raise Error(4, f"trigger {self.number} gave no capture within {timeout:g} s of its end")
        return files

    def stop(self) -> None:
        """End the recording now. Raises Error if it is not in progress."""
        answer("trigger", os.fspath(self.folder.parent), "--stop")


def trigger(
    folder: str | os.PathLike[str] | None = None,
    *,
    seconds: float | None = None,
    steps: int | None = None,
    last: float | None = None,
    at: str | None = None,
    ranks: str | None = None,
) -> Trigger:
    """Ask for a recording of ``seconds`` (default: 5) or ``steps`` whole steps, and return at once.

    Or for captures of the ``last`` seconds of a job recorded with ``--keep-last``. ``at`` and ``ranks`` are as on the command line: ``"+30s"``, ``"/10s"`` or a time, and ``"0,8-15"``. If several ranks of a job can
    call this, let one of them do it. Raises Error if nobody is in standby in the folder, or if a trigger is in progress.
    """
    options = {"--seconds": seconds, "--steps": steps, "--last": last, "--at": at, "--ranks": ranks}
    words = [word for name, value in options.items() if value is not None for word in (name, str(value))]
    place = _place(folder)
    said = json.loads(answer("trigger", place, "--format", "json", *words))
    return Trigger(said["trigger"], Path(place) / Path(said["folder"]).name, said["open_ns"], said["close_ns"])


def status(folder: str | os.PathLike[str] | None = None) -> list[dict[str, Any]]:
    """Return every process in standby in the folder, and those of the last triggers, as ``trigger --status`` shows them."""
    processes: list[dict[str, Any]] = json.loads(answer("trigger", _place(folder), "--status", "--format", "json"))["processes"]
    return processes


def _place(folder: str | os.PathLike[str] | None) -> str:
    place = os.environ.get(_FOLDER) if folder is None else os.fspath(folder)
    if not place:
        raise Error(2, "trigger needs the folder of record --standby -o DIR; it is known only inside such a job")
    return place
