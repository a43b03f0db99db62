"""Jobs of real processes that torchrun starts on this machine, with PyTorch and Gloo: recorded by torch.profiler and by `record`, up to the tables.

The jobs are the commands of docs/guides/torchrun.md, run once in one folder. Their ranks are forked from a process that has imported PyTorch,
except those that are recorded by `record`.
"""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jobs import run_job
from patience import HANGS_S
from rank_jobs import ranks  # noqa: F401
from warm_python import python_exec

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_docs  # noqa: E402

LATE_NS = 30e6


@pytest.fixture(scope="module")
def warm_python(tmp_path_factory):
    """Return the command of an interpreter that has PyTorch."""
    command, place = python_exec(tmp_path_factory.mktemp("warm"), sys.executable)
    server = subprocess.Popen([sys.executable, Path(__file__).with_name("warm_python.py"), "serve", place])
    until = time.monotonic() + HANGS_S
    while not os.path.exists(place):
        assert server.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    yield command
    server.kill()
    server.wait()


@pytest.fixture(scope="module")
def folder(program, warm_python, tmp_path_factory):
    """Return the folder in which the page's commands ran."""
    folder = tmp_path_factory.mktemp("page")
    check_docs.link_checkout(folder)
    environment = check_docs.environment_of(program.path)
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    environment["PYTHON_EXEC"] = str(warm_python)
    for _, command in check_docs.commands((ROOT / "docs/guides/torchrun.md").read_text()):
        run_job(["bash", "-o", "pipefail", "-c", command], folder, environment)
    return folder


def check_input(first, late):
    """Sleep is never shorter than it was told, but a busy machine adds to every wait of both ranks, so that only its own step bounds it from above."""
    assert 0.99 * LATE_NS < late["idle_input_ns"] < late["step_p50_ns"]
    assert first["idle_input_ns"] < 0.3 * late["idle_input_ns"]


def test_two_processes_show_who_waits(ranks, folder):
    tables = ranks(folder / "traces", "ranks", "rank_collectives", "stragglers")
    host = socket.gethostname()
    assert [(row["rank"], row["host"], row["status"], row["steps"]) for row in tables["ranks"]] == [(0, host, "whole", 10), (1, host, "whole", 10)]
    first, late = tables["ranks"]
    check_input(first, late)
    assert first["wait_ns"] > max(0.6 * LATE_NS, 2 * late["wait_ns"])
    assert [(row["collective"], row["instances"], row["complete_pct"]) for row in tables["rank_collectives"]] == [("all_reduce", 10, 100)]
    assert tables["stragglers"] == []  # of two ranks, nothing tells which is normal


def test_of_four_processes_the_late_one_is_named(ranks, folder):
    named = [row for row in ranks(folder / "traces4", "stragglers")["stragglers"] if row["named"]]
    assert [(row["unit"], row["cause"]) for row in named if row["unit"].startswith("rank")] == [("rank 1", "late data")]
    assert 0.5 * LATE_NS < named[0]["cost_ns"] < 1.3 * LATE_NS


def test_our_recorder_sees_steps_and_input(ranks, folder):
    host = socket.gethostname()
    assert sorted(path.name for path in (folder / "captures").iterdir()) == [f"{host}-r00000.gpuprof", f"{host}-r00001.gpuprof"]
    tables = ranks(folder / "captures", "ranks", "job_steps")
    assert [(row["rank"], row["host"], row["status"], row["steps"]) for row in tables["ranks"]] == [(0, host, "whole", 20), (1, host, "whole", 20)]
    assert [row["step"] for row in tables["job_steps"]] == list(range(20))
    first, late = tables["ranks"]
    check_input(first, late)
    assert all(row["step_p50_ns"] > LATE_NS for row in tables["ranks"])  # both take as long as the late one
