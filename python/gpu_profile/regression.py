"""One test that is judged by earlier runs (pytest_plugin.py): measures or takes a recording, asks `gpu-profile history check`, and
adds the run to the history if it passed.

Steps are timed on the host's clock. If the test has used CUDA through PyTorch, each step ends with its synchronisation, and the
allocator's peak is kept, too.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, Callable

from . import program
from .errors import Error

__all__ = ["CONDITIONS", "Regression"]

CONDITIONS = ("step_p50>5%", "peak_memory>5%")
_BASELINE = 5  # runs after which the variation is known well enough
_REGRESSION = 1


class Regression:
    """What the fixture `gpu_regression` is."""

    def __init__(self, history: str, label: str, conditions: Sequence[str], machine: str | None, add: str, folder: str, say: Callable[[str], object]) -> None:
        self.history = history
        self.label = label
        self.conditions = tuple(conditions) or CONDITIONS
        self.machine = machine
        self._add = add
        self._folder = folder
        self._say = say
        self._recordings = self._judged = 0
        self._timed = False  # the recording being judged holds only times of steps, in the form of torch.profiler's

    def steps(self, count: int = 30, warmup: int = 5, sync_fn: Callable[[], object] | None = None) -> Iterator[int]:
        """Yield 0 to `count` - 1 after `warmup` times -1, time each turn of the loop, and judge at its end. A loop that is left
        early is not judged. ``sync_fn`` waits for the device (default: torch.cuda.synchronize, if CUDA is in use)."""
        if count < 2 or warmup < 0:
            raise ValueError(f"steps(count, warmup): expected at least 2 and 0, got {count} and {warmup}")
        times: list[tuple[float, float]] = []
        with self._alone():
            for _ in range(warmup):
                yield -1
            _wait(sync_fn)
            _reset_peak()
            for number in range(count):
                begun = time.perf_counter()
                yield number
                _wait(sync_fn)
                times.append((begun, time.perf_counter()))
        path = self._new_path("json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(_trace(times), file)
        self._timed = True
        try:
            self.check(path)
        finally:
            self._timed = False

    def record(self, command: Sequence[str], *options: str) -> None:
        """Run a command under `gpu-profile record` with these options, and judge the recording."""
        path = self._new_path("gpuprof")
        with self._alone():
            done = subprocess.run([program.binary(), "record", *options, "-o", path, "--", *command], check=False)
        if done.returncode != 0:
            raise Error(done.returncode, f"recording failed with exit code {done.returncode}: {' '.join(command)}")
        self.check(path)

    def check(self, recording: str | os.PathLike[str]) -> dict[str, Any]:
        """Judge a recording of any tool and return the report of `history check`. Fails the test on a regression. The second
        recording of a test has a history of its own."""
        import pytest

        path = os.fspath(recording)
        self._judged += 1
        label = self.label if self._judged == 1 else f"{self.label} #{self._judged}"
        conditions = [word for each in self.conditions for word in ("--fail-on", each)]
        done = self._run("check", path, label, "--format", "json", *conditions)
        document: dict[str, Any] = json.loads(done.stdout)
        lead = [self._said(line) for line in document["lead"]]
        notes = [self._said(line.removeprefix("gpu-profile: ")) for line in done.stderr.decode("utf-8", "replace").splitlines()]
        if done.returncode == _REGRESSION:
            place = f"history {self.history}, label '{label}'"
            advice = "if the change is intended: another label in the marker begins anew, or give the condition a higher limit"
            self._say(f"regression: {lead[0]}")
            pytest.fail("\n".join([f"performance regression: {lead[0]}", *(f"  {line}" for line in (*lead[1:], *notes)), f"  {place}", f"  {advice}"]), pytrace=False)
        earlier = _earlier(document)
        text = "; ".join([f"{lead[0]}, {earlier} earlier run{'s' * (earlier != 1)}", *notes])
        if self._add == "always" or (self._add == "baseline" and earlier < _BASELINE):
            self._run("add", path, label)
            text += "; added to the history"
        self._say(text)
        return document

    def _run(self, action: str, path: str, label: str, *more: str) -> subprocess.CompletedProcess[bytes]:
        machine = [] if self.machine is None else ["--machine", self.machine]
        if action == "check":
            more = (*more, "--new-label")  # the first run of a test
        words = [program.binary(), "history", action, path, "--label", label, "--db", self.history, *machine, *more]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode not in (0, _REGRESSION):
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise Error(done.returncode, said[-1].removeprefix("gpu-profile: ") if said else f"history {action} failed with exit code {done.returncode}")
        return done

    def _said(self, line: str) -> str:
        return line.replace("torch.profiler", "host timing") if self._timed else line

    def _new_path(self, ending: str) -> str:
        self._recordings += 1
        return os.path.join(self._folder, f"gpu-profile-{self._recordings}.{ending}")

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Only one worker of pytest-xdist measures at a time."""
        if "PYTEST_XDIST_WORKER" not in os.environ:
            yield
            return
        import fcntl

        with open(f"{self.history}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _earlier(document: dict[str, Any]) -> int:
    """The number of comparable runs in the history. A single one has a value and no number of samples."""
    (table,) = (each for each in document["tables"] if each["name"] == "metrics")
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row)) for row in table["rows"]]
    return max((row["base_samples"] or int(any(row[name] is not None for name in ("base_ns", "base_bytes"))) for row in rows), default=0)


def _cuda() -> Any:
    """torch.cuda, if this process has used it."""
    torch = sys.modules.get("torch")
    return torch.cuda if torch is not None and torch.cuda.is_initialized() else None


def _wait(sync_fn: Callable[[], object] | None) -> None:
    if sync_fn is not None:
        sync_fn()
    elif (cuda := _cuda()) is not None:
        cuda.synchronize()


def _reset_peak() -> None:
    if (cuda := _cuda()) is not None:
        cuda.reset_peak_memory_stats()


def _trace(times: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """The steps as a trace of torch.profiler, with the current device and the peak of its allocator."""
    zero = times[0][0]
    process = os.getpid()

    def us(moment: float) -> float:
        return round((moment - zero) * 1e6, 3)

    common = {"pid": process, "tid": process}
    events: list[dict[str, Any]] = [
        {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", **common, "ts": us(begin), "dur": round((end - begin) * 1e6, 3)}
        for number, (begin, end) in enumerate(times)
    ]
    devices = []
    if (cuda := _cuda()) is not None:
        device = cuda.current_device()
        found = cuda.get_device_properties(device)
        devices.append({"id": device, "name": found.name, "numSms": found.multi_processor_count, "totalGlobalMem": found.total_memory})
        peak = cuda.max_memory_allocated()
        events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", **common, "ts": us(times[-1][0]),
                       "args": {"Total Allocated": peak, "Bytes": 0, "Addr": 0, "Device Type": 1, "Device Id": device}})
    return {"schemaVersion": 1, "deviceProperties": devices, "traceEvents": events}
