"""`gpu_profile.ranks` on a real Dask cluster: the same bytes as without one, and what is left when its parts are killed."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import distributed
import pytest
from job_engines import EXAMPLE, tables

import gpu_profile
from gpu_profile.many_ranks import engines
from patience import HANGS_S

FILES = sorted(file.name for file in EXAMPLE.iterdir())

CLUSTER = """
import sys
import distributed
if __name__ == "__main__":
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


class Cluster:
    """Two workers and a scheduler in a process of its own, whose program is `program`."""

    def __init__(self, folder, program):
        (folder / "cluster.py").write_text(CLUSTER)
        search = os.pathsep.join(sys.path)
        self.process = subprocess.Popen([sys.executable, folder / "cluster.py"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, "PYTHONPATH": search, "GPUPROF_BIN": str(program)}, text=True)
        self.address = self.process.stdout.readline().strip()

    def workers(self):
        with distributed.Client(self.address, set_as_default=False) as client:
            return list(client.run(os.getpid).values())

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(HANGS_S)
        self.process.stdout.close()


def script(path, cases, program):
    """A script that does what `cases` of a shell's `case` say about its arguments, then becomes `program`."""
    path.write_text(f'#!/bin/sh\ncase "$*" in {cases} esac\nexec "{program}" "$@"\n')
    path.chmod(0o755)
    return path


@pytest.fixture
def slow(tmp_path):
    """A program that takes its time for each file, and notes which files it reads."""
    return script(tmp_path / "slow", f'*reduce*) echo "$3" >>"{tmp_path}/read"; sleep 0.3 ;;', gpu_profile.binary())


@pytest.fixture
def cluster(tmp_path, slow):
    made = Cluster(tmp_path, slow)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def one_file_per_task(monkeypatch):
    monkeypatch.setattr(engines, "_SMALL_FILES_PER_TASK", 1)


def read_by(slow):
    return sorted(os.path.basename(line) for line in (slow.parent / "read").read_text().splitlines())


def test_every_engine_gives_the_same_bytes(tmp_path, expected):
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client, ThreadPoolExecutor(2) as threads:
            by_client, by_address, by_threads = (
                gpu_profile.ranks(EXAMPLE, engine, cache=tmp_path / str(number))
                for number, engine in enumerate((client, cluster.scheduler_address, threads)))
            file = tmp_path / "scheduler.json"
            file.write_text(json.dumps({"address": cluster.scheduler_address}))
            by_file = gpu_profile.ranks(EXAMPLE, str(file), cache=tmp_path / "file")
    assert tables(by_client) == expected
    jobs = [open(found.path, "rb").read() for found in (by_client, by_address, by_threads, by_file)]
    assert jobs == [jobs[0]] * 4
    made = [sorted(os.listdir(tmp_path / folder)) for folder in ("0", "1", "2", "file")]
    assert len(made[0]) == 8
    assert made == [made[0]] * 4  # names contain a digest of the summary


def test_a_worker_killed_at_any_moment_costs_nothing(expected, cache, cluster, slow):
    moment = random.random() * 1.2
    print(f"killed after {moment:.3f} s")
    victim = random.choice(cluster.workers())
    killer = threading.Timer(moment, os.kill, (victim, signal.SIGKILL))
    killer.start()
    try:
        assert tables(gpu_profile.ranks(EXAMPLE, cluster.address, cache=cache)) == expected
    finally:
        killer.cancel()
    assert set(read_by(slow)) == set(FILES)


def test_a_worker_that_dies_before_its_first_task_costs_nothing(expected, cache, tmp_path, slow):
    """The first worker that looks up its version dies of it."""
    fatal = script(tmp_path / "fatal", f'*reduce*) ;; *) mkdir "{tmp_path}/died" 2>/dev/null && kill -9 $PPID ;;', slow)
    cluster = Cluster(tmp_path, fatal)
    try:
        assert tables(gpu_profile.ranks(EXAMPLE, cluster.address, cache=cache)) == expected
    finally:
        cluster.close()
    assert (tmp_path / "died").exists()
    assert set(read_by(slow)) == set(FILES)


def test_a_lost_scheduler_costs_only_what_was_not_read(expected, cache, cluster, slow):
    seen = []

    def progress(done, *_):
        seen.append(done)
        if done == 3:
            os.kill(cluster.process.pid, signal.SIGKILL)

    begun = time.monotonic()
    with pytest.raises(gpu_profile.Error, match=r"the workers were lost after \d of 8 files .*; their summaries are kept in") as caught:
        gpu_profile.ranks(EXAMPLE, cluster.address, cache=cache, progress=progress)
    assert caught.value.code == 3
    assert time.monotonic() - begun < HANGS_S / 2
    kept = len(os.listdir(cache))
    assert 3 <= kept == seen[-1] < 8
    (slow.parent / "read").write_text("")
    other = Cluster(slow.parent, slow)
    try:
        assert tables(gpu_profile.ranks(EXAMPLE, other.address, cache=cache)) == expected
    finally:
        other.close()
    assert len(read_by(slow)) == 8 - kept


def test_a_worker_of_another_version_is_refused(cache, tmp_path):
    older = tmp_path / "older"
    older.write_text("#!/bin/sh\necho gpu-profile 0.0.1\n")
    older.chmod(0o755)
    cluster = Cluster(tmp_path, older)
    try:
        with pytest.raises(gpu_profile.Error, match=r"tcp://.* has gpu-profile 0\.0\.1, but this is gpu-profile .*; install the same version"):
            gpu_profile.ranks(EXAMPLE, cluster.address, cache=cache)
    finally:
        cluster.close()
    assert os.listdir(cache) == []


def test_the_command_on_a_cluster(program, cache, cluster, slow, tmp_path, own_python):
    own = json.loads(program.run("ranks", EXAMPLE, "--cache", tmp_path / "own", "--format", "json").stdout)
    there = json.loads(program.run("ranks", EXAMPLE, "--cache", cache, "--dask", cluster.address, "--format", "json").stdout)
    assert there == own
    assert read_by(slow) == FILES
    missing = program.run("ranks", EXAMPLE, "--cache", tmp_path / "none", "--dask", "tcp://127.0.0.1:1")
    assert missing.status == 3
    (line,) = missing.errors
    assert line.startswith("gpu-profile: cannot connect to tcp://127.0.0.1:1: ")
