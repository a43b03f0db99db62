#!/usr/bin/env python3
"""Runs every command that reads a folder or a file on folders as somebody else could send them, and checks that nothing happened but an answer.

    tests/soak/received.py BINARY [--rounds 2000] [--first 0] [--seed 1] [--only TEXT] [--keep]

Each round makes a folder (received_folders.py), puts one or two hostile entries in the place of what it should have, and runs one command on it, as
root also as another user. The command must end within 75 s (20 s of CPU time), below 1 GiB of memory, with a documented exit status and at most
some lines of error without control characters. What it may not do: start a program that lies in the folder or that the folder names, open or change a file outside it,
change the folder except for what the command is documented to write, and leave anything in the temporary folder. `--only` selects rounds by kind, entry and command.
Prints what went wrong with the number of the round, which `--first N --rounds 1` repeats, and counts by kind.
tests/python/project/test_received.py runs some of them.
"""

import argparse
import collections
import contextlib
import ctypes
import fnmatch
import hashlib
import os
import random
import resource
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import received_commands  # noqa: E402
import received_folders as folders  # noqa: E402

OWN = 64001  # the user who received the folder, if root runs this
MOST_SECONDS, MOST_CPU_SECONDS, MOST_BYTES, MOST_LINES = 75, 20, 1 << 30, 6  # a pipe is waited for during 30 s, git during 60 s
MOST_BYTES_OF_LARGE = 5 << 29  # the default of --memory-gib, and the program
BUSY = 3  # times as long, for the clock, on a busy machine
NEEDS_ROOT = ("device", "block", "another user")


class Watch:
    """Tells which of some files are opened or changed, by inotify."""

    OPEN, CHANGE = 0x20, 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800

    def __init__(self, paths):
        libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.paths = {libc.inotify_add_watch(self.descriptor, os.fsencode(path), self.OPEN | self.CHANGE): path for path in paths}

    def events(self):
        """Names of the files, with "opened" or "changed"."""
        found = set()
        while select.select([self.descriptor], [], [], 0)[0]:
            data = os.read(self.descriptor, 1 << 16)
            while data:
                watch, mask, _, length = struct.unpack_from("iIII", data)
                name = os.fsdecode(data[16:16 + length].rstrip(b"\0"))
                if watch in self.paths and mask & (self.OPEN | self.CHANGE):
                    found.add((os.path.basename(self.paths[watch]) + (f"/{name}" if name else ""), "changed" if mask & self.CHANGE else "opened"))
                data = data[16 + length:]
        return found

    def close(self):
        os.close(self.descriptor)


def manifest(folder):
    """{path: what tells that it changed} of everything in a folder."""
    found = {}
    for at, names, files in os.walk(os.fsencode(folder)):
        for name in (*names, *files):
            path = os.path.join(at, name)
            about = os.lstat(path)
            content = ""
            if stat.S_ISLNK(about.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(about.st_mode):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read(4 << 20)).digest()
            size = about.st_size if stat.S_ISREG(about.st_mode) else 0
            found[os.fsdecode(os.path.relpath(path, os.fsencode(folder)))] = (about.st_mode, about.st_uid, about.st_gid, size, content)
    return found


def changes(before, after, allowed=()):
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path) and not any(fnmatch.fnmatchcase(path, pattern) for pattern in allowed):
            yield f"{path!r} was {'made' if path not in before else 'removed' if path not in after else 'changed'}"


class Place:
    """The folders of one round: the received one, others that are none of its business, and what tells of them."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.received, self.canary, self.out = self.folder / "received", self.folder / "canary", self.folder / "out"
        for name in ("canary/folder", "out", "home", "tmp"):
            (self.folder / name).mkdir(parents=True)

    def __truediv__(self, name):
        return self.folder / name

    def fill(self, templates, kind):
        shutil.copytree(templates.of(kind), self.received, symlinks=True)
        shutil.copy(folders.FIXTURES / "kineto/overlap.json.gz", self.canary / "recording.json.gz")
        shutil.copy(templates.of("history") / folders.HISTORY, self.canary / "history.sqlite")
        shutil.copy(self.canary / "recording.json.gz", self.canary / "folder" / "rank00000.json.gz")
        (self.canary / "text").write_text("a secret text\n")
        (self.canary / "secret.py").write_text("a secret line\n" * 50)

    def give_to(self, user):
        for at, names, files in os.walk(self.folder):
            for name in (*names, *files, ""):
                path = os.path.join(at, name) if name else at
                os.chown(path, user, user, follow_symlinks=False)


class Round:
    """`text` says what it is before it is made."""

    def __init__(self, soak, number):
        self.soak, self.number = soak, number
        self.chance = random.Random(f"{soak.seed}/{number}")
        self.kind = self.chance.choice(folders.KINDS)
        self.command = self.chance.choice([each for each in received_commands.COMMANDS if self.kind in each.kinds])
        self.entries = [self.chance.choice([name for name in folders.ENTRIES if soak.root or not name.startswith(NEEDS_ROOT)]) for _ in range(self.chance.choice((1, 1, 2)))]
        self.user = OWN if soak.root and self.chance.random() < 0.5 and (soak.others_python or not self.command.python) else None
        self.said = []

    @property
    def large(self):
        """Reading takes as long as the file is large."""
        return "sparse, 1 TiB" in self.entries

    @property
    def text(self):
        return f"{self.kind}, {self.command.name}, {' + '.join(self.entries)}{'' if self.user is None else ', as another user'}"

    def make(self, place):
        place.fill(self.soak.templates, self.kind)
        if self.kind == "investigation" and self.chance.random() < 0.6:
            self.said.append(folders.spoil_repository(place.received, place, self.chance))
        if self.user is not None:
            place.give_to(self.user)
        names = [path for pattern in self.command.places.get(self.kind, received_commands.PLACES[self.kind]) for path in sorted(place.received.glob(pattern))]
        hostile = []
        for entry in self.entries:
            path = self.chance.choice(names)
            if path.is_symlink() or not (path.is_file() or path.is_dir()) or path.is_file() and path.stat().st_size > 1 << 30:
                continue  # the entry before has been there
            folders.ENTRIES[entry](path, place, self.chance)
            self.said.append(f"{entry}: {path.relative_to(place.received)}")
            hostile.append(path)
            if self.user is not None and os.path.lexists(path) and not entry.startswith(("another", "hard")):
                os.chown(path, self.user, self.user, follow_symlinks=False)
        if self.chance.random() < 0.5 and place.received.is_dir():
            folders.write_programs(place.received, place / "ran")
        return hostile

    def run(self, folder):
        """What is wrong."""
        place = Place(folder)
        hostile = self.make(place)
        words = self.command.words_for(place, self.kind, hostile, self.chance)
        outside = manifest(place.canary)
        received = manifest(place.received)
        watch = Watch([place.canary, place.canary / "folder", *(place.canary / name for name in folders.OUTSIDE), place.canary / "folder" / "rank00000.json.gz"])
        try:
            wrong = list(self.check(place, words))
            events = watch.events()
        finally:
            watch.close()
        linked = [name for name, _ in events if not name.startswith("canary")] and any(entry in ("hard link",) for entry in self.entries)
        wrong += [f"{name} was {what}" for name, what in sorted(events) if (what == "changed" or not (self.command.follows or linked)) and not self.harmless(name, what)]
        wrong += [f"outside: {each}" for each in changes(outside, manifest(place.canary))]
        wrong += [f"received: {each}" for each in changes(received, manifest(place.received), self.command.writes)]
        if (place / "ran").exists():
            wrong.append(f"ran {(place / 'ran').read_text()[:300]!r}")
        left = sorted(os.listdir(place / "tmp"))
        wrong += [f"left in the temporary folder: {left}"] if left else []
        return [f"{each}\n    {' '.join(map(ascii, words))}\n    {'; '.join(map(ascii, self.said))}" for each in wrong]

    def harmless(self, name, what):
        """A folder is opened to resolve names in it; what a program opens in it is watched itself."""
        return name in ("canary", "folder") and what == "opened"

    def environment(self, place):
        path = f".:{os.environ['PATH']}:" if self.chance.random() < 0.5 else os.environ["PATH"]
        more = {"PYTHONPATH": str(self.soak.packages), "PYTHONDONTWRITEBYTECODE": "1"} if self.user is not None else {}
        return {"PATH": path, "HOME": str(place / "home"), "TMPDIR": str(place / "tmp"), "GPUPROF_BIN": str(self.soak.binary), "GPUPROF_PYTHON": self.soak.python_for(self.user),
                "LANG": "C.UTF-8", **more}

    def check(self, place, words):
        how = {} if self.user is None else {"user": self.user, "group": self.user, "extra_groups": []}
        program = [self.soak.python_for(self.user), "-I" if self.user is None else "-s"] if words[0] == "-c" else [self.soak.binary]
        begun, other_streams = time.monotonic(), {"stdout": (place / "stdout").open("wb"), "stderr": (place / "stderr").open("wb")}
        process = subprocess.Popen([*program, *words], cwd=self.command.folder(place, self.kind), env=self.environment(place),
                                   stdin=subprocess.PIPE if self.command.talks else subprocess.DEVNULL, start_new_session=True, preexec_fn=limited, **other_streams, **how)
        try:
            if self.command.during:
                yield from self.command.during(process, place, self.kind)
            waited = wait(process, begun, self.large)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        if process.stdin:
            process.stdin.close()
        for stream in other_streams.values():
            stream.close()
        if waited is None:
            process.wait()
            if not self.large:
                yield "did not end"
            return
        status, usage = waited
        process.returncode = status
        seconds = usage.ru_utime + usage.ru_stime
        errors, output = (place / "stderr").read_bytes(), (place / "stdout").read_bytes()
        self.status = status
        if status not in self.command.statuses:
            yield f"exit status {status}: {errors[-300:]!r}"
        if seconds > MOST_CPU_SECONDS and not self.large:
            yield f"took {seconds:.0f} s of CPU time"
        if usage.ru_maxrss << 10 > (MOST_BYTES_OF_LARGE if self.large else MOST_BYTES):
            yield f"took {usage.ru_maxrss >> 10} MiB of memory"
        if b"Traceback" in errors or errors.count(b"\n") > MOST_LINES:
            yield f"says {errors[-600:]!r}"
        for name, text in (("stderr", errors), ("stdout", output)):
            if any(byte < 32 and byte not in b"\n\t" for byte in text) or b"\nforged" in text or text.startswith(b"forged"):
                yield f"control characters in {name}: {text[:300]!r}"


def limited():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))


def wait(process, begun, large):
    """Exit status and usage, None if the process does not end. `large`: nothing is wrong with that."""
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status), usage
        passed = time.monotonic() - begun
        if passed > MOST_SECONDS and (large or passed > BUSY * MOST_SECONDS or is_idle(process.pid)):
            return None
        time.sleep(0.002 if passed < 1 else 0.05)


def is_idle(pid):
    """Whether a process and its children have used nearly no time of the CPU: it waits."""
    with contextlib.suppress(OSError, ValueError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") < 5
    return False


class Soak:
    def __init__(self, binary, folder, seed=1):
        self.binary, self.folder, self.seed = Path(binary).resolve(), Path(folder), seed
        self.folder.chmod(0o755)
        self.root = os.geteuid() == 0
        self.packages = os.pathsep.join([str(folders.ROOT / "python"), *[path for path in sys.path if path.endswith("site-packages")]])
        self.others_python = self.root and self.python_of_others()
        self.templates = folders.Templates(self.binary, self.folder / "templates", sys.executable)

    def python_of_others(self):
        """An interpreter that other users can start, "" without one: then Python runs as root only."""
        for candidate in (sys.executable, "/usr/bin/python3"):
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                subprocess.run([candidate, "-s", "-c", "import gpu_profile, mcp"], check=True, capture_output=True, user=OWN, group=OWN, extra_groups=[],
                               env={"PYTHONPATH": self.packages, "PYTHONDONTWRITEBYTECODE": "1"}, cwd="/")
                return candidate
        return ""

    def python_for(self, user):
        return sys.executable if user is None else self.others_python or sys.executable

    def round(self, number, only="", keep=False):
        """The round and what is wrong with it; None if it is not wanted."""
        found = Round(self, number)
        if only not in found.text:
            return None
        folder = Path(tempfile.mkdtemp(dir=self.folder, prefix=f"{number}-"))
        folder.chmod(0o755)
        try:
            return found, found.run(folder)
        finally:
            if not keep:
                shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description="Runs every command on folders as somebody else could send them.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first round, to repeat one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="rounds whose kind, command or entries have this")
    parser.add_argument("--keep", action="store_true", help="keep the folders")
    options = parser.parse_args()
    os.umask(0o022)
    begun, runs, wrongs, statuses, number = time.monotonic(), collections.Counter(), 0, collections.Counter(), options.first
    folder = tempfile.mkdtemp(prefix="gpu-profile-received-")
    try:
        soak = Soak(options.binary, folder, options.seed)
        if not soak.root:
            print("not root: without devices, and without files of other users")
        for number in range(options.first, options.first + options.rounds):
            done = soak.round(number, options.only, options.keep)
            if done is None:
                continue
            found, wrong = done
            runs[found.kind, found.command.name] += 1
            statuses[getattr(found, "status", None)] += 1
            wrongs += bool(wrong)
            for each in wrong:
                print(f"{number}: {found.text}: {each}", flush=True)
    finally:
        if options.keep:
            print(f"kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    for (kind, command), count in sorted(runs.items()):
        print(f"{kind:14} {command:30} {count:5} runs")
    print(", ".join(f"exit {status}: {count}" for status, count in sorted(statuses.items(), key=str)))
    print(f"{sum(runs.values())} runs in {time.monotonic() - begun:.0f} s, {wrongs} wrong")
    return wrongs > 0


if __name__ == "__main__":
    sys.exit(main())
