"""`ranks` against the truth of simulated jobs (tests/ranks), against published results, and with damaged folders."""

import gzip
import json
import re
import shutil
import subprocess
import sys

import pytest
from conftest import FIXTURES
from nightly import times
from rank_jobs import EXAMPLE, job_cache, jobs, ranks  # noqa: F401


def unit_of(fault, host_names):
    """Return the words with which the program names the unit of a fault."""
    kind, *place = fault["unit"]
    if kind == "host":
        return f"host node{place[0]:03d}" if host_names else f"host of ranks {fault['ranks'][0]}-{fault['ranks'][-1]}"
    if kind == "rank":
        return f"rank {place[0]}"
    return "changing ranks" if kind == "job" else "group"


CAUSES = {"pause": "pauses"}


def matches(row, fault, host_names):
    words = unit_of(fault, host_names)
    return (row["unit"] == words or (words == "group" and row["unit"].startswith("group "))) and row["cause"] == CAUSES.get(fault["cause"], fault["cause"])


def check(rows, truth, host_names=False):
    """Every fault that must be named is, with its price; nothing else is named."""
    step = truth["step_ns"]
    named = [row for row in rows if row["named"]]
    for fault in truth["faults"]:
        found = [row for row in named if matches(row, fault, host_names)]
        if fault["named"] == "must":
            assert len(found) == 1, (fault, rows)
            assert found[0]["cost_ns"] == pytest.approx(fault["cost_ns"], rel=0.05, abs=0.005 * step), fault
            assert found[0]["alone_ns"] == pytest.approx(fault["alone_ns"], rel=0.25, abs=0.005 * step), fault
        elif fault["named"] == "must not":
            assert not found, fault
    for row in named:
        assert any(matches(row, fault, host_names) for fault in truth["faults"]), row


SHORT = ("--steps", "10")  # where a fault is in every step


@pytest.mark.parametrize("seed", times([1, 2], [1]))
@pytest.mark.parametrize(("name", "options"), [("gpu", SHORT), ("host", SHORT), ("data", ()), ("pause", ()), ("link", SHORT), ("work", SHORT), ("hidden", SHORT)])
def test_a_planted_fault_is_named_with_its_price(ranks, jobs, name, options, seed):
    place, truth = jobs(name, *options, seed=seed)
    check(ranks(place, "stragglers")["stragglers"], truth)


@pytest.mark.parametrize("seed", times(range(1, 6), [1]))
@pytest.mark.parametrize("name", ["clean-8", "clean-16", "overlap", "experts"])
def test_nobody_is_named_in_a_clean_job(ranks, jobs, name, seed):
    place, truth = jobs(name, "--steps", "8", seed=seed)
    rows = ranks(place, "stragglers")["stragglers"]
    assert not [row for row in rows if row["named"]], truth["faults"]


MIXED = ("mixed", "--host-names", "--no-operators")


@pytest.mark.parametrize("options", times([MIXED, ("mixed",)], [MIXED]), ids=len)
def test_several_faults_at_once(ranks, jobs, options):
    """The pauses of this job hide behind waits for the slow group: only the launches show them."""
    place, truth = jobs(*options)
    check(ranks(place, "stragglers")["stragglers"], truth, host_names=options is MIXED)


def test_offsets_of_clocks(ranks, jobs):
    place, truth = jobs(*MIXED)
    hosts = ranks(place, "hosts")["hosts"]
    assert all(host["aligned"] for host in hosts)
    true = {row["host"]: row["offset_ns"] for row in truth["clocks"]["hosts"]}
    number = {host["host"]: int("".join(c for c in host["host"] if c.isdigit())) for host in hosts}
    # The common clock is nobody's: only differences count.
    shift = sum(true[number[h["host"]]] - h["offset_ns"] for h in hosts) / len(hosts)
    errors = [abs(true[number[h["host"]]] - h["offset_ns"] - shift) for h in hosts]
    stated = [host["error_ns"] for host in hosts]
    assert sorted(errors)[len(errors) // 2] < 2_000
    assert max(errors) < 10_000
    assert sum(error <= limit for error, limit in zip(errors, stated, strict=True)) >= 0.9 * len(errors)


def test_a_public_job_with_a_slow_rank(ranks, jobs):
    """The published analysis says that rank 0 alone slows the job down by 1.98 (tests/fixtures/ranks)."""
    place, truth = jobs("AR")
    (row, *_) = ranks(place, "stragglers")["stragglers"]
    assert (row["unit"], row["named"]) == ("rank 0", True)
    slowdown = 1 / (1 - row["cost_pct"] / 100)
    assert slowdown == pytest.approx(truth["slowdown_by_rank"]["0"] if "slowdown_by_rank" in truth else 1.979, rel=0.04)


def saved(program, place, folder, *words):
    capture = folder / "job.gpuprof"
    program.run("ranks", place, "ranks", "--save", capture, "--cache", folder / "cache", *words)
    return capture.read_bytes()


def test_the_same_bytes_with_any_number_of_workers(program, tmp_path):
    one = tmp_path / "one"
    four = tmp_path / "four"
    one.mkdir(), four.mkdir()
    assert saved(program, EXAMPLE, one, "--workers", "1") == saved(program, EXAMPLE, four, "--workers", "4")


def test_summaries_made_elsewhere_are_a_job(program, ranks, tmp_path):
    place = tmp_path / "summaries"
    place.mkdir()
    for file in sorted(EXAMPLE.iterdir()):
        assert program.run("ranks", "reduce", file, "-o", place / f"{file.name}.gpuprof").status == 0
    tables = ("stragglers", "ranks", "job_steps", "rank_collectives", "hosts")
    assert ranks(place, *tables) == ranks(EXAMPLE, *tables)
    job = tmp_path / "job.gpuprof"
    assert program.run("ranks", place, "ranks", "--save", job, "--cache", tmp_path / "cache").status == 0
    assert ranks(job, *tables) == ranks(EXAMPLE, *tables)
    assert program.report(job, "stragglers")["stragglers"].rows[0]["unit"] == "rank 5"


def test_parts_of_a_job_are_merged_in_any_order(program, ranks, tmp_path):
    """Saved parts hold rows of ranks that they lack; together they are the job, whatever the tree, the order and what is given twice."""
    files = sorted(EXAMPLE.iterdir())

    def merged(name, *parts):
        assert program.run("ranks", *parts, "ranks", "--save", tmp_path / name, "--cache", tmp_path / "cache").status == 0
        return tmp_path / name

    odd, even = merged("odd.gpuprof", *files[1::2]), merged("even.gpuprof", *files[::2])
    low, high = merged("low.gpuprof", *files[:3]), merged("high.gpuprof", *files[3:])
    nested = merged("nested.gpuprof", merged("two.gpuprof", low, files[3]), merged("rest.gpuprof", *files[6:], *files[4:6]))
    whole = merged("whole.gpuprof", *files)
    tables = ("stragglers", "ranks", "job_steps", "rank_collectives", "hosts", "imbalance", "links")
    expected = ranks(EXAMPLE, *tables)
    for parts in ([odd, even], [even, odd], [high, low], [nested], [high, low, low], [odd, *files[::2]]):
        assert ranks(*parts, *tables) == expected, parts
    assert merged("again.gpuprof", high, low).read_bytes() == merged("once.gpuprof", low, high).read_bytes()
    assert ranks(whole, whole, *tables) == expected
    assert [row["status"] for row in ranks(odd, "ranks")["ranks"]] == ["missing", "whole"] * 4


def test_a_second_run_reads_the_cache(ranks, tmp_path):
    place = shutil.copytree(EXAMPLE, tmp_path / "job")
    first = ranks(place, "ranks", cache=tmp_path / "cache")
    kept = {path.name for path in (tmp_path / "cache").iterdir()}
    assert len(kept) == 8
    assert ranks(place, "ranks", cache=tmp_path / "cache") == first
    assert {path.name for path in (tmp_path / "cache").iterdir()} == kept
    (tmp_path / "cache" / min(kept)).write_bytes(b"not a capture")
    rows = ranks(place, "ranks", cache=tmp_path / "cache")["ranks"]
    assert sorted(row["status"] for row in rows) == ["unreadable", *["whole"] * 7] or [row["status"] for row in rows] == ["whole"] * 8


def test_every_missing_cut_and_damaged_rank_is_a_row(ranks, jobs):
    place, truth = jobs("cut")
    tables = ranks(place, "ranks", "stragglers")
    status = {row["rank"]: row["status"] for row in tables["ranks"]}
    assert (status[2], status[9], status[5], status[11]) == ("cut", "cut", "missing", "unreadable")
    assert sum(value == "whole" for value in status.values()) == 12
    assert len(status) == 16
    assert all(row["reason"] for row in tables["ranks"] if row["status"] != "whole")
    assert not [row for row in tables["stragglers"] if row["named"]]


def test_expect_adds_ranks_that_no_file_knows(ranks):
    rows = ranks(EXAMPLE, "ranks", "--expect", "10")["ranks"]
    assert [(row["rank"], row["status"]) for row in rows][-2:] == [(8, "missing"), (9, "missing")]


@pytest.mark.parametrize(("name", "said"), [
    ("half", "low confidence, from the timeline no rank, host or group costs 1 %"),
    ("half", "no median can tell which half is right"),
    ("gap", "ranks are idle without a recorded cause (rank 3 most, 20.0 ms per step)"),
    ("gap", "no stragglers medium confidence"),
    ("mixed", "stragglers high confidence"),
])
def test_the_verdict_is_no_surer_than_it_can_be(program, jobs, job_cache, name, said):
    place, _ = jobs(*MIXED) if name == "mixed" else jobs(name, *SHORT)
    done = program.run("ranks", place, "--cache", job_cache)
    assert said in " ".join(done.stdout.decode().split())


def test_two_jobs_in_one_folder_are_told_apart(program, jobs, tmp_path):
    place, _ = jobs("foreign")
    done = program.run("ranks", place, "--cache", tmp_path / "cache")
    assert done.status == 3
    said = done.stderr.decode()
    assert "the files are of 2 jobs; choose one with --job N" in said
    assert "job 1 has 8 files: ranks 0-7 of 8" in said and "job 2 has 4 files: ranks 0-3 of 4" in said
    chosen = program.run("ranks", place, "--job", "2", "--cache", tmp_path / "cache").stdout.decode()
    assert ": 4 ranks, 20 steps" in " ".join(chosen.split())


def test_a_file_that_needs_too_much_memory_costs_its_rank_only(ranks, jobs, tmp_path):
    place, _ = jobs("gpu", "--steps", "4", "--ranks", "0-2")
    place = shutil.copytree(place, tmp_path / "job")
    with gzip.open(place / "rank00003.json.gz", "wb", 1) as file:
        file.write(b'{"schemaVersion": 1, "distributedInfo": {"rank": 3, "world_size": 8}, "traceEvents": [{"ph": "X", "name": "' + b"x" * 150_000_000)
    rows = ranks(place, "ranks", "--memory", "64000000")["ranks"]
    assert [row["status"] for row in rows][:4] == ["whole", "whole", "whole", "unreadable"]


@pytest.mark.parametrize(("words", "message"), [
    (["no-such-folder"], "neither an existing path nor a table"),
    ([EXAMPLE, "--rank-from", "rank("], "is not a regular expression with one group"),
    ([EXAMPLE, "no_such_table"], "the tables of a job are ranks, stragglers"),
    (["reduce", EXAMPLE / "rank00000.json.gz"], "ranks reduce needs one FILE and --output SUMMARY"),
    (["stragglers"], "name the recordings"),
])
def test_wrong_input_has_one_line(program, tmp_path, words, message):
    done = program.run("ranks", *words, "--cache", tmp_path / "cache")
    assert done.status in (2, 3)
    assert message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_a_folder_without_recordings_is_refused(program, tmp_path):
    place = tmp_path / "job"
    place.mkdir()
    (place / "notes.txt").write_text("nothing")
    done = program.run("ranks", place, "--cache", tmp_path / "cache")
    assert done.status == 3
    assert "none of the 1 files is of a rank" in done.stderr.decode()


def test_a_real_job_of_two_processes_without_a_gpu(ranks, tmp_path):
    """torchrun with Gloo, whose collectives name neither group nor number: they are matched by order, kind and size."""
    place = tmp_path / "job"
    place.mkdir()
    for rank in (0, 1):
        shutil.copy(FIXTURES / "ranks" / f"gloo-rank{rank}.json.gz", place)
    tables = ranks(place, "ranks", "rank_collectives", "stragglers")
    assert [(row["rank"], row["host"], row["status"], row["steps"]) for row in tables["ranks"]] == [(0, "vm", "whole", 3), (1, "vm", "whole", 3)]
    assert all(row["wait_ns"] > 0 and row["exposed_comm_ns"] > row["wait_ns"] for row in tables["ranks"])
    assert {row["matched_by"] for row in tables["rank_collectives"]} == {"order, group assumed"}
    assert {(row["collective"], row["bytes"]) for row in tables["rank_collectives"]} >= {("all_reduce", 546_856), ("all_reduce", 4096), ("broadcast", 4096)}
    assert all(row["instances"] % 3 == 0 and row["complete_pct"] == 100 for row in tables["rank_collectives"])
    assert tables["stragglers"] == []


def test_report_of_one_rank_names_the_command(program):
    done = program.run("report", EXAMPLE / "rank00000.json.gz", "ranks")
    assert "gpu-profile ranks FOLDER" in done.stdout.decode()


def test_a_killed_run_continues(program, tmp_path):
    """Summaries that were made before the end are not made again."""
    cache = tmp_path / "cache"
    process = subprocess.Popen([program.path, "ranks", EXAMPLE, "ranks", "--workers", "1", "--cache", cache], stdout=subprocess.DEVNULL)
    while not (cache.exists() and any(path.suffix == ".gpuprof" and not path.name.startswith(".") for path in cache.iterdir())):
        assert process.poll() is None or cache.exists()
    process.kill()
    process.wait()
    before = {path.name: path.stat().st_mtime_ns for path in cache.iterdir() if not path.name.startswith(".")}
    program.run("ranks", EXAMPLE, "ranks", "--cache", cache)
    after = {path.name: path.stat().st_mtime_ns for path in cache.iterdir()}
    assert all(after[name] == time for name, time in before.items())
