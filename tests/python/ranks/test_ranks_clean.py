"""Nobody is named in jobs without a fault: one of each layout (tests/ranks/clean.py), and 500 of them at night."""

import json
import subprocess

import pytest
from nightly import times
from patience import HANGS_S
from rank_jobs import ROOT, rows_of  # noqa: F401  (puts tests.ranks on the path)

from tests.ranks import clean

JOBS = times(range(500), clean.one_of_each_layout(range(100)))
SLOW = times(range(5, 100, 10), (5, 15, 65))  # of these, one more copy with a slow GPU, so that silence means something


def answer_of(program, folder, job, options, seed):
    clean.write(job, options, seed, folder / "job")
    done = subprocess.run([program.path, "ranks", folder / "job", "--format", "json", "--limit", "0", "--cache", folder / "cache", "--quiet"],
                          capture_output=True, timeout=HANGS_S, check=True)
    document = json.loads(done.stdout)
    return document["verdict"], rows_of(next(table for table in document["tables"] if table["name"] == "stragglers"))


def check_clean(program, folder, number, shapes=None):
    job, options = clean.clean_job(number, shapes)
    verdict, rows = answer_of(program, folder, job, options, number)
    assert not [row for row in rows if row["named"]], (job, options)
    return verdict


@pytest.mark.parametrize("number", JOBS)
def test_nobody_is_named_in_a_job_without_a_fault(program, tmp_path, number):
    check_clean(program, tmp_path, number)


@pytest.mark.parametrize("number", SLOW)
def test_a_slow_gpu_in_the_same_job_is_named(program, tmp_path, number):
    job, options = clean.clean_job(number, ((8, 1, 1), (8, 2, 1), (4, 1, 2)))
    job = clean.with_slow_gpu(job)
    verdict, rows = answer_of(program, tmp_path, job, options, number)
    assert [row["unit"] for row in rows if row["named"]] == [f"rank {job.world // 2}"], (job, options, verdict)


@pytest.mark.parametrize("number", times(range(500, 530), ()))
def test_nobody_is_named_in_jobs_of_64_ranks(program, tmp_path, number):
    check_clean(program, tmp_path, number, clean.HUGE)
