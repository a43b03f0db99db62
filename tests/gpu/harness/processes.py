"""Commands with a time limit that holds: when it is over, everything the command started is ended too.

What a process started is found by its parents and by its session (/proc), so that launchers and samplers, which lead process
groups of their own, do not stay behind on the GPU.
"""

import dataclasses
import os
import signal
import subprocess
import tempfile
import time


@dataclasses.dataclass
class Done:
    status: int  # negative: the signal that ended it; None: the time limit did
    out: str
    err: str
    seconds: float

    @property
    def ok(self):
        return self.status == 0

    def how(self):
        if self.status is None:
            return f"did not end in {self.seconds:.0f} s"
        if self.status < 0:
            return f"ended by signal {-self.status} after {self.seconds:.1f} s"
        return f"exit status {self.status} after {self.seconds:.1f} s"

    def why(self):
        """How it ended, and its last line on standard error."""
        lines = [line for line in self.err.strip().splitlines() if line.strip()]
        return self.how() + (f": {lines[-1].strip()[:300]}" if lines else "")


def run(command, limit_s, environment=None, folder=None):
    begun = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, cwd=folder)
        except OSError as problem:
            return Done(127, "", f"{command[0]}: {problem.strerror}\n", 0.0)
        try:
            status = process.wait(max(limit_s, 0.1))
        except subprocess.TimeoutExpired:
            end(process.pid)
            process.wait()
            status = None
        return Done(status, _text(out), _text(err), time.monotonic() - begun)


def end(pid, timeout_s=1.0, gone=False):
    """Asks a process and all that it started to end, and ends them by force after a moment; `gone`: only what it started."""
    spared = {pid} if gone else set()
    _signal(family(pid) - spared, signal.SIGTERM)
    until = time.monotonic() + timeout_s
    while time.monotonic() < until and any(_lives(each) for each in family(pid) - spared):
        time.sleep(0.02)
    _signal(family(pid) - spared, signal.SIGKILL)


def family(pid):
    """The process, its descendants, and the processes of its session when it leads one."""
    parents, sessions = {}, {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = _stat(name)
            if fields:
                parents[int(name)], sessions[int(name)] = int(fields[1]), int(fields[3])
    found, again = {pid}, True
    found |= {each for each, session in sessions.items() if session == pid}
    while again:
        more = {each for each, parent in parents.items() if parent in found} - found
        found |= more
        again = bool(more)
    return found


def _stat(pid):
    """State, parent, group and session; the name before them may hold anything."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return None


def _lives(pid):
    fields = _stat(pid)
    return fields is not None and fields[0] not in "ZX"


def _signal(pids, number):
    for pid in sorted(pids):
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            pass


def _text(file, most=1 << 20):
    """What a command said; of very much only the beginning and the end."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size <= 2 * most:
        return file.read().decode("utf-8", "replace")
    first = file.read(most)
    file.seek(size - most)
    return first.decode("utf-8", "replace") + f"\n... {size - 2 * most} bytes left out ...\n" + file.read().decode("utf-8", "replace")
