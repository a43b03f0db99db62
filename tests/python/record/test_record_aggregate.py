"""`record --aggregate`: totals of a job while it runs, in fixed memory, equal to those of a recording, whatever happens to the recorder."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from simulate.judge_totals import demangled, differences, differences_of_phases, drawn_job, moved
from nightly import NIGHTLY
from patience import HANGS_S
from played import PLAY, fake_environment, record_played
from quick_recording import once, script  # noqa: F401
from recordings_of_cupti import FIXTURES, ROOT, kernels_in, lines, script_of_records

# Plays the script once a turn, and ends a step each turn, until the file "end" appears; then says how many turns there were.
JOB = PLAY + """
import gpu_profile, pathlib
folder, turn = pathlib.Path(sys.argv[2]), 0
while not (folder / "end").exists() and turn < 20000:
    gpu_profile.step()
    play(turn)
    turn += 1
    (folder / "turns").write_text(str(turn))
"""


def totals(folder):
    (file,) = folder.glob("*.totals")
    document = json.loads(file.read_text())
    assert document["version"] == 1 and file.stat().st_size < 1_000_000
    return document


def count(document):
    return sum(each["count"] for of in document["ranks"] for each in of["kernels"])


@pytest.mark.parametrize("seed", [1, 5, 6])
def test_totals_of_drawn_jobs_are_those_of_their_records(program, tmp_path, seed):
    assert differences(program, drawn_job(seed), tmp_path, demangled) == []


@pytest.mark.parametrize("recording", ["kern", "memory_bound", "overlap"])
def test_totals_of_recorded_programs_are_those_of_their_recording(program, tmp_path, recording):
    records = moved(lines(FIXTURES / f"{recording}.jsonl.xz", graphs=True))
    names = sorted({record["name"] for record in kernels_in(records)})
    shown = subprocess.run(["c++filt", *names], capture_output=True, text=True, check=True).stdout.splitlines()
    assert differences(program, records, tmp_path, lambda name: dict(zip(names, shown, strict=True)).get(name, name)) == []


@pytest.mark.parametrize("seed", [2, 3])
def test_phases_of_drawn_programs_are_those_of_their_ranges(program, script, once, tmp_path, seed):
    pytest.importorskip("nvtx")
    assert differences_of_phases(program, script, once, tmp_path, seed) == []


class Job:
    def __init__(self, program, script, folder, into, **place):
        self.folder, self.into = folder, into
        folder.mkdir()
        command = [program.path, "record", "--aggregate", "-o", into, "--", sys.executable, "-c", JOB, script, folder]
        self.launcher = subprocess.Popen(list(map(str, command)), env=fake_environment(program, PYTHONPATH=str(ROOT / "python"), **place),
                                         stderr=subprocess.PIPE, text=True)

    def wait_for(self, condition):
        until = time.monotonic() + HANGS_S
        while not condition():
            assert time.monotonic() < until and self.launcher.poll() is None, self.launcher.stderr.read()
            time.sleep(0.05)

    def counted(self):
        return count(totals(self.into)) if list(self.into.glob("*.totals")) else 0

    def end(self):
        (self.folder / "end").touch()
        _, said = self.launcher.communicate(timeout=HANGS_S)
        assert self.launcher.returncode == 0 and said == ""
        return int((self.folder / "turns").read_text())


def test_parts_are_read_beside_the_job_and_restarts_continue(program, script, once, tmp_path):
    """A second recorder of the same folder continues what the first one counted; one at the same time has totals of its own."""
    into = tmp_path / "totals"
    job = Job(program, script, tmp_path / "first", into, RANK="3", WORLD_SIZE="8", SLURM_JOB_ID="77")
    job.wait_for(lambda: job.counted() > 0)  # while it runs
    assert all(len(list(folder.iterdir())) < 20 for folder in into.glob("*.parts-*"))
    turns = job.end()
    first = totals(into)
    assert first["ended"] and count(first) == turns * once
    (of,) = first["ranks"]
    assert (of["rank"], of["job"], of["processes"], of["lost"]) == (3, "77", 1, {})
    assert of["steps"]["count"] == turns - 1  # a step ends where the next one begins
    assert sum(n for _, n in of["steps"]["durations"]) == turns - 1
    again = Job(program, script, tmp_path / "second", into, RANK="3", WORLD_SIZE="8", SLURM_JOB_ID="77")
    again.wait_for(lambda: again.counted() > turns * once)
    done = record_played(program, script_of_records(kernels_in(lines())[:1], tmp_path), into, "--aggregate", play="inline")
    assert done.status == 0
    assert sorted(path.name.rpartition("-")[2] for path in into.glob("*.totals")) == ["0.totals", "1.totals"]
    next(into.glob("*-1.totals")).unlink()
    turns += again.end()
    (of,) = totals(into)["ranks"]
    assert count(totals(into)) == turns * once and of["processes"] == 2
    # no part is left, and no folder of parts
    assert [path.name for path in into.iterdir() if not path.name.startswith(".")] == [next(into.glob("*.totals")).name]


@pytest.mark.skipif(not NIGHTLY, reason="takes 20 s: a part lasts 2 s; ./test --nightly runs it")
def test_a_stopped_recorder_costs_parts_and_no_disk(program, script, once, tmp_path):
    """The process deletes its oldest parts, and the recorder counts them when it goes on."""
    job = Job(program, script, tmp_path / "job", tmp_path / "totals")
    job.wait_for(lambda: job.counted() > 0)
    job.launcher.send_signal(signal.SIGSTOP)
    (folder,) = (tmp_path / "totals").glob("*.parts-*")
    first, most, until = set(folder.glob("*.gpuprof")), 0, time.monotonic() + 20 * HANGS_S
    while any(path.exists() for path in first):
        most = max(most, len(list(folder.glob("*.gpuprof"))))
        assert time.monotonic() < until
        time.sleep(0.05)
    assert most <= 10  # eight finished ones, the current one, and one that is being replaced
    job.launcher.send_signal(signal.SIGCONT)
    turns = job.end()
    (of,) = totals(tmp_path / "totals")["ranks"]
    assert of["lost"].keys() == {"parts"} and 1 <= of["lost"]["parts"] <= 20
    assert 0 < count(totals(tmp_path / "totals")) < turns * once


def test_a_killed_recorder_leaves_its_last_totals_and_the_parts(program, script, tmp_path):
    job = Job(program, script, tmp_path / "job", tmp_path / "totals")
    job.wait_for(lambda: job.counted() > 0)
    job.launcher.send_signal(signal.SIGKILL)
    job.launcher.wait()
    before = count(totals(tmp_path / "totals"))
    (job.folder / "end").touch()
    job.launcher.communicate()  # the job has its streams
    (parts,) = (tmp_path / "totals").glob("*.parts-*")
    done = program.run("record", "--merge", parts, "--aggregate", "-o", tmp_path / "totals")
    assert done.status == 0, done.errors
    assert count(totals(tmp_path / "totals")) >= before


def test_names_do_not_make_it_grow(program, tmp_path):
    """Ten thousand names, also long and hostile ones: nothing is uncounted, and the snapshot stays small."""
    r, base = random.Random(1), moved(lines())
    kernel = next(record for record in base if record["kind"] == "KERNEL")
    call = next(record for record in base if record["kind"] == "RUNTIME" and record["correlationId"] == kernel["correlationId"])
    letters = "ab\\\"\n\x01é漢" + "z" * 20
    records = []
    for number in range(1, 10_001):
        at = call["start"] + number * 1000
        name = f"k{number}" + "".join(r.choice(letters) for _ in range(r.choice((0, 10, 300, 3000))))
        records += [{**call, "start": at, "end": at + 10, "correlationId": number},
                    {**kernel, "start": at + 20, "end": at + 520, "completed": at + 520, "correlationId": number, "name": name}]
    done = record_played(program, script_of_records(records, tmp_path), tmp_path / "totals", "--aggregate", play="inline")
    assert done.status == 0, done.errors
    (of,) = totals(tmp_path / "totals")["ranks"]
    names = [each["name"] for each in of["kernels"]]
    assert len(names) == len(set(names)) <= 2049 and all(len(name.encode()) <= 1024 for name in names)
    assert sum(each["count"] for each in of["kernels"]) == 10_000 and sum(each["total_ns"] for each in of["kernels"]) == 5_000_000
    assert next(each["count"] for each in of["kernels"] if each["name"] == "(other)") > 7000
    assert sum(each["shown"] for each in of["kernels"]) <= 50


@pytest.mark.parametrize("options, sentence", [
    ([], "--aggregate needs -o DIR"),
    (["-o", "x", "--standby"], "exclude each other"),
    (["-o", "x", "--keep-slow", "5"], "--aggregate and --keep-slow exclude each other"),
    (["-o", "x", "--sample", "1"], "--aggregate and --sample exclude each other"),
    (["-o", "x", "--launch-stacks"], "--aggregate and --launch-stacks exclude each other"),
])
def test_what_it_excludes(program, tmp_path, options, sentence):
    done = program.run("record", "--aggregate", *options, "--", "true")
    assert done.status == 2 and sentence in done.errors[0]
    assert not os.path.exists("x")
