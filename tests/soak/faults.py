#!/usr/bin/env python3
"""Makes every call of the program that can fail do so: reads, writes, SQLite's calls, allocations.

    tests/soak/faults.py BINARY [--kind KIND...] [--most N] [--only TEXT] [--jobs 2]

Every command of fault_commands.py runs once whole. Then it runs once for every system call that it made and every way in which
that can fail (syscall_faults.c), and for an even sample of its allocations (allocation_faults.c); at most N runs per command and kind.

    read     read, open, stat, list, map: errors, a part of the bytes, an early end
    write    write, synchronise, rename, create, truncate, close: errors, a part of the bytes; once or from there on
    sqlite   both, of the commands that use SQLite; and a limit on the size of files
    alloc    an allocation, or one and all later ones
    host     the same, of a Python program that has loaded libgpuprof.so (fault_host.py): calls return errors and end nothing
    process  starting a thread or a process

Each run must end by itself within a minute, and not by a signal. Either it succeeds with the same output, or it says what is lost;
or it fails with a documented status and one line, which does not blame memory unless it was memory. A file under its final name is
complete, and nothing else is left. Prints a table by kind. tests/python/project/test_faults.py runs a few.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "python"), str(ROOT / "tests" / "soak")]

from fault_commands import COMMANDS, SQLITE, STATUS_OF_THE_COMMAND, Inputs  # noqa: E402
from injected import chunk_kinds  # noqa: E402

TIME_LIMIT_S = 60
IMPOSSIBLE = 125
END = 3  # core/format/chunk.h
DOCUMENTED = (*range(1, 7), 126, 127)  # core/base/exit_code.h, and as in shells: a command that cannot be started
READ = {
    "read": ("EIO", "EINTR", "short", "end"), "pread64": ("EIO", "EINTR", "short", "end"), "readv": ("EIO",),
    "openat": ("EMFILE", "EACCES", "EINTR"), "open": ("EMFILE", "EACCES"), "newfstatat": ("EIO",), "fstat": ("EIO",), "stat": ("EIO",),
    "statfs": ("EIO",), "fstatfs": ("EIO",), "lseek": ("EIO",), "getdents64": ("EIO",), "mmap": ("ENOMEM",),
}
WRITE = {
    "write": ("ENOSPC", "ENOSPC+", "EIO", "EINTR", "short"), "pwrite64": ("ENOSPC", "ENOSPC+", "EIO", "EINTR", "short"), "writev": ("EIO",),
    "openat": ("EMFILE", "EROFS"), "open": ("EMFILE", "EROFS"), "fsync": ("EIO", "EINTR"), "fdatasync": ("EIO",), "ftruncate": ("EIO", "EINTR"),
    "fallocate": ("ENOSPC",), "fchmod": ("EIO",), "close": ("EIO",), "link": ("EIO",), "linkat": ("EIO",), "rename": ("EIO", "EACCES"),
    "renameat": ("EIO",), "renameat2": ("EIO",), "mkdir": ("ENOSPC", "EACCES"), "mkdirat": ("ENOSPC", "EACCES"),
    "copy_file_range": ("EIO",), "sendfile": ("EIO",),
}
PROCESS = {call: ("EAGAIN", "EAGAIN+") for call in ("clone", "clone3", "vfork", "fork")}
KINDS = ("read", "write", "sqlite", "process", "alloc", "host")
SAID = re.compile(r"los[st]|damag|truncat|incomplete|cannot|could not|unreadable|missing|unknown|not |skipped|without|memory", re.I)


class Trouble(AssertionError):
    pass


def build_tools(folder):
    """Compiles both tools."""
    here = Path(__file__).parent
    for source, target, words in (("syscall_faults.c", "syscall_faults", ()), ("allocation_faults.c", "allocation_faults.so", ("-fPIC", "-shared", "-ldl"))):
        subprocess.run(["cc", "-O2", "-o", folder / target, here / source, *words], check=True, timeout=120)


def tracing_works(tools):
    """Whether a process may be traced here."""
    done = subprocess.run([tools / "syscall_faults", "read", os.devnull, "0", "-", "true"], capture_output=True, timeout=20, check=False)
    return done.returncode == 0


class Run:
    """What a run left: status, streams, files by name. Times and random names are not part of it."""

    def __init__(self, done, folder):
        self.status, self.said = done.returncode, done.stderr.decode(errors="replace")
        self.lines = [line for line in self.said.splitlines() if line.strip()]
        self.out = done.stdout
        files = [path for path in folder.rglob("*") if path.is_file() and "home" not in path.relative_to(folder).parts[:1]]
        self.files = {str(path.relative_to(folder)): path.read_bytes() for path in files}


class Trials:
    """One command, with faults."""

    def __init__(self, name, binary, tools, inputs, folder):
        self.name, self.binary, self.tools, self.inputs, self.folder = name, binary, tools, inputs, folder
        self.command = [str(binary), *inputs.words(name)]
        self.whole, again = self._run("whole", []), self._run("whole", [])
        if self.whole.status != 0:
            raise Trouble(f"{name}: status {self.whole.status} without a fault: {self.whole.said[-300:]}")
        self.varies = {"history"} | {file for file in self.whole.files if again.files.get(file) != self.whole.files[file]}
        self.out_varies = again.out != self.whole.out

    def _run(self, label, before, limit=None, **environment):
        folder = self.folder / f"{self.name.replace(' ', '-')}-{label}"
        (folder / "tmp").mkdir(parents=True)
        (folder / "home").mkdir()
        environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "home"),
                       "XDG_STATE_HOME": str(folder / "home"), "LC_ALL": "C.UTF-8", **environment}

        def limits():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        try:
            with subprocess.Popen([*map(str, before), *self.command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, start_new_session=True, preexec_fn=limits) as process:
                try:
                    streams = process.communicate(timeout=TIME_LIMIT_S)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.communicate()
                    raise Trouble(f"{self.name}: {label}: no end within {TIME_LIMIT_S} s") from None
            return Run(subprocess.CompletedProcess(self.command, process.returncode, *streams), folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def calls(self, kinds):
        """[(number, name, file)] of the system calls of a whole run, without those of the loader in the folder of the program."""
        log = self.folder / f"{self.name.replace(' ', '-')}-calls"
        self._run("count", [self.tools / "syscall_faults", ",".join(kinds), log, "0", "-"])
        lines = [line.split(" ", 2) for line in log.read_text().split("\n") if line]
        return [(int(number), call, file) for number, call, file in lines if not file.startswith(f"{self.binary.parent}")]

    def system_faults(self, kinds, most):
        """[(words, run)] for every call and fault, or an even sample."""
        cases = [(number, call, file, what) for number, call, file in self.calls(kinds) for what in kinds[call]]
        return [(self._system_fault, (kinds, *case)) for case in sampled(cases, most)]

    def _system_fault(self, kinds, number, call, file, what):
        label = f"{what} at {call} {number} of {','.join(kinds)[:5]}"
        number = f"{number}{'+' if what.endswith('+') else ''}"
        before = [self.tools / "syscall_faults", ",".join(kinds), os.devnull, number, what.rstrip("+")]
        self.judge(f"{what} at call {number} ({call} {os.path.basename(file)})", self._run(label, before), memory=what == "ENOMEM")

    def allocation_faults(self, most):
        count_file = self.folder / f"{self.name.replace(' ', '-')}-allocations"
        self._run("count", [], LD_PRELOAD=str(self.tools / "allocation_faults.so"), GPUPROF_ALLOCATION="0", GPUPROF_ALLOCATION_COUNT=str(count_file))
        number = int.from_bytes(count_file.read_bytes(), sys.byteorder)
        cases = [f"{at}{later}" for at in range(1, number + 1) for later in ("", "+")]
        return [(self._allocation_fault, (case,)) for case in sampled(cases, most)]

    def _allocation_fault(self, number):
        done = self._run(f"allocation {number}", [], LD_PRELOAD=str(self.tools / "allocation_faults.so"), GPUPROF_ALLOCATION=number)
        self.judge(f"allocation {number}", done, memory=True, only_memory=True)

    def size_faults(self, most):
        """Limits of the size of files: SQLITE_FULL, SQLITE_IOERR_WRITE."""
        largest = max(map(len, self.whole.files.values()), default=0)
        return [(self._size_fault, (limit,)) for limit in sampled(range(0, largest, 512), most)]

    def _size_fault(self, limit):
        self.judge(f"files of at most {limit} bytes", self._run(f"limit {limit}", [], limit=limit))

    def judge(self, what, run, memory=False, only_memory=False):
        try:
            self._judge(run, memory, only_memory)
        except Trouble as trouble:
            raise Trouble(f"{self.name}: {what}: {trouble}; status {run.status}: {run.said[-400:].strip()}") from None

    def _judge(self, run, memory, only_memory):
        if run.status < 0:
            raise Trouble(f"ended by {signal.Signals(-run.status).name}")
        lines = [line for line in run.lines if line not in self.whole.lines]
        if any(word in run.said for word in ("Traceback", "terminate called", "internal error", "std::")):
            raise Trouble("not a message for users")
        if "memory" in run.said and not memory and re.search("out of memory|memory (is )?short", run.said):
            raise Trouble("blames memory")
        self._judge_files(run, only_memory)
        if run.status == 0 or (self.name in STATUS_OF_THE_COMMAND and lines):
            self._judge_success(run, lines)
        elif run.status not in DOCUMENTED:
            raise Trouble("not a documented status")
        elif len(lines) != 1:
            raise Trouble(f"{len(lines)} lines")
        elif only_memory and not re.search("memory|allocate", lines[0], re.I):
            raise Trouble("does not say that memory is short")

    def _judge_files(self, run, only_memory):
        for file, content in run.files.items():
            if file in self.whole.files and self._complete(file, content):
                continue
            if file == "out" and not self.whole.files.get("out"):
                continue
            if any(part in run.said for part in Path(file).parts):
                continue  # kept on purpose, and named
            if only_memory and file.startswith("out.parts-"):
                continue  # parts of a recording, which nothing has memory to name or remove
            raise Trouble(f"left {file} of {len(content)} bytes")

    def _complete(self, file, content):
        whole = self.whole.files[file]
        if content == whole:
            return True
        if content[:8] == whole[:8] == b"GPUPROF\x01"[:len(whole[:8])] or file == "out":
            kinds, torn = chunk_kinds(content)
            if torn == 0 and kinds[-1:] == [END]:
                return True
        if content.startswith(b"SQLite format 3\0"):
            return self._is_whole_database(file, content)
        return (file in self.varies or self.loses(content, whole)) and content[-1:] == whole[-1:]

    def _is_whole_database(self, name, content):
        """An export may lack what was lost. A history may be without the run: it is made first, then the run is added."""
        copy = self.folder / f"database-{threading.get_ident()}"
        copy.write_bytes(content)
        with contextlib.closing(sqlite3.connect(copy)) as database:
            (sound,) = database.execute("pragma integrity_check").fetchone()
            return sound == "ok" and (name != "history" or database.execute("select count(*) from run").fetchone() in ((0,), (1,)))

    def _judge_success(self, run, lines):
        missing = set(self.whole.files) - set(run.files)
        changed = [file for file in run.files if run.files[file] != self.whole.files.get(file) and file not in self.varies and not file.startswith("out.parts-")]
        if not missing and not changed and (self.out_varies or run.out == self.whole.out):
            return
        if lines or self.loses(run.out, self.whole.out) or any(self.loses(run.files[file], self.whole.files.get(file, b"")) for file in changed):
            return
        raise Trouble(f"another output, silently (missing {missing}, changed {changed})")

    @staticmethod
    def loses(text, whole):
        """Whether the text says that something is lost, and the whole one does not say it in the same words."""
        known = set(re.split(r"[\n{}]", whole.decode(errors="replace")))
        return any(SAID.search(line) for line in re.split(r"[\n{}]", text.decode(errors="replace")) if line not in known)


def sampled(cases, most):
    """At most so many of them, evenly."""
    cases = list(cases)
    if most is None or len(cases) <= most:
        return cases
    return [cases[i * len(cases) // most] for i in range(most)]


def faults_of(trials, kind, most):
    if kind == "alloc":
        return trials.allocation_faults(most)
    if kind == "read":
        return trials.system_faults(READ, most)
    if kind == "write":
        return trials.system_faults(WRITE, most)
    if kind == "process":
        return trials.system_faults(PROCESS, most)
    both = {call: tuple(dict.fromkeys(READ.get(call, ()) + WRITE.get(call, ()))) for call in {**READ, **WRITE}}
    return trials.system_faults(both, most) + trials.size_faults(most)


def host_troubles(binary, tools, inputs, most, every):
    """[trouble] of a program that has loaded the library, and the number of its tries."""
    command = [sys.executable, Path(__file__).parent / "fault_host.py", binary.parent / "libgpuprof.so", inputs.folder / "kineto.json.gz",
               inputs.folder / "series.csv", str(most), *(["all"] if every else [])]
    environment = {**os.environ, "LD_PRELOAD": str(tools / "allocation_faults.so")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1200, check=False)
    lines = done.stdout.splitlines()
    tries = sum(line.startswith("try ") for line in lines)
    troubles = [f"host: {line}" for line in lines if line.startswith("wrong")]
    if done.returncode != 0:
        troubles.append(f"host: ended with {done.returncode} at {[line for line in lines if line.startswith('try')][-1:]}: {done.stderr[-300:]}")
    return troubles, tries


def attempt(case):
    step, arguments = case
    try:
        step(*arguments)
    except Trouble as trouble:
        return str(trouble)
    return None


def main():
    parser = argparse.ArgumentParser(description="Makes every call of the program that can fail do so.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--most", type=int, help="runs per command and kind, an even sample (default: all; 100 of alloc)")
    parser.add_argument("--only", help="commands whose name contains this text")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    binary, runs, troubles = options.binary.resolve(), collections.Counter(), []
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tools, inputs = Path(scratch).resolve() / "tools", Path(scratch).resolve() / "inputs"
        tools.mkdir(), inputs.mkdir()
        build_tools(tools)
        if not tracing_works(tools):
            sys.exit("faults.py: processes cannot be traced here")
        inputs = Inputs(binary, inputs)
        for name in COMMANDS:
            if options.only and options.only not in name:
                continue
            trials = Trials(name, binary, tools, inputs, Path(scratch).resolve())
            for kind in options.kind:
                if kind == "host" or (kind == "sqlite" and name not in SQLITE):
                    continue
                most = options.most or (100 if kind == "alloc" else None)
                cases = faults_of(trials, kind, most)
                found = [trouble for trouble in pool.map(attempt, cases) if trouble]
                runs[kind] += len(cases)
                troubles += found
                print(f"{name:32} {kind:7} {len(cases):5} runs {len(found):4} troubles", flush=True)
                for trouble in found:
                    print(f"    {trouble}", flush=True)
        for every in (False, True) if "host" in options.kind else ():
            found, tries = host_troubles(binary, tools, inputs, options.most or 1000, every)
            runs["host"] += tries
            troubles += found
            print("\n".join([f"host{', all later ones' if every else ''}: {tries} runs, {len(found)} troubles", *found]), flush=True)
    print("".join(f"\n{kind:7} {count:6} runs" for kind, count in runs.items()))
    print(f"{sum(runs.values())} runs, {len(troubles)} troubles")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
