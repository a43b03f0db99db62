"""Recordings that name files: only what lies below a folder that the user gave is opened, whatever the recording says."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import gpu_profile
from patience import HANGS_S
from test_view_job import EXAMPLE, ask, served


@pytest.fixture
def job(program, tmp_path):
    """A folder with the recordings of a job, and its summary elsewhere."""
    ranks, away = tmp_path / "ranks", tmp_path / "away"
    shutil.copytree(EXAMPLE, ranks)
    away.mkdir()
    subprocess.run([program.path, "ranks", ranks, "--cache", tmp_path / "cache", "--save", away / "job.gpuprof"], check=True, capture_output=True, timeout=HANGS_S)
    return ranks, away / "job.gpuprof"


def test_a_rank_elsewhere_is_not_opened(program, job):
    with served(program, "view", job[1]) as server:
        assert json.loads(ask(server, "/recordings")[2]) == []
        status, _, body = ask(server, "/rank/0/manifest")
        assert status == 404 and b"is not in the folder that was given" in body


def test_a_rank_below_the_summary_is_opened(program, job):
    ranks, capture = job
    beside = ranks.parent / "job.gpuprof"
    shutil.copy(capture, beside)
    with served(program, "view", beside) as server:
        assert 0 in json.loads(ask(server, "/recordings")[2])
        assert ask(server, "/rank/0/manifest")[0] == 200


@pytest.mark.parametrize("what", ["/dev/zero", "/proc/kmsg", "/proc/self/environ", "elsewhere", "a pipe"])
def test_links_do_not_lead_out(program, job, tmp_path, what):
    ranks, capture = job
    beside = ranks.parent / "job.gpuprof"
    shutil.copy(capture, beside)
    secret = Path("/var/tmp") / f"gpu-profile-test-{os.getpid()}.json.gz" if what == "elsewhere" else Path(what)
    try:
        if what == "elsewhere":
            shutil.copy(EXAMPLE / "rank00003.json.gz", secret)
        file = ranks / "rank00003.json.gz"
        file.unlink()
        if what == "a pipe":
            os.mkfifo(file)
        else:
            file.symlink_to(secret)
        with served(program, "view", beside) as server:
            assert 3 not in json.loads(ask(server, "/recordings")[2])
            assert ask(server, "/rank/3/manifest")[0] == 404
    finally:
        if what == "elsewhere":
            secret.unlink()


def test_a_timeline_is_not_of_files_elsewhere(program, job):
    outcome = program.run("ranks", "view", job[1], "--timeline", "0,1", "--no-open")
    assert outcome.status == 3
    assert len(outcome.errors) == 1 and "is not in the folder that was given" in outcome.errors[0]


def test_python_does_not_open_a_rank_elsewhere(program, job, tmp_path, monkeypatch):
    """A folder with the summary of a rank, which names its file."""
    monkeypatch.setenv("GPUPROF_BIN", str(program.path))
    received = tmp_path / "received"
    received.mkdir()
    subprocess.run([program.path, "ranks", "reduce", job[0] / "rank00000.json.gz", "-o", received / "r0.gpuprof"], check=True, capture_output=True)
    with pytest.raises(gpu_profile.Error, match="is not in the folder that was given"):
        gpu_profile.ranks(received, cache=tmp_path / "cache").rank(0)
    assert len(gpu_profile.ranks(job[0], cache=tmp_path / "cache").rank(0).kernels) > 0
