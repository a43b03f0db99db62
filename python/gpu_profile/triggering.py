"""Triggers of a job that runs under ``gpu-profile record --standby -o DIR``: from another process, from the training loop,
or from a server's handler.

``trigger(DIR, seconds=5).wait(60)`` records five seconds of all ranks and returns the captures. Inside such a job DIR may be omitted.
Everything goes through files in DIR, by the program ``gpu-profile trigger``; nothing here talks to the recorded processes.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import Error
from .program import answer

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
        """Wait up to ``timeout`` seconds after the recording ends; return the captures that are there then.

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
    at: str | None = None,
    ranks: str | None = None,
) -> Trigger:
    """Ask for a recording of ``seconds`` (default: 5) or ``steps`` whole steps, and return at once.

    ``at`` and ``ranks`` are as on the command line: ``"+30s"``, ``"/10s"`` or a time, and ``"0,8-15"``. If several ranks of a job can
    call this, let one of them do it. Raises Error if nobody is in standby in the folder, or if a trigger is in progress.
    """
    options = {"--seconds": seconds, "--steps": steps, "--at": at, "--ranks": ranks}
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
