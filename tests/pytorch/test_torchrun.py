"""Jobs of real processes that torchrun starts on this machine, with PyTorch and Gloo: recorded by torch.profiler and by `record`, up to the tables.

These are the commands of docs/guides/torchrun.md, which tools/check_docs.py runs; here their answers are looked at.
"""

import socket
import sys
from pathlib import Path

import pytest
from jobs import launch
from rank_jobs import ranks  # noqa: F401

TRAIN = Path(__file__).parents[2] / "examples" / "torchrun" / "train.py"
LATE_NS = 30e6


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """Return a function that runs the job once with so many processes, and returns the folder of torch.profiler's traces."""
    made = {}

    def run(processes):
        if processes not in made:
            folder = tmp_path_factory.mktemp("job")
            launch(folder, processes, TRAIN, "traces")
            made[processes] = folder / "traces"
        return made[processes]

    return run


def test_two_processes_show_who_waits(ranks, traces):
    tables = ranks(traces(2), "ranks", "rank_collectives", "stragglers")
    host = socket.gethostname()
    assert [(row["rank"], row["host"], row["status"], row["steps"]) for row in tables["ranks"]] == [(0, host, "whole", 10), (1, host, "whole", 10)]
    first, late = tables["ranks"]
    assert late["idle_input_ns"] == pytest.approx(LATE_NS, rel=0.2)
    assert first["wait_ns"] > 0.6 * LATE_NS > late["wait_ns"]
    assert [(row["collective"], row["instances"], row["complete_pct"]) for row in tables["rank_collectives"]] == [("all_reduce", 10, 100)]
    assert tables["stragglers"] == []  # of two ranks, nothing tells which is normal


def test_of_four_processes_the_late_one_is_named(ranks, traces):
    named = [row for row in ranks(traces(4), "stragglers")["stragglers"] if row["named"]]
    assert [(row["unit"], row["cause"]) for row in named if row["unit"].startswith("rank")] == [("rank 1", "late data")]
    assert 0.5 * LATE_NS < named[0]["cost_ns"] < 1.3 * LATE_NS


def test_our_recorder_sees_steps_and_input(ranks, program, tmp_path):
    launch(tmp_path, 2, "--no-python", program.path, "record", "--quiet", "-o", "run/{host}-r{rank:05}.gpuprof", "--", sys.executable, TRAIN)
    host = socket.gethostname()
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [f"{host}-r00000.gpuprof", f"{host}-r00001.gpuprof"]
    tables = ranks(tmp_path / "run", "ranks", "job_steps")
    assert [(row["rank"], row["host"], row["status"], row["steps"]) for row in tables["ranks"]] == [(0, host, "whole", 20), (1, host, "whole", 20)]
    assert [row["step"] for row in tables["job_steps"]] == list(range(20))
    first, late = tables["ranks"]
    assert late["idle_input_ns"] == pytest.approx(LATE_NS, rel=0.2)
    assert first["idle_input_ns"] < 0.1 * LATE_NS
    assert all(row["step_p50_ns"] > LATE_NS for row in tables["ranks"])  # both take as long as the late one
