"""`gpu_profile.ranks`: the same tables with every engine, and what a lost worker, file or storage costs."""

import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from job_engines import EXAMPLE, ROOT, Now, cache, expected, fake_distributed, tables  # noqa: F401

import gpu_profile
from gpu_profile.many_ranks import engines
from gpu_profile.many_ranks.files import RankFile
from gpu_profile.many_ranks.reduction import failed, program_version, reduce_batch


@pytest.fixture
def one_file_per_task(monkeypatch):
    monkeypatch.setattr(engines, "_SMALL_FILES_PER_TASK", 1)


@pytest.fixture
def impostor(tmp_path, monkeypatch):
    """A program that does something else for some files, given as a case of a shell, and is the real one otherwise."""

    def make(case):
        real, program = gpu_profile.binary(), tmp_path / "impostor"
        program.write_text(f'#!/bin/sh\ncase "$*" in\n{case}\nesac\nexec "{real}" "$@"\n')
        program.chmod(0o755)
        monkeypatch.setenv("GPUPROF_BIN", str(program))
        return program

    return make


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors_give_the_tables_of_the_program(expected, cache, pool, one_file_per_task):
    with pool(2) as executor:
        assert tables(gpu_profile.ranks(EXAMPLE, executor, cache=cache)) == expected


def test_own_threads_give_the_tables_of_the_program(expected, cache):
    seen = []
    found = gpu_profile.ranks(str(EXAMPLE / "*.json.gz"), cache=cache, workers=1, progress=lambda *numbers: seen.append(numbers))
    assert tables(found) == expected
    assert [numbers[:2] for numbers in seen] == [(done, 8) for done in range(1, 9)]
    assert seen[-1][2:] == (sum(file.stat().st_size for file in EXAMPLE.iterdir()), 0)


def test_what_a_job_offers(cache, tmp_path):
    found = gpu_profile.ranks(EXAMPLE, cache=cache, expect=9)
    assert found.verdict["name"] == "stragglers"
    assert found.report().to_dict()["unit"][0] == "rank 5"
    assert found.report("ranks").to_dict()["rank"] == list(range(9))
    assert found.losses.to_dict() == {"rank": [8], "file": [None], "status": ["missing"], "reason": ["no file"]}
    assert len(found.sql("SELECT * FROM rank_step")) == 64
    assert len(found.rank(3).kernels) == len(gpu_profile.open(EXAMPLE / "rank00003.json.gz").kernels) > 0
    with pytest.raises(gpu_profile.Error, match="cannot open rank 8: it has no file"):
        found.rank(8)
    found.save(tmp_path / "job.gpuprof")
    assert tables(gpu_profile.open(tmp_path / "job.gpuprof")) == tables(found)
    with pytest.raises(gpu_profile.Error, match="cannot write"):
        found.save(tmp_path / "no such folder" / "job.gpuprof")
    folder = os.path.dirname(found.path)
    del found
    assert not os.path.exists(folder)


def test_dask_by_address(expected, cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", fake_distributed())
    assert tables(gpu_profile.ranks(EXAMPLE, "tcp://scheduler:8786", cache=cache)) == expected


def test_small_files_share_a_task_and_large_ones_come_first():
    sizes = [100, 9_000_000, *[200] * 17, 6_000_000, -1]
    tasks = [task.files for task in engines._tasks([RankFile(str(number), "", "", size, "") for number, size in enumerate(sizes)], 16)]
    assert tasks[:3] == [[1], [19], [20]]
    assert [len(files) for files in tasks[3:]] == [16, 2]
    assert tasks[-1][-1] == 0


def test_few_tasks_are_given_out_at_once(cache, one_file_per_task):
    waiting, most = set(), 0

    class Counted(ThreadPoolExecutor):
        def submit(self, *task):
            nonlocal most
            future = super().submit(*task)
            waiting.add(future)
            most = max(most, sum(not each.done() for each in waiting))
            return future

    with Counted(1) as executor:
        gpu_profile.ranks(EXAMPLE, executor, cache=cache)
    assert len(waiting) == 9  # with the question for the version
    assert most <= 4


def test_the_second_run_has_no_tasks(expected, cache):
    gpu_profile.ranks(EXAMPLE, Now(), cache=cache)
    engine = Now()
    assert tables(gpu_profile.ranks(EXAMPLE, engine, cache=cache)) == expected
    assert engine.tasks == []
    (cache / min(os.listdir(cache))).write_bytes(b"damaged")
    assert tables(gpu_profile.ranks(EXAMPLE, engine, cache=cache)) == expected
    assert [len(files) for files in engine.tasks] == [1]


def test_a_changed_file_is_read_again(cache, tmp_path):
    place = shutil.copytree(EXAMPLE, tmp_path / "job")
    gpu_profile.ranks(place, Now(), cache=cache)
    os.utime(place / "rank00006.json.gz", (0, 0))
    engine = Now()
    gpu_profile.ranks(place, engine, cache=cache)
    assert engine.tasks == [["rank00006.json.gz"]]


def test_a_killed_worker_costs_nothing(expected, cache, impostor, one_file_per_task, tmp_path, monkeypatch):
    """It breaks a ProcessPoolExecutor for good; threads of this process read what is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # for what a killed process leaves
    impostor(f'*reduce*rank00003*) mkdir "{tmp_path}/once" 2>/dev/null && kill -KILL $PPID ;;')
    with ProcessPoolExecutor(2) as executor, pytest.warns(RuntimeWarning, match="the executor is broken"):
        found = gpu_profile.ranks(EXAMPLE, executor, cache=cache)
    assert (tmp_path / "once").exists()
    assert tables(found) == expected


def test_a_file_that_loses_its_worker_twice_costs_its_rank_only(cache):
    engine = Now(lost=("rank00003.json.gz",))
    found = gpu_profile.ranks(EXAMPLE, engine, cache=cache)
    assert found.losses.to_dict() == {"rank": [3], "file": [str(EXAMPLE / "rank00003.json.gz")], "status": ["unreadable"],
                                      "reason": ["its worker was lost twice: MemoryError: the worker is gone"]}
    assert [len(files) for files in engine.tasks] == [8, *[1] * 8]
    assert found.table("ranks").to_dict()["status"] == ["whole"] * 3 + ["unreadable"] + ["whole"] * 4


@pytest.mark.parametrize(("does", "reason"), [
    ("exec sleep 60", "reading it took longer than 2 s"),
    ("kill -SEGV $$", f"the process that read it was ended by {signal.strsignal(signal.SIGSEGV)}"),
    ("exit 7", "the process that read it ended with status 7"),
    ("echo 'gpu-profile: no more disk' >&2; exit 3", "no more disk"),
])
def test_a_file_that_stops_its_reader_costs_its_rank_only(cache, impostor, does, reason):
    impostor(f"*reduce*rank00002*) {does} ;;")
    numbers = []
    with ThreadPoolExecutor(2) as executor:
        found = gpu_profile.ranks(EXAMPLE, executor, cache=cache, time_out=2, progress=lambda *seen: numbers.append(seen))
    assert found.losses.to_dict()["rank"] == [2]
    assert found.losses.to_dict()["reason"] == [reason]
    assert numbers[-1][3] == 1
    assert found.table("ranks").to_dict()["status"].count("whole") == 7


def test_losses_are_those_of_the_program(cache, tmp_path):
    place = shutil.copytree(EXAMPLE, tmp_path / "job")
    (place / "notes.txt").write_text("nothing")
    (place / "rank00001.json.gz").unlink()
    (place / "rank00004.json.gz").write_bytes(b"")
    (place / "rank00009.json").write_text('{"traceEvents":')
    program, threads = (gpu_profile.ranks(place, client, cache=cache) for client in (None, Now()))
    lost = threads.losses.to_dict()
    assert list(zip(lost["rank"], lost["status"])) == [(1, "missing"), (4, "unreadable"), (9, "unreadable")]
    order = "SELECT * FROM rank ORDER BY rank"  # the program adds lost ranks last
    assert threads.sql(order).to_dict() == program.sql(order).to_dict()
    assert {**tables(threads), "rank": None} == {**tables(program), "rank": None}
    assert str(place / "notes.txt") in threads.report("losses").to_dict()["place"]


def test_a_lost_engine_keeps_what_it_made(expected, cache, one_file_per_task):
    class Closing(Now):
        def submit(self, function, *arguments):
            if len(self.tasks) == 3:
                raise RuntimeError("cannot schedule new futures after shutdown")
            return super().submit(function, *arguments)

        _max_workers = 1

    with pytest.raises(gpu_profile.Error) as caught:
        gpu_profile.ranks(EXAMPLE, Closing(), cache=cache, workers=1)
    assert caught.value.code == 3
    assert f"kept in {cache}, so the same call reads only the others" in caught.value.message
    kept = len(os.listdir(cache))
    engine = Now()
    assert tables(gpu_profile.ranks(EXAMPLE, engine, cache=cache)) == expected
    assert len(engine.tasks) == 8 - kept


def test_workers_of_another_version_are_refused(cache, tmp_path):
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho gpu-profile 0.0.1\n")
    other.chmod(0o755)
    engine = Now(program=other)
    with pytest.raises(gpu_profile.Error, match=r"has gpu-profile 0\.0\.1, but this is gpu-profile .*; install the same version"):
        gpu_profile.ranks(EXAMPLE, engine, cache=cache)
    assert engine.tasks == []
    with pytest.raises(gpu_profile.Error, match="a worker cannot run gpu-profile: .*is not an executable file"):
        gpu_profile.ranks(EXAMPLE, Now(program=tmp_path / "absent"), cache=cache)
    file = str(EXAMPLE / "rank00000.json.gz")
    outcomes = reduce_batch([(file, "", file, 1, "")], {}, "gpu-profile 0.0.1", 60)
    assert outcomes == [failed(f"the worker has {program_version()}, but the job needs gpu-profile 0.0.1")]


@pytest.mark.parametrize("client", [None, Now()])
@pytest.mark.parametrize(("names", "said"), [
    (["absent"], "absent: no such file or folder"),
    (["a*.json"], "no such file or folder"),
    ([], "name the recordings"),
    (["empty"], "no files"),
    (["notes"], "none of the 1 files is of a rank"),
])
def test_wrong_paths_have_one_line(tmp_path, cache, client, names, said):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes").write_text("nothing")
    with pytest.raises(gpu_profile.Error, match=said) as caught:
        gpu_profile.ranks([tmp_path / name for name in names], client, cache=cache)
    assert "\n" not in caught.value.message


def test_two_files_of_one_rank_are_named(tmp_path, cache):
    place = shutil.copytree(EXAMPLE, tmp_path / "job")
    text = gzip.decompress((place / "rank00002.json.gz").read_bytes()).replace(b'"rank": 2', b'"rank": 1').replace(b'"rank":2', b'"rank":1')
    (place / "rank00002.json.gz").write_bytes(gzip.compress(text))
    with pytest.raises(gpu_profile.Error) as caught:
        gpu_profile.ranks(place, Now(), cache=cache)
    assert f"{place}/rank00001.json.gz and {place}/rank00002.json.gz are both of rank 1" in caught.value.message


def test_wrong_clients(cache, monkeypatch):
    with pytest.raises(gpu_profile.Error, match=r"an executor with submit\(\), not int"):
        gpu_profile.ranks(EXAMPLE, 4, cache=cache)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(gpu_profile.Error, match="cannot connect to tcp://host:1: distributed is missing"):
        gpu_profile.ranks(EXAMPLE, "tcp://user:secret@host:1", cache=cache)


def test_a_cache_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(gpu_profile.Error, match="name another folder with --cache") as caught:
        gpu_profile.ranks(EXAMPLE, Now(), cache=tmp_path / "file" / "cache")
    assert caught.value.code == 5


@pytest.mark.parametrize("reason", ["cut", "é" * 100, "x" * 20_000])
def test_the_reason_of_a_lost_rank_is_told_whole(cache, tmp_path, reason):
    class Losing(Now):
        def run(self, function, arguments):
            return [failed(reason)] * len(arguments[0]) if arguments and "r300" in arguments[0][0][0] else super().run(function, arguments)

    shutil.copy(EXAMPLE / "rank00003.json.gz", tmp_path / "r300.json.gz")
    (tmp_path / "r300.json.gz").write_bytes((tmp_path / "r300.json.gz").read_bytes() + bytes(5_000_000))  # a task of its own
    found = gpu_profile.ranks([EXAMPLE, tmp_path / "r300.json.gz"], Losing(), cache=cache)
    assert found.losses.to_dict() == {"rank": [300], "file": [str(tmp_path / "r300.json.gz")], "status": ["unreadable"], "reason": [reason]}
    assert found.report("losses").to_dict()["kind"] == []


PAGE = '''
import sys
from concurrent.futures import ThreadPoolExecutor
sys.path.insert(0, sys.argv[1])
from job_engines import fake_distributed
sys.modules["distributed"] = fake_distributed()
if __name__ == "__main__":
'''


def test_the_page_runs(tmp_path):
    """The Python blocks of docs/ranks.md below "From Python" run one after the other, with a stand-in for Dask."""
    text = (ROOT / "docs" / "ranks.md").read_text().split("\n## From Python", 1)[1].split("\n## ", 1)[0]
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    shutil.copytree(EXAMPLE, tmp_path / "traces")
    page = tmp_path / "page.py"
    page.write_text(PAGE + textwrap.indent("".join(blocks), "    "))
    search = os.pathsep.join([str(ROOT / "python"), *sys.path])
    done = subprocess.run([sys.executable, page, Path(__file__).parent], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": search, "XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert done.returncode == 0, done.stderr
    assert "rank 5 (slow GPU) costs 15.9 ms" in done.stdout
    assert (tmp_path / "job.gpuprof").exists()
