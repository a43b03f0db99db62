"""Jobs recorded by older versions of PyTorch, whose collectives are kernels without any description.

All ranks are assumed to take part. A public recording of eight GPUs shows what that is worth, and simulated jobs show where it
would be wrong: with groups of some ranks, or with lost records, nothing may be matched.
"""

import collections
import json
import shutil
import tarfile

import pytest
from conftest import FIXTURES
from rank_jobs import jobs, ranks  # noqa: F401

from tests.ranks.folder import write_job
from tests.ranks.job import Job, Model
from tests.ranks.jobs import slow_gpu
from tests.ranks.kineto import Options

ARCHIVE = FIXTURES / "public" / "dlrm.tar.xz"
US = 1_000
SMALL = Model(layers=2, kernels=4)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The recording of eight workers."""
    folder = tmp_path_factory.mktemp("dlrm")
    with tarfile.open(ARCHIVE) as job:
        for member in job:
            (folder / member.name).write_bytes(job.extractfile(member).read())
    return folder


def kernels_of(path):
    """(Start, end) in nanoseconds of the collectives of one rank, by start."""
    events = json.loads(path.read_text())["traceEvents"]
    return sorted((1000 * event["ts"], 1000 * (event["ts"] + event["dur"])) for event in events
                  if event.get("cat") == "kernel" and event["name"].startswith("nccl"))


@pytest.fixture
def dlrm(whole, tmp_path):
    """Return a function that writes the recording with a changed event list of some workers."""

    def changed(change, workers=(3,)):
        place = tmp_path / "job"
        shutil.copytree(whole, place)
        for worker in workers:
            trace = json.loads((whole / f"worker{worker}.json").read_text())
            change(trace["traceEvents"])
            (place / f"worker{worker}.json").write_text(json.dumps(trace))
        return place

    return changed


def test_a_public_job_of_one_machine_is_matched_by_its_clock(ranks, whole):
    tables = ranks(whole, "ranks", "hosts", "rank_collectives", "stragglers")
    assert [(row["host"], row["ranks"]) for row in tables["hosts"]] == [("of ranks 0-7", 8)]
    found = {row["collective"]: row for row in tables["rank_collectives"]}
    assert {kind: (row["instances"], row["complete_pct"], row["matched_by"]) for kind, row in found.items()} == {
        "all_reduce": (3, 100, "order, group assumed"), "all_to_all": (5, 100, "order, group assumed")}
    # From the files themselves: all eight collectives of a rank in order, whatever their kind.
    spans = [kernels_of(whole / f"worker{rank}.json") for rank in range(8)]
    for row, own in zip(tables["ranks"], spans, strict=True):
        waits = [max(start for start, _ in members) - start for (start, _), members in zip(own, zip(*spans, strict=True), strict=True)]
        assert row["wait_ns"] == pytest.approx(sum(waits), abs=20 * US)
    ends = [[end for _, end in members] for members in zip(*spans, strict=True)]
    assert max(max(each) - min(each) for each in ends) < 20 * US  # the clock says that these are the same collectives


def test_one_step_names_nobody(program, ranks, tmp_path, whole):
    said = " ".join(program.run("ranks", whole, "--cache", tmp_path / "cache").stdout.decode().split())
    assert "cannot tell low confidence" in said
    assert "one step is too few to tell chance from habit, so nobody is named; 11.6 % of a step of 16.0 ms is lost" in said
    assert not any(row["named"] for row in ranks(whole, "stragglers")["stragglers"])
    assert {row["error_ns"] for row in ranks(whole, "stragglers")["stragglers"]} == {None}


def test_a_recording_without_steps_is_one(dlrm, ranks, whole):
    def unmarked(events):
        events[:] = [event for event in events if not event["name"].startswith("ProfilerStep")]

    place = dlrm(unmarked, range(8))
    tables = ranks(place, "ranks", "losses")
    before = ranks(whole, "ranks")["ranks"]
    assert collections.Counter(row["kind"] for row in tables["losses"])["no_steps"] == 8
    assert [row["steps"] for row in tables["ranks"]] == [1] * 8
    for column in ("compute_ns", "wait_ns", "exposed_comm_ns"):
        assert [row[column] for row in tables["ranks"]] == pytest.approx([row[column] for row in before], rel=0.01)


def test_another_clock_is_of_another_machine(dlrm, ranks):
    def later(events):
        for event in events:
            if "ts" in event:
                event["ts"] += 5_000

    tables = ranks(dlrm(later), "hosts", "ranks")
    assert [(row["host"], row["aligned"]) for row in tables["hosts"]] == [("of ranks 0-2,4-7", False), ("rank 3", False)]
    # A step of all ranks is matched whole or not at all, and unknown waits are no zeros.
    assert {row["wait_ns"] for row in tables["ranks"]} == {None}


def test_a_lost_collective_is_no_other_one(dlrm, program, tmp_path):
    def lost(events):
        events.remove(next(event for event in events if event.get("cat") == "kernel" and "AllReduce" in event["name"]))

    said = " ".join(program.run("ranks", dlrm(lost), "--cache", tmp_path / "cache").stdout.decode().split())
    assert "of the collectives are missing on ranks that took part in them, or cannot be matched" in said


def simulated(folder, **layout):
    """A job; its files name their host, which several streams need, if `per_host` is given."""
    return write_job(Job("undescribed", model=SMALL, steps=10, **layout), 1, folder, Options(collectives=False, host_name="per_host" in layout))


@pytest.mark.parametrize("layout", [{"dp": 8}, {"dp": 16, "sync": "all_reduce", "buckets": 3}, {"dp": 1, "tp": 8},
                                    {"dp": 8, "sync": "all_reduce", "buckets": 4, "overlap": True}, {"dp": 8, "world_sync": True, "per_host": 8}], ids=str)
def test_a_slow_gpu_among_all_ranks_has_its_price(ranks, tmp_path, layout):
    truth = simulated(tmp_path / "job", faults=(slow_gpu(5),), **layout)
    tables = ranks(tmp_path / "job", "stragglers")
    named = [row for row in tables["stragglers"] if row["named"]]
    assert [(row["unit"], row["cause"]) for row in named] == [("rank 5", "slow GPU")]
    assert named[0]["cost_ns"] == pytest.approx(truth["faults"][0]["cost_ns"], rel=0.05, abs=0.005 * truth["step_ns"])


def test_all_ranks_may_be_those_with_a_file(ranks, tmp_path):
    write_job(Job("plain", dp=8, model=SMALL, steps=10, faults=(slow_gpu(5),)), 1, tmp_path / "job", Options(collectives=False, distributed=False))
    tables = ranks(tmp_path / "job", "stragglers", "rank_collectives")
    assert {(row["size"], row["complete_pct"]) for row in tables["rank_collectives"]} == {(8, 100)}
    assert [row["unit"] for row in tables["stragglers"] if row["named"]] == ["rank 5"]


@pytest.mark.parametrize("layout", [{"dp": 8}, {"dp": 16}], ids=str)
def test_even_ranks_have_no_straggler(ranks, tmp_path, layout):
    simulated(tmp_path / "job", **layout)
    assert [row for row in ranks(tmp_path / "job", "stragglers")["stragglers"] if row["named"]] == []


@pytest.mark.parametrize("layout", [{"dp": 4, "tp": 2}, {"dp": 2, "pp": 4}, {"dp": 4, "tp": 2, "sync": "none"}, {"dp": 2, "tp": 4, "sync": "none"},
                                    {"dp": 4, "tp": 4, "per_host": 4, "sync": "none"}, {"dp": 4, "tp": 2, "per_host": 8},
                                    {"dp": 4, "tp": 2, "per_host": 8, "kernel_jitter": 0, "gpu_spread": 0},
                                    {"dp": 4, "tp": 2, "per_host": 8, "kernel_jitter": 0, "gpu_spread": 0, "sync": "none"}], ids=str)
def test_groups_of_some_ranks_are_not_taken_for_all(program, tmp_path, layout):
    """With several groups of a rank, or one group that is not all ranks and runs next to others, also in lockstep."""
    simulated(tmp_path / "job", faults=(slow_gpu(5),), **layout)
    said = " ".join(program.run("ranks", tmp_path / "job", "--cache", tmp_path / "cache").stdout.decode().split())
    assert "cannot tell" in said
    assert "no collective was found on two ranks" in said


def test_lost_events_are_missed(program, tmp_path):
    write_job(Job("lossy", dp=8, model=SMALL), 1, tmp_path / "job", Options(collectives=False, lost=0.1))
    said = " ".join(program.run("ranks", tmp_path / "job", "--cache", tmp_path / "cache").stdout.decode().split())
    assert "of the collectives are missing on ranks that took part in them, or cannot be matched" in said
    assert "high confidence" not in said
    assert "medium confidence" not in said
