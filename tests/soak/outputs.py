#!/usr/bin/env python3
"""Writes every kind of output over an existing file while the disk fails or the program is killed, and checks the file.

    tests/soak/outputs.py BINARY [--kills 500] [--seed 1] [--only KIND...]

Each kind of output has three trials:

  fault   tests/fakes/diskfault makes one disk call fail with ENOSPC, EIO or a short write, or kills the program before or
          after the call; repeated for every call of the run
  kill    SIGKILL, SIGTERM, SIGINT or SIGHUP at a random moment
  full    a file system of 64 KiB (tmpfs; if it cannot be mounted, a limit on the file size), which is too small

Afterwards the file must be byte for byte the old one, or complete and new. It must be the new one if and only if the program
reports success, unless the program was killed. Orderly signals and errors must leave no other file. Prints a table by kind.
tests/python/project/test_outputs.py runs a few trials.
"""

import argparse
import collections
import contextlib
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))

from injected import chunk_kinds  # noqa: E402

TRACE = ROOT / "tests" / "fixtures" / "kineto" / "triton.json.gz"
BURSTY = ROOT / "tests" / "fixtures" / "nvml" / "bursty.csv"
OLD = b"what was there before\n"
ERRORS = ("ENOSPC", "EIO", "short", "kill", "after")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
TIME_LIMIT_S = 60

# NAME: the command, with OUT for the file.
KINDS = {
    "report": ["report", TRACE, "kernels", "-o", "OUT"],
    "report json": ["report", TRACE, "--format", "json", "--limit", "0", "-o", "OUT"],
    "compare": ["compare", TRACE, TRACE, "-o", "OUT"],
    "query": ["query", TRACE, "select * from kernel", "--format", "csv", "-o", "OUT"],
    "schema": ["schema", "-o", "OUT"],
    **{f"export {name}": ["export", name, TRACE, "-o", "OUT"]
       for name in ("capture", "chrome", "perfetto", "nsys", "csv", "folded", "html")},
    "record": ["record", "--sample", "0", "--quiet", "-o", "OUT", "--", "true"],
    "profile json": ["--backend", f"replay:{BURSTY}@max", "--output", "OUT", "--", "true"],
    "profile capture": ["--backend", f"replay:{BURSTY}@max", "--capture", "OUT", "--", "true"],
    "bench save": ["bench", "--save", "OUT", "--force", "--min-samples", "2", "--max-samples", "2", "--min-time", "0",
                   "--backend", "none", "--", "true"],
    "history": ["history", "add", TRACE, "--label", "soak", "--db", "OUT"],
}
APPENDS = {"history"}  # grows the old file instead of replacing it: SQLite's transactions keep it whole
LIKE_THE_COMMAND = {"record", "profile json", "profile capture"}  # the exit status is that of the command, whatever happens to the file
KEEPS_PARTS = {"record": ".parts-", "profile capture": ".part-"}  # what a disk that failed leaves on purpose


END = 3  # core/format/chunk.h


class Trouble(AssertionError):
    pass


class Kind:
    """One kind of output, written over an old file in a folder of its own."""

    def __init__(self, binary, name, folder):
        self.binary, self.name, self.folder = binary, name, Path(folder)
        self.out = self.folder / ("out.json" if name == "bench save" else "out")
        self.command = [binary, *(str(self.out) if word == "OUT" else str(word) for word in KINDS[name])]
        self.old = OLD if name not in APPENDS else self._history()

    def _history(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(self.command, check=True, capture_output=True)
        return self.out.read_bytes()

    def prepare(self):
        for left in self.folder.iterdir() if self.folder.exists() else ():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.out.write_bytes(self.old)

    def environment(self, fault=None, calls=None):
        environment = {**os.environ, "GPUPROF_DISKFAULT_IN": str(self.folder.resolve())}
        environment["LD_PRELOAD"] = f"{os.environ.get('LD_PRELOAD', '')} {self.binary.parent / 'fakes' / 'libdiskfault.so'}".strip()
        if fault:
            environment["GPUPROF_DISKFAULT"] = fault
        if calls:
            environment["GPUPROF_DISKFAULT_CALLS"] = str(calls)
        return environment

    def run(self, **environment):
        return subprocess.run(self.command, env=self.environment(**environment) if environment else None, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=TIME_LIMIT_S, check=False)

    def calls(self, scratch):
        """The names of the disk calls of a run in which nothing fails."""
        self.prepare()
        done = self.run(calls=scratch)
        if done.returncode != 0 or self.state() != "new":
            raise Trouble(f"{self.name}: status {done.returncode}, {self.state()}: {done.stderr.decode()[-300:]}")
        names = scratch.read_text().split()
        scratch.unlink()
        return names

    def state(self):
        """old, new (and whole) or a sentence."""
        if not self.out.exists():
            return "the file is gone"
        if self.name in APPENDS:
            return self._history_state()
        text = self.out.read_bytes()
        if text == self.old:
            return "old"
        return "new" if self.whole(text) else f"a stump of {len(text)} bytes"

    def _history_state(self):
        database = sqlite3.connect(self.out)
        try:
            (sound,), (runs,) = database.execute("pragma integrity_check").fetchone(), database.execute("select count(*) from run").fetchone()
            (values,) = database.execute("select count(distinct run) from value").fetchone()
        except sqlite3.Error as problem:
            return f"sqlite: {problem}"
        finally:
            database.close()
        if sound != "ok" or values != runs or runs not in (1, 2):
            return f"integrity {sound}, {runs} runs, {values} with values"
        return "new" if runs == 2 else "old"

    def whole(self, text):
        """Compared with a run that succeeded, without what differs from run to run."""
        if self.name in ("record", "profile capture"):
            kinds, torn = chunk_kinds(text)
            return torn == 0 and kinds[-1:] == [END]
        if self.name in ("bench save", "profile json"):
            return text.endswith(b"}\n")
        if not hasattr(self, "reference"):
            self.reference = text  # of calls(), in which nothing failed
        return text == self.reference

    def beside(self):
        return sorted(path.name for path in self.folder.iterdir() if path != self.out)

    def check(self, what, done, errors_are_said=True, killed=False):
        state = self.state()
        said = done.stderr.decode(errors="replace")[-300:]
        if state not in ("old", "new"):
            raise Trouble(f"{self.name}: {what}: {state}; {said}")
        if killed:
            return state
        kept = KEEPS_PARTS.get(self.name)
        left = [name for name in self.beside() if not (kept and kept in name and name in said and state == "old")]
        if left:
            raise Trouble(f"{self.name}: {what}: left {left}; {said}")
        if errors_are_said and (state == "old") and not said.strip():
            raise Trouble(f"{self.name}: {what}: the old file and not a word")
        if self.name not in LIKE_THE_COMMAND and (done.returncode == 0) != (state == "new") and "not synchronized" not in said:
            raise Trouble(f"{self.name}: {what}: status {done.returncode} with the {state} file; {said}")
        return state

    def fault(self, number, call, what):
        """One disk call that fails; None when that cannot be: what is unlinked is not written."""
        if (what == "short") != (call == "write") and what == "short" or (call == "unlink" and what in ("ENOSPC", "EIO")):
            return None
        self.prepare()
        done = self.run(fault=f"{number} {what}")
        killed = what in ("kill", "after")
        state = self.check(f"{what} at call {number} ({call})", done, killed=killed)
        if what == "short" and state != "new":
            raise Trouble(f"{self.name}: a short write at call {number} lost the file: {done.stderr.decode()[-300:]}")
        return state

    def kill(self, chance, takes_s):
        """A signal at a random moment of a run."""
        self.prepare()
        how = chance.choice(SIGNALS)
        process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(chance.uniform(0, 1.1 * takes_s))
        process.send_signal(how)
        _, said = process.communicate(timeout=TIME_LIMIT_S)
        done = subprocess.CompletedProcess(self.command, process.returncode, b"", said)
        killed = how == signal.SIGKILL or process.returncode == -how
        state = self.check(how.name, done, errors_are_said=False, killed=killed)
        if how != signal.SIGKILL and self.name not in APPENDS and self.beside():
            raise Trouble(f"{self.name}: {how.name} left {self.beside()}")
        return state

    def took(self):
        begun = time.monotonic()
        self.prepare()
        self.run()
        return time.monotonic() - begun


@contextlib.contextmanager
def small_disk(folder, size="64k"):
    """A tmpfs of that size on `folder`, where one may be mounted; else a limit of the size of files. Yields which."""
    folder.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, check=False).returncode == 0
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        if not mounted:
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, before[1]))
        yield "tmpfs" if mounted else "limit"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        if mounted:
            subprocess.run(["umount", "-l", folder], check=True)


def full(binary, name, folder):
    """The kind's output on a disk that has no room: None when it fitted."""
    kind = Kind(binary, name, folder / "files")
    with small_disk(folder) as how:
        (folder / "files").mkdir(exist_ok=True)
        if name in APPENDS:
            kind.old = kind._history()
        kind.prepare()
        filler = folder / "filler"
        if how == "tmpfs":
            with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
        state = kind.check(f"full disk ({how})", kind.run())
        return how if state == "old" else None


def main():
    parser = argparse.ArgumentParser(description="Writes outputs while the disk fails or the program is killed.")
    parser.add_argument("binary", type=Path, help="gpu-profile, with fakes/ next to it")
    parser.add_argument("--kills", type=int, default=500, help="random kills in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=sorted(KINDS), default=list(KINDS))
    options = parser.parse_args()
    binary, chance, troubles, totals = options.binary.resolve(), random.Random(options.seed), [], collections.Counter()
    print(f"{'output':16} {'calls':>6} {'faults':>7} {'kills':>6} {'old':>6} {'new':>6}  full disk")
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.only:
            folder = Path(scratch).resolve() / name.replace(" ", "-")
            kind, seen = Kind(binary, name, folder), collections.Counter()

            def trial(what, run):
                try:
                    state = run()
                except Trouble as trouble:
                    troubles.append(str(trouble))
                    print(trouble, flush=True)
                    return None
                if state:
                    seen[what] += 1
                    seen[state] += 1
                return state

            calls = kind.calls(Path(scratch) / "calls")
            for number, call in enumerate(calls, 1):
                for what in ERRORS:
                    trial("faults", lambda: kind.fault(number, call, what))
            takes = kind.took()
            for _ in range(options.kills // len(options.only)):
                trial("kills", lambda: kind.kill(chance, takes))
            how = trial("full", lambda: full(binary, name, folder.with_suffix(".small")))
            print(f"{name:16} {len(calls):6} {seen['faults']:7} {seen['kills']:6} {seen['old']:6} {seen['new']:6}  {how or 'fits'}", flush=True)
            totals += seen
    print(f"{totals['faults']} faults, {totals['kills']} kills, {totals['full']} full disks: {len(troubles)} errors")
    return len(troubles) > 0


if __name__ == "__main__":
    sys.exit(main())
