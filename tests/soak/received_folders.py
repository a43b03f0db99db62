"""Folders as somebody else could send them, and what can be in the place of each file in them. Part of tests/soak/received.py.

`KINDS` makes the folders, each as its program or command would leave it. `ENTRIES` replaces one file or folder by something hostile.
"""

import contextlib
import gzip
import json
import os
import shutil
import socket
import sqlite3
import stat
import struct
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "ranks"
FIXTURES = ROOT / "tests" / "fixtures"
HISTORY = "gpu-profile-history.sqlite"
# Small recordings of each reader.
RECORDINGS = ("kineto/overlap.json.gz", "nsys/mock.sqlite.gz", "nsys/mock_gpu_trace.csv", "ncu/memory_bound.raw.csv.gz", "nvidia-smi/h200-580.csv",
              "nvidia-smi/h200-580-dmon.txt", "nvidia-smi/h200-580-q.xml", "memory/growth.snapshot.pickle.gz", "proton/matmul.hatchet", "jax/memory.prof",
              "pm/small_kernels.csv.gz", "cubin/add.sm_80.cuda12.cubin.gz", "kineto/triton.json.gz")
# What `record` leaves next to the parts of processes.
PARTS = ("beside-launcher.gpuprof", "beside-os_calls.gpuprof", "beside-logs.gpuprof", "beside-kernel-counters.gpuprof", "beside-warp-samples.gpuprof", "125.oscalls", "os_calls.shared")
PROGRAMS = ("git", "nsys", "ncu", "nvidia-smi", "python3", "python", "less", "sh", "xdg-open", "gpu-profile", "pager", "ssh")
MODULES = ("json", "gpu_profile", "mcp", "anyio", "sitecustomize", "usercustomize", "encodings", "fsspec", "numpy")
OUTSIDE = ("recording.json.gz", "history.sqlite", "text", "secret.py")
OTHER = 64002  # another user


def run(binary, *words, **how):
    environment = {**os.environ, "GPUPROF_BIN": str(binary), "HOME": str(how.get("cwd", "/nonexistent")), **how.pop("variables", {})}
    subprocess.run([binary, *map(str, words)], check=True, capture_output=True, timeout=120, env=environment, **how)


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", *words], cwd=folder, check=True, capture_output=True)


class Templates:
    """One whole folder of each kind, made once and copied for each run."""

    def __init__(self, binary, folder, python):
        self.binary, self.folder, self.python = binary, folder, python

    def of(self, kind):
        place = self.folder / kind
        if not place.exists():
            place.mkdir(parents=True)
            getattr(self, kind)(place)
        return place

    def job(self, place):
        for rank in range(3):
            shutil.copy(EXAMPLE / f"rank0000{rank}.json.gz", place)
        run(self.binary, "ranks", place, "--cache", self.folder / "job-cache", "--save", place / "job.gpuprof")
        (place / "reduced").mkdir()
        for rank in range(3):
            run(self.binary, "ranks", "reduce", place / f"rank0000{rank}.json.gz", "-o", place / "reduced" / f"r{rank}.gpuprof")
        shutil.copytree(FIXTURES / "flight", place / "flight")
        (place / "cache").mkdir()
        (place / "cache" / ".old.gpuprof.part-abcdef").write_text("left by a killed process")
        os.utime(place / "cache" / ".old.gpuprof.part-abcdef", (0, 0))

    def history(self, place):
        shutil.copy(FIXTURES / "kineto/overlap.json.gz", place / "run.json.gz")
        for _ in range(3):
            run(self.binary, "history", "add", place / "run.json.gz", "--label", "l", "--db", place / HISTORY)
        with gzip.open(FIXTURES / "nsys/mock.sqlite.gz") as packed:
            (place / "nsys.sqlite").write_bytes(packed.read())

    def investigation(self, place):
        git(place, "init", "-q")
        (place / "train.py").write_text("one\n")
        git(place, "add", ".")
        git(place, "commit", "-q", "-m", "first")
        (place / "train.py").write_text("two\n")
        for words in (("begin", "--recording", FIXTURES / "kineto/input_bound.json.gz"), ("trial", "x", "--change", "input", "--recording", FIXTURES / "kineto/input_fixed.json.zst"),
                      ("report",)):
            run(self.binary, "tune", *words, cwd=place, variables={"GPUPROF_PYTHON": self.python})
        shutil.copy(FIXTURES / "kineto/overlap.json.gz", place / "other.json.gz")

    def recordings(self, place):
        for name in RECORDINGS:
            shutil.copy(FIXTURES / name, place)
        run(self.binary, "export", "capture", place / "overlap.json.gz", "-o", place / "overlap.gpuprof")
        (place / "series.csv").write_bytes((FIXTURES / "nvidia-smi/h200-580.csv").read_bytes())

    def parts(self, place):
        folder = place / "run.gpuprof.parts-abcdef"
        folder.mkdir()
        for name in ("123-1.gpuprof", "124-1.gpuprof", "beside-sampler.gpuprof"):
            run(self.binary, "export", "capture", FIXTURES / "kineto/overlap.json.gz", "-o", folder / name)
        for name in PARTS:
            (folder / name).touch()

    def bench(self, place):
        for name in ("a", "b"):
            run(self.binary, "bench", "--save", name, "--", "true", cwd=place, variables={"GPUPROF_BENCH_DIR": ""})
        (place / "inputs.json").write_text("{}")


KINDS = ("job", "history", "investigation", "recordings", "parts", "bench")


def write_programs(folder, marker):
    """Programs and modules that say that they ran."""
    for name in PROGRAMS:
        path = folder / name
        if not os.path.lexists(path):
            path.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{marker}'\nexit 1\n")
            path.chmod(0o755)
    for name in MODULES:
        path = folder / f"{name}.py"
        if not os.path.lexists(path):
            path.write_text(f"open({str(marker)!r}, 'a').write(__file__ + '\\n')\nraise ImportError\n")


# What git could be told to run or to read, by the configuration and attributes of a repository.
GIT = ("core.fsmonitor=RUN", "core.hooksPath=HERE", "core.pager=RUN", "core.sshCommand=RUN", "core.editor=RUN", "core.askPass=RUN", "core.gitProxy=RUN",
       "core.alternateRefsCommand=RUN", "diff.external=RUN", "diff.odd.textconv=RUN", "diff.odd.command=RUN", "filter.odd.clean=RUN", "filter.odd.process=RUN",
       "filter.odd.smudge=RUN", "credential.helper=!RUN", "alias.rev-parse=!RUN", "alias.diff=!RUN", "gpg.program=RUN", "interactive.diffFilter=RUN", "pager.diff=RUN",
       "core.worktree=OUTSIDE", "core.excludesFile=PIPE", "core.attributesFile=PIPE", "include.path=PIPE", "include.path=/dev/zero", "core.excludesFile=/dev/zero",
       "core.attributesFile=/dev/zero", "diff.orderFile=PIPE", "diff.orderFile=/dev/zero", "core.excludesFile=OUTSIDE/../text", "merge.odd.driver=RUN", "blame.ignoreRevsFile=PIPE",
       "extensions.worktreeConfig=true", "core.bare=true", "core.splitIndex=true", "core.untrackedCache=true", "trace2.eventTarget=OUTSIDE/trace", "core.repositoryformatversion=9")


def spoil_repository(folder, place, chance):
    """Settings of a repository that name programs and files."""
    marker, pipe = place / "ran", folder / "pipe"
    script = folder / "run.sh"
    script.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{marker}'\ncat\n")
    script.chmod(0o755)
    os.mkfifo(pipe)
    said = []
    with (folder / ".git" / "config").open("a") as config:
        for setting in chance.sample(GIT, chance.choice((1, 1, 2, 4))):
            name, value = setting.split("=", 1)
            for word, meaning in (("RUN", script), ("HERE", folder / "hooks"), ("OUTSIDE", place / "canary" / "folder"), ("PIPE", pipe)):
                value = value.replace(word, str(meaning))
            section, _, key = name.rpartition(".")
            section = f'{section.split(".")[0]} "{section.split(".")[1]}"' if "." in section else section
            config.write(f"[{section}]\n\t{key} = {value}\n")
            said.append(setting)
    (folder / ".gitattributes").write_text("*.py filter=odd diff=odd merge=odd\n* working-tree-encoding=UTF-16\n" if chance.random() < 0.2 else "*.py filter=odd diff=odd\n")
    for hooks in (folder / "hooks", folder / ".git" / "hooks"):
        hooks.mkdir(exist_ok=True)
        for name in ("post-index-change", "fsmonitor-watchman", "pre-commit", "reference-transaction"):
            shutil.copy(script, hooks / name)
    return f"git {', '.join(said)}"


VALUES = (None, -1, 0, 1 << 62, 1e308, True, "", "x" * 100_000, [], {}, [[]], "\x1b[2J\nforged: line", "\ud800", f"{os.pardir}/{os.pardir}/canary/recording.json.gz", "CANARY/recording.json.gz",
          "/dev/zero", "/proc/kmsg", "..", "a/../../b", "%s%n", "--save=x", "'; touch ran; '", "baseline/1-input_bound.json.gz/")


def mutated(text, place, chance):
    """The JSON with some values replaced, removed or repeated."""
    document = json.loads(text)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = document
        while True:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            if not keys:
                break
            key = chance.choice(keys)
            if isinstance(at[key], (dict, list)) and at[key] and chance.random() < 0.8:
                at = at[key]
                continue
            value = chance.choice(VALUES)
            at[key] = value.replace("CANARY", str(place / "canary")) if isinstance(value, str) else value
            break
    return json.dumps(document)


def journal(name):
    """A journal of SQLite that names a super-journal, which SQLite would remove."""
    header = bytes.fromhex("d9d505f920a163d7") + struct.pack(">IIIII", 0, 1, 1, 512, 4096)
    name = os.fsencode(name)
    return header.ljust(512, b"\0") + struct.pack(">I", 1) + name + struct.pack(">II", len(name), sum(name)) + bytes.fromhex("d9d505f920a163d7")


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()


def link_to(target):
    def link(path, place, _chance):
        remove(path)
        path.symlink_to(target(path, place))

    return link


def hard_link(path, place, chance):
    source = place / "canary" / chance.choice(OUTSIDE)
    remove(path)
    os.link(source, path)


def pipe(path, _place, _chance):
    remove(path)
    os.mkfifo(path, 0o666)


def a_socket(path, _place, _chance):
    remove(path)
    here = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as one, contextlib.suppress(OSError):
            one.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


def device(kind, major, minor):
    def make(path, _place, _chance):
        remove(path)
        os.mknod(path, kind | 0o666, os.makedev(major, minor))

    return make


def folder_or_file(path, _place, _chance):
    was_file = path.is_file()
    remove(path)
    if was_file:
        path.mkdir()
        (path / "rank00000.json.gz").write_bytes(b"x")
    else:
        path.write_bytes(b"x")


def sparse(path, _place, chance):
    if path.is_dir():
        remove(path)
    if chance.random() < 0.5:
        remove(path)
    with path.open("ab") as file:
        os.truncate(file.fileno(), 1 << 40)


def empty(path, _place, _chance):
    remove(path)
    path.touch()


def damaged(path, place, chance):
    if path.is_dir():
        return empty(path, place, chance)
    data = bytearray(path.read_bytes())
    if path.suffix == ".json" and data[:1] == b"{" and chance.random() < 0.8:
        path.write_text(mutated(data, place, chance))
        return None
    if chance.random() < 0.5:
        del data[chance.randrange(len(data) + 1):]
    for _ in range(chance.choice((0, 1, 5, 100)) if data else 0):
        data[chance.randrange(len(data))] = chance.randrange(256)
    path.write_bytes(data)
    return None


def deep(path, _place, chance):
    remove(path)
    path.write_text(chance.choice(("[" * 1_000_000, '{"a":' * 100_000, '{"document":"tune","schema":1,"states":' + "[" * 100_000)))


def no_permissions(path, _place, _chance):
    path.chmod(0)


def of_another(path, _place, chance):
    os.chown(path, OTHER, OTHER, follow_symlinks=False)
    path.chmod(0o755 if path.is_dir() else chance.choice((0o644, 0o666, 0o600)))


def of_another_in_a_shared_folder(path, place, chance):
    of_another(path, place, chance)
    os.chown(path.parent, OTHER, OTHER)
    path.parent.chmod(0o1777)


NAMES = (b"a\nforged: line", b"\x1b[2J\x1b]0;x\x07", b"-o", b"--save=x", b"%s%n%s", b"'\"$(touch ran)`touch ran`", b"\xff\xfe\x80", b"rank00001\xe2\x80\xaegz.json", b"n" * 255,
         b" ", b"rank-1.json.gz", b"*", b"\\", b"CON", b"a;touch ran")


def odd_name(path, _place, chance):
    new = os.path.join(os.fsencode(path.parent), chance.choice(NAMES))
    if not os.path.lexists(new):
        os.rename(path, new)


def more_names(path, _place, _chance):
    for name in NAMES:
        new = os.path.join(os.fsencode(path.parent), name)
        if path.is_file() and not os.path.lexists(new):
            shutil.copyfile(path, new)


def journals(path, place, chance):
    """Journals of every kind next to a file, which may be a database."""
    for suffix in chance.sample(("-journal", "-wal", "-shm"), chance.choice((1, 2, 3))):
        target = path.with_name(path.name + suffix)
        how = chance.choice(("super-journal", "bytes", "link", "pipe", "empty", "folder"))
        if os.path.lexists(target):
            continue
        if how == "super-journal":
            target.write_bytes(journal(place / "canary" / "text"))
        elif how == "bytes":
            target.write_bytes(chance.randbytes(5000))
        elif how == "link":
            target.symlink_to(place / "canary" / "text")
        elif how == "pipe":
            os.mkfifo(target)
        elif how == "folder":
            target.mkdir()
        else:
            target.touch()


def a_trigger(path, _place, _chance):
    """A database whose schema does more than hold tables."""
    if path.is_dir():
        return
    remove(path)
    database = sqlite3.connect(path)
    database.executescript("CREATE TABLE run (id INTEGER PRIMARY KEY, added_at, label, machine, hardware, tool, file); CREATE TABLE value (run, metric, value);"
                           "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END; PRAGMA user_version = 1;"
                           "CREATE VIEW kernel AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c;")
    database.close()


# Name: what it does to a path.
ENTRIES = {
    "as it is": lambda path, place, chance: None,
    "link to a recording": link_to(lambda path, place: place / "canary" / "recording.json.gz"),
    "link to a history": link_to(lambda path, place: place / "canary" / "history.sqlite"),
    "link to a text": link_to(lambda path, place: place / "canary" / "text"),
    "link to a folder": link_to(lambda path, place: place / "canary" / "folder"),
    "link to nothing": link_to(lambda path, place: place / "canary" / "new"),
    "link to /proc/kmsg": link_to(lambda path, place: "/proc/kmsg"),
    "link to /dev/zero": link_to(lambda path, place: "/dev/zero"),
    "link to /proc/self/fd/0": link_to(lambda path, place: "/proc/self/fd/0"),
    "link to itself": link_to(lambda path, place: path.name),
    "link to its folder": link_to(lambda path, place: "."),
    "relative link out": link_to(lambda path, place: os.path.relpath(place / "canary" / "recording.json.gz", path.parent)),
    "hard link": hard_link, "pipe": pipe, "socket": a_socket,
    "device zero": device(stat.S_IFCHR, 1, 5), "device full": device(stat.S_IFCHR, 1, 7), "block device": device(stat.S_IFBLK, 7, 200), "device tty": device(stat.S_IFCHR, 5, 0),
    "folder or file": folder_or_file, "sparse, 1 TiB": sparse, "empty": empty, "damaged": damaged, "damaged again": damaged, "deep": deep, "no permissions": no_permissions,
    "another user's": of_another, "another user's, shared": of_another_in_a_shared_folder, "odd name": odd_name, "odd names": more_names, "journals": journals, "schema": a_trigger,
}  # fmt: skip
