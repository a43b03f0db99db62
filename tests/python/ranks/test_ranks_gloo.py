"""A real job of four processes on one machine without a GPU, recorded twice: with a rank whose batches come 30 ms late, and without it.

What the lateness costs according to `ranks` is compared with what removing it saved.
"""

import collections
import json
import re
import shutil
import subprocess
import textwrap
from statistics import fmean, median

import pytest
from conftest import FIXTURES
from rank_jobs import ranks  # noqa: F401

LATE, EVEN = FIXTURES / "gloo" / "late", FIXTURES / "gloo" / "even"
STEPS = range(10, 20)


def unpacked(path):
    return subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True, text=True).stdout


def ranges_of(path):
    """(Start, end) in nanoseconds, by name; steps together."""
    found = collections.defaultdict(list)
    for event in json.loads(unpacked(path))["traceEvents"]:
        if event.get("cat") == "user_annotation":
            name = "ProfilerStep" if event["name"].startswith("ProfilerStep") else event["name"]
            found[name].append((1000 * event["ts"], 1000 * (event["ts"] + event["dur"])))
    return found


def length(ranges):
    return sum(end - start for start, end in ranges)


def mean_step(tables):
    return fmean(row["dur_ns"] for row in tables["job_steps"])


def transfer_of(tables):
    """Of a step: collectives without waiting for the last rank. Four ranks that reduce at once share two cores."""
    return fmean(row["exposed_comm_ns"] - row["wait_ns"] for row in tables["ranks"])


def test_the_price_is_what_removing_the_cause_saved(ranks):
    late, even = ranks(LATE, "stragglers", "job_steps", "ranks"), ranks(EVEN, "job_steps", "ranks")
    named = [row for row in late["stragglers"] if row["named"]]
    assert [(row["unit"], row["cause"]) for row in named] == [("rank 1", "late data")]
    # A price assumes that all else stays as it is, so transfers count as long as in the job with the late rank.
    alike = mean_step(even) - (transfer_of(even) - transfer_of(late))
    assert named[0]["cost_ns"] == pytest.approx(mean_step(late) - alike, rel=0.15)
    # Nothing else is left to save.
    assert fmean(row["ideal_ns"] for row in late["job_steps"]) == pytest.approx(alike, rel=0.15)


def test_an_even_job_has_no_stragglers(ranks):
    assert [row["unit"] for row in ranks(EVEN, "stragglers")["stragglers"] if row["named"]] == []


@pytest.mark.parametrize("job", [LATE, EVEN])
def test_collectives_of_even_steps_are_matched(ranks, job):
    """Steps of one length say nothing about the order of collectives, but the clock that all ranks share does."""
    (row,) = ranks(job, "rank_collectives")["rank_collectives"]
    assert (row["collective"], row["instances"], row["complete_pct"], row["matched_by"]) == ("all_reduce", len(STEPS), 100, "order, group assumed")


def test_a_rank_that_counts_its_steps_from_another_is_not_matched(ranks, tmp_path):
    """Records of one place of the step then never overlap. Only the step that this rank lacks is matched, without it."""
    from_next = tmp_path / "job"
    shutil.copytree(LATE, from_next)
    text = unpacked(LATE / "rank2.json.zst")
    for step in STEPS:
        text = text.replace(f"ProfilerStep#{step}\"", f"ProfilerStep#{step - 1}\"")
    (from_next / "rank2.json.zst").unlink()
    (from_next / "rank2.json").write_text(text)
    tables = ranks(from_next, "rank_collectives", "stragglers")
    assert [(row["instances"], row["complete_pct"]) for row in tables["rank_collectives"]] == [(1, 0)]
    assert [row["unit"] for row in tables["stragglers"] if row["named"]] == []


@pytest.mark.parametrize("damage", ["cut", "missing"])
def test_the_others_are_matched_without_a_rank_whose_file_is_damaged(ranks, tmp_path, damage):
    job = tmp_path / "job"
    shutil.copytree(LATE, job)
    text = unpacked(LATE / "rank2.json.zst")
    (job / "rank2.json.zst").unlink()
    if damage == "cut":
        (job / "rank2.json").write_text(text[: len(text) // 2])
    tables = ranks(job, "ranks", "rank_collectives")
    assert [row["status"] for row in tables["ranks"]] == ["whole", "whole", damage, "whole"]
    assert [(row["instances"], row["complete_pct"], row["last_rank"]) for row in tables["rank_collectives"]] == [(len(STEPS), 0, 1)]
    whole = ranks(LATE, "ranks")["ranks"]
    for rank in (0, 1, 3):
        assert tables["ranks"][rank]["wait_ns"] == pytest.approx(whole[rank]["wait_ns"], rel=0.05, abs=1e5)


def test_parts_of_a_step_are_those_of_its_ranges(ranks):
    """On average, against the ranges in the traces. Gloo's thread may still run when the next batch is loaded; that time is communication."""
    for row in ranks(LATE, "ranks")["ranks"]:
        ranges = ranges_of(LATE / f"rank{row['rank']}.json.zst")
        loads, reduces = ranges["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"], ranges["gloo:all_reduce"]
        both = [(max(a[0], b[0]), min(a[1], b[1])) for a in loads for b in reduces if a[0] < b[1] and b[0] < a[1]]
        assert row["steps"] == len(STEPS)
        assert row["idle_input_ns"] == pytest.approx((length(loads) - length(both)) / len(STEPS), rel=0.02)
        assert row["exposed_comm_ns"] == pytest.approx(length(reduces) / len(STEPS), rel=0.05)  # the last one may end after the last step
        assert row["step_p50_ns"] == pytest.approx(median(end - start for start, end in ranges["ProfilerStep"]), rel=0.05)


def test_the_tutorial_shows_the_program_that_it_runs():
    page = (FIXTURES.parents[1] / "docs" / "guides" / "torchrun.md").read_text()
    program = (FIXTURES.parents[1] / "examples" / "torchrun" / "train.py").read_text()
    shown = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(shown) == 2
    for block in shown:
        assert any(textwrap.indent(block, " " * depth) in program for depth in (0, 4, 8)), block
