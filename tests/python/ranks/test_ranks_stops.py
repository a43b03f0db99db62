"""`ranks` with files that need too much memory or never end, with children that are killed, and after Ctrl-C."""

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import termios
import time

import pytest
from job_engines import EXAMPLE, ROOT, cache  # noqa: F401
from patience import HANGS_S
from program import Outcome
from terminal import Terminal

import gpu_profile
from gpu_profile.many_ranks import reduction

FILES = sorted(EXAMPLE.iterdir())


class Pipe:
    """A file whose end comes when it is told to, and never before."""

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        self.held = os.open(path, os.O_RDWR)
        self.begin()

    def begin(self):
        os.write(self.held, b'{"traceEvents": [')

    def has_been_read(self):
        return fcntl.ioctl(self.held, termios.FIONREAD, b"\0" * 4) == b"\0" * 4

    def close(self):
        if self.held is not None:
            os.close(self.held)
        self.held = None


@pytest.fixture
def pipe(tmp_path):
    made = Pipe(tmp_path / "rank00008.json")
    yield made
    made.close()


@pytest.fixture
def endless(pipe):
    """A file whose end never comes: a pipe that this test holds open."""
    return pipe.path


@pytest.fixture(scope="module")
def just_enough(program):
    """The least memory, doubled from 1 MiB, with which an example can be read: half of it is too little."""
    memory = 1 << 20
    while program.run("ranks", "reduce", FILES[0], "-o", "/dev/null", "--memory", memory).status != 0:
        memory *= 2
        assert memory < 1 << 36
    return memory


def kept(cache):
    """How many summaries are kept; the one that is being written does not count."""
    return len([name for name in os.listdir(cache) if not name.startswith(".")]) if cache.exists() else 0


def lost(outcome):
    """Rank, status and reason of the ranks that were lost."""
    assert outcome.status == 0, outcome.errors
    (table,) = json.loads(outcome.stdout)["tables"]
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row)) for row in table["rows"]]
    return [(row["rank"], row["status"], row["reason"]) for row in rows if row["status"] != "whole"]


def children(parent):
    """The programs that a process has started, as process ids."""
    found = []
    for entry in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat") as about:
            fields = about.read().rpartition(")")[2].split()
            if int(fields[1]) == parent and fields[0] != "Z":
                found.append(int(entry))
    return found


def reading(parent, file):
    """The programs that a process has started for a file, as process ids. One that has just written its summary may still run."""
    found = []
    for pid in children(parent):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as about:
            if os.fsencode(file) in about.read().split(b"\0"):
                found.append(pid)
    return found


def running(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as about:
        return about.read().rpartition(")")[2].split()[0] != "Z"
    return False


def wait_until(condition, seconds=HANGS_S):
    """What the condition answers once it is true."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return answer


def test_a_second_try_has_twice_the_memory(program, cache, just_enough):
    outcome = program.run("ranks", EXAMPLE, "ranks", "--cache", cache, "--memory", just_enough // 2, "--workers", 2, "--format", "json")
    assert lost(outcome) == []


def test_a_file_that_needs_more_costs_its_rank(program, cache, just_enough):
    given = just_enough // 4
    outcome = program.run("ranks", *FILES[1:], "ranks", "--cache", cache, "--format", "json")
    assert lost(outcome) == [(0, "missing", "no file")]
    ((rank, status, reason),) = lost(program.run("ranks", EXAMPLE, "ranks", "--cache", cache, "--memory", given, "--format", "json"))
    assert (rank, status) == (0, "unreadable")
    assert re.search(r" with --memory [\d.]+ [KM]iB, and with [\d.]+ [KM]iB$", reason), reason
    found = gpu_profile.ranks(EXAMPLE, cache=cache.parent / "python", memory=just_enough // 2, progress=lambda *_: None)
    assert found.losses.to_dict()["rank"] == []


def test_python_tries_twice_too(cache, just_enough, monkeypatch):
    given = just_enough // 4
    size = r"[\d.]+ [KM]iB"
    with pytest.raises(gpu_profile.Error, match=f"with --memory {size}, and with {size}$"):
        gpu_profile.ranks(FILES[0], cache=cache, memory=given, progress=lambda *_: None)
    monkeypatch.setattr(reduction, "_free_memory", lambda: 0)
    with pytest.raises(gpu_profile.Error, match=f"with --memory {size}; {size} for a second try are not free"):
        gpu_profile.ranks(FILES[0], cache=cache, memory=given, progress=lambda *_: None)


def test_a_file_that_never_ends_costs_its_rank(program, cache, endless, tmp_path):
    """Also a pipe that is named like a summary."""
    with contextlib.closing(Pipe(tmp_path / "rank00009.gpuprof")) as summary:
        outcome = program.run("ranks", EXAMPLE, endless, summary.path, "ranks", "--cache", cache, "--time-out", 1, "--workers", 3, "--format", "json")
    assert lost(outcome) == [(rank, "unreadable", "reading it took longer than 1 s") for rank in (8, 9)]
    found = gpu_profile.ranks([EXAMPLE, endless], cache=cache.parent / "python", time_out=1)
    assert found.losses.to_dict()["reason"] == ["reading it took longer than 1 s"]


def test_a_killed_child_is_started_once_more(program, cache, pipe):
    """The first one has read the beginning of the file when it is killed; the second one reads until its end."""
    with subprocess.Popen([program.path, "ranks", EXAMPLE, pipe.path, "ranks", "--cache", cache, "--workers", "1", "--format", "json"],
                          stdout=subprocess.PIPE) as process:
        wait_until(lambda: kept(cache) == 8)
        (first,) = wait_until(lambda: reading(process.pid, pipe.path))
        wait_until(pipe.has_been_read)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: reading(process.pid, pipe.path) not in ([], [first]))
        pipe.begin()
        wait_until(pipe.has_been_read)
        pipe.close()
        answer = process.stdout.read()
    ((rank, status, _),) = lost(Outcome(process.returncode, answer, b""))
    assert (rank, status) == (8, "cut")


def test_a_child_whose_starter_has_ended_ends(program, endless, tmp_path):
    """A starter that ended before the child could ask for the signal of its end sends none; its end of the child's pipe is closed."""
    ours, its = os.pipe()
    os.close(ours)
    with subprocess.Popen([program.path, "ranks", "reduce", endless, "-o", tmp_path / "summary"], stderr=its) as process:
        os.close(its)
        assert process.wait(HANGS_S) == 6


SCRIPT = """
import sys
import gpu_profile
gpu_profile.ranks(sys.argv[2:], cache=sys.argv[1], workers=2, progress=lambda *_: None)
"""


@pytest.mark.parametrize("how", ["program", "python", "command"])
def test_ctrl_c_ends_children_and_keeps_the_cache(program, cache, endless, tmp_path, how, monkeypatch):
    if how == "command":
        pytest.importorskip("fsspec")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = {"program": [program.path, "ranks", "--cache", cache, "--workers", "2", EXAMPLE, endless],
               "python": [sys.executable, script, cache, EXAMPLE, endless],
               "command": [program.path, "ranks", "--cache", cache, "--workers", "2", "--storage", "auto_mkdir=false", EXAMPLE, endless]}[how]
    environment = {**os.environ, "TMPDIR": str(temporary), "GPUPROF_PYTHON": sys.executable, "GPUPROF_BIN": str(program.path),
                   "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), *sys.path])}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        # All but the endless one: the largest go first, so it is the last.
        wait_until(lambda: kept(cache) == 8)
        parent = process.pid if how != "command" else children(process.pid)[0]
        reader = wait_until(lambda: reading(parent, endless))
        started = [*children(process.pid), *reader]
        os.kill(process.pid, signal.SIGINT)  # the others hear of it from their parent only
        said = process.stderr.read().decode()
        process.wait(HANGS_S)
    assert process.returncode == -signal.SIGINT
    wait_until(lambda: not any(running(pid) for pid in started))
    assert os.listdir(temporary) == []
    assert len(os.listdir(cache)) == 8
    if how != "python":
        assert said == ""
    before = {name: os.stat(cache / name).st_mtime_ns for name in os.listdir(cache)}
    if how == "program":
        assert program.run("ranks", EXAMPLE, "--cache", cache).status == 0
    else:
        gpu_profile.ranks(EXAMPLE, cache=cache, progress=lambda *_: None)
    assert {name: os.stat(cache / name).st_mtime_ns for name in os.listdir(cache)} == before


def test_progress_on_a_terminal(program, cache, pipe):
    """Within a second, and each second: files of all, bytes, rate, ranks lost, time left."""
    with Terminal([program.path, "ranks", EXAMPLE, pipe.path, "--cache", cache], columns=200) as terminal:
        terminal.expect(r"8 of 9 files, 0\.2 of 0\.2 MB, 0\.00 GB/s")
        terminal.expect(r"8 of 9 files")  # again
        pipe.close()
        terminal.expect("9 of 9 ranks: 1 cut")
        assert terminal.end()[0] == 0


def test_no_progress_if_quiet(program, cache):
    assert program.run("ranks", EXAMPLE, "--cache", cache, "--quiet").errors == []


def test_ranks_whose_names_say_otherwise(program, cache, tmp_path):
    place = shutil.copytree(EXAMPLE, tmp_path / "job")
    for file in sorted(place.iterdir()):
        file.rename(place / f"host-a.worker{int(file.name[4:9])}.json.gz")
    (place / "host-b.worker8.json").write_text('{"traceEvents":')
    for engine in (None, lambda *_: None):
        found = gpu_profile.ranks(place, cache=cache, rank_from=r"worker(\d+)", host_from="(host-.)", progress=engine)
        assert found.losses.to_dict()["rank"] == [8]
        assert set(found.table("rank").to_dict()["host"][:8]) & {"host-a", "node000"}
    with pytest.raises(gpu_profile.Error, match="is not a regular expression with one group"):
        gpu_profile.ranks(place, cache=cache, rank_from="worker", progress=lambda *_: None)
