"""A check: one question to a machine with a GPU, with the expected result, a time limit, and requirements.

A check is a function of a `Case`, to which it reports what it expected and measured. It runs in its own process, so it may crash,
hang or be killed: everything reported before is on disk. Skip and Unreached are the only exceptions with a meaning.

An expectation about times can fail for reasons that are not the recorder's: stand-ins have no times of a GPU, and a busy CPU delays
programs. There it decides nothing, so the check says "not reached" with the reason.
"""

import dataclasses
import json
import os
import time
import typing
from pathlib import Path

from . import processes


@dataclasses.dataclass(frozen=True)
class Check:
    name: str
    part: str
    expects: str
    run: typing.Callable
    limit_s: float
    needs: tuple


BUSY = 0.3  # of the time a task waits for a CPU: two compilers on two cores make it 0.7 to 1


class Skip(Exception):
    """The check cannot be made on this machine; the text is the reason."""


class Unreached(Exception):
    """The check has measured something, but not enough for a verdict; another run of the part goes on."""


class Checks:
    """The checks of one file, in the order in which they are written there."""

    def __init__(self, part):
        self.part, self.all = part, []

    def add(self, expects, limit_s=60, needs=("gpu",)):
        def keep(function):
            name = function.__name__.replace("_", "-")
            self.all.append(Check(name, self.part, expects, function, limit_s, tuple(needs)))
            return function

        return keep


class Case:
    """What a check is given: a folder for its evidence, the machine, and a place for its figures."""

    def __init__(self, folder, machine, limit_s):
        self.folder, self.machine = Path(folder), machine
        self.deadline = time.monotonic() + limit_s
        self.said = {"measured": [], "figures": {}, "failures": [], "undecided": [], "evidence": []}
        self.begun, self.waited_us = time.monotonic(), waited_for_cpu_us()
        self.tell()

    def left(self):
        """Seconds until the check is ended."""
        return self.deadline - time.monotonic()

    def scaled(self, count):
        """How much to do: all of it, or next to nothing when the checks themselves are tried (GPU_CHECKS_SMALL)."""
        return max(count // 100, 3) if self.machine.small else count

    def seconds(self, seconds, small=0.3):
        """How long to do it; see scaled()."""
        return min(seconds, small) if self.machine.small else seconds

    def measured(self, sentence, **figures):
        """What was found, in words; the figures are kept under their names, with the unit in the name."""
        self.said["measured"].append(sentence)
        self.said["figures"].update(figures)
        self.tell()

    def expect(self, holds, sentence, of_times=False):
        """An expectation: when it does not hold, the check fails with this sentence, and goes on. `of_times`: see above."""
        if not holds:
            reason = self.times_mean_nothing() if of_times else None
            self.said["undecided" if reason else "failures"].append(f"{sentence} ({reason})" if reason else sentence)
            self.tell()
        return holds

    def times_mean_nothing(self):
        """Why times measured by this check decide nothing, or None."""
        if self.machine.small:
            return "times are those of stand-ins, which says nothing about a GPU"
        now, elapsed_us = waited_for_cpu_us(), 1e6 * (time.monotonic() - self.begun)
        if None in (now, self.waited_us) or now - self.waited_us < BUSY * elapsed_us:
            return None
        return f"tasks waited for a CPU {100 * (now - self.waited_us) / elapsed_us:.0f} % of the time; run the part again when other programs have ended"

    def answer(self, yes, figures, must=False, of_times=False, **kept):
        """The answer to an experiment, in one line. `must`: a "no" is a fault of the recorder and fails the check; else it is knowledge."""
        said = f"{'yes' if yes else 'no'}, {figures}"
        self.measured(said, yes=bool(yes), **kept)
        self.expect(yes or not must, said, of_times)

    def evidence(self, path):
        """A file of the folder that belongs into the archive: a recording, an answer."""
        name = os.path.relpath(path, self.folder)
        if name not in self.said["evidence"]:
            self.said["evidence"].append(name)
            self.tell()
        return path

    def skip(self, reason):
        raise Skip(reason)

    def run(self, command, limit_s=None, env=None):
        """Runs a command to its end or its limit, a little before that of the check, and keeps what it said in log.txt."""
        limit_s = min(limit_s or self.left(), max(self.left() - 2, 1))
        done = processes.run([str(word) for word in command], limit_s, {**self.machine.environment(), **(env or {})}, self.folder)
        with open(self.folder / "log.txt", "a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(map(str, command))}\n# {done.how()}\n{done.out}{done.err}\n")
        return done

    def tell(self):
        """Everything said so far, whole, to where the runner reads it when this process is no more."""
        write_json(self.folder / "said.json", self.said)


def waited_for_cpu_us():
    """Microseconds since boot in which some task of the machine waited for a CPU; None where Linux does not count them (before 4.20)."""
    try:
        return int(Path("/proc/pressure/cpu").read_text(encoding="utf-8").split("total=")[1].split()[0])
    except (OSError, ValueError, IndexError):
        return None


def write_json(path, value):
    """The file is the old one or the new one, never a half."""
    path = Path(path)
    beside = path.with_name(path.name + ".new")
    beside.write_text(json.dumps(value, indent=1, default=str) + "\n", encoding="utf-8")
    os.replace(beside, path)


def read_json(path, otherwise=None):
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return otherwise
