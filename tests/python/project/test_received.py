"""Some rounds of tests/soak/received.py: commands on folders as somebody else could send them do nothing but answer. And whose summaries are used."""

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "soak"))

import received
import received_folders
from job_engines import Now

import gpu_profile

ROUNDS = 40


@pytest.fixture(scope="module")
def soak(program, tmp_path_factory):
    return received.Soak(program.path, tmp_path_factory.mktemp("received"), seed=7)


@pytest.mark.parametrize("first", range(0, ROUNDS, 10))
def test_nothing_happens_but_an_answer(soak, first):
    for number in range(first, first + 10):
        found, wrong = soak.round(number)
        assert not wrong, f"round {number} of seed {soak.seed}: {found.text}:\n" + "\n".join(wrong)


@pytest.mark.parametrize("received", ["another user's", "a link", "a pipe"])
def test_summaries_of_others_are_not_used(program, tmp_path, received):
    """A summary says anything of a rank."""
    if received == "another user's" and os.geteuid() != 0:
        pytest.skip("only root can give files away")
    job, caches = tmp_path / "job", [tmp_path / "cache", tmp_path / "of Python"]
    job.mkdir()
    shutil.copy(received_folders.EXAMPLE / "rank00000.json.gz", job)
    assert program.run("ranks", job, "--cache", caches[0]).status == 0
    gpu_profile.ranks(job, Now(), cache=caches[1])
    for cache in caches:
        (summary,) = cache.glob("*.gpuprof")
        other = summary.rename(tmp_path / f"{cache.name}.gpuprof")
        if received == "another user's":
            shutil.copy(other, summary)
            os.chown(summary, 12345, 12345)
        elif received == "a link":
            summary.symlink_to(other)
        else:
            os.mkfifo(summary)
    said = "another user's" if received == "another user's" else "not a file"
    outcome = program.run("ranks", job, "--cache", caches[0])
    assert outcome.status == 3 and said in " ".join(outcome.errors), outcome.errors
    with pytest.raises(gpu_profile.Error, match=said):
        gpu_profile.ranks(job, Now(), cache=caches[1])
