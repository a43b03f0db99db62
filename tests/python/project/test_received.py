"""Some rounds of tests/soak/received.py: commands on folders as somebody else could send them do nothing but answer. And whose summaries are used."""

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "soak"))

import received
import received_folders
from gpu_profile.many_ranks.files import RankFile
from gpu_profile.many_ranks.summaries import Cache

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
    file = RankFile("rank0", "", "rank0", 1, "a time")
    assert program.run("ranks", job, "--cache", caches[0]).status == 0
    Cache(str(caches[1]), "1").keep(file, b"a summary")
    assert Cache(str(caches[1]), "1").find(file) == b"a summary"
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
    outcome = program.run("ranks", job, "--cache", caches[0])
    assert outcome.status == 3 and ("another user's" if received == "another user's" else "not a file") in " ".join(outcome.errors), outcome.errors
    assert Cache(str(caches[1]), "1").find(file) is None  # the recording is read again
