"""A job of two processes from its start to the table, recorded by `record` of each rank, with torchrun's variables.

The program stands in for a training script: PyTorch is too large for these tests, so NVTX names the steps, and a byte over a socket (in the file system: a free port may be taken before it is used) is the collective for
which the faster rank waits. Launcher, recorder, names, files and `ranks` are the real ones.
"""

import os
import socket
import subprocess
import sys
import textwrap

import pytest
from patience import HANGS_S
from played import record_played
from rank_jobs import ranks  # noqa: F401
from recordings_of_cupti import lines, script_of_records

pytest.importorskip("nvtx")
PROGRAM = """
    import os, socket, time
    import nvtx

    rank, place = int(os.environ["RANK"]), "ranks.socket"
    if rank == 0:
        with socket.socket(socket.AF_UNIX) as server:
            server.settimeout(600)
            server.bind(place)
            server.listen()
            peer, _ = server.accept()
    else:
        until, peer = time.monotonic() + 600, socket.socket(socket.AF_UNIX)
        while peer.connect_ex(place):
            assert time.monotonic() < until
            time.sleep(0.05)
    peer.settimeout(600)
    for step in range(10, 16):
        with nvtx.annotate(f"step {step}"):
            time.sleep(0.01 * (1 + 3 * rank))
            peer.sendall(b"x")
            assert peer.recv(1) == b"x"
"""


def of_torchrun(rank):
    return {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "GROUP_RANK": "0", "TORCHELASTIC_RUN_ID": "night"}


def launch(program, folder, *options):
    """Start both ranks as `torchrun --no-python ... gpu-profile record ... -- python3 train.py` does, and wait for them."""
    (folder / "train.py").write_text(textwrap.dedent(PROGRAM))
    started = [subprocess.Popen([program.path, "record", "--quiet", *options, "-o", "run/{host}-r{rank:05}.gpuprof", "--", sys.executable, "train.py"], cwd=folder,
                                env=os.environ | of_torchrun(rank), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in (0, 1)]
    for process in started:
        _, errors = process.communicate(timeout=HANGS_S)
        assert process.returncode == 0, errors
    return folder / "run"


def test_two_processes_to_the_table(program, ranks, tmp_path):
    run = launch(program, tmp_path)
    host = socket.gethostname()
    assert sorted(path.name for path in run.iterdir()) == [f"{host}-r00000.gpuprof", f"{host}-r00001.gpuprof"]
    tables = ranks(run, "ranks", "job_steps")
    assert [(row["rank"], row["host"], row["status"], row["steps"]) for row in tables["ranks"]] == [(0, host, "whole", 6), (1, host, "whole", 6)]
    assert [row["step"] for row in tables["job_steps"]] == list(range(10, 16))
    assert all(row["step_p50_ns"] > 0 and row["idle_host_ns"] > 0 for row in tables["ranks"])


def test_a_rank_without_a_file_is_missing(program, ranks, tmp_path):
    run = launch(program, tmp_path)
    (run / f"{socket.gethostname()}-r00000.gpuprof").unlink()
    assert [(row["rank"], row["status"]) for row in ranks(run, "ranks")["ranks"]] == [(0, "missing"), (1, "whole")]


def test_kernels_of_two_ranks(program, ranks, tmp_path):
    """Real CUPTI records, played to each rank's recorder: compute and host are in the rows, and each rank is one."""
    script = script_of_records(lines(), tmp_path, "13.0", lanes=2)
    (tmp_path / "run").mkdir()
    for rank in (0, 1):
        done = record_played(program, script, tmp_path / "run" / f"r{rank:05}.gpuprof", "--sample", "0", environment=of_torchrun(rank))
        assert done.status == 0, done.errors
    rows = ranks(tmp_path / "run", "ranks")["ranks"]
    assert [(row["rank"], row["host"], row["status"]) for row in rows] == [(rank, socket.gethostname(), "whole") for rank in (0, 1)]
    counts = [program.report(tmp_path / "run" / f"r{rank:05}.gpuprof", "kernels")["kernels"].rows for rank in (0, 1)]
    assert sum(row["count"] for row in counts[0]) == sum(row["count"] for row in counts[1]) > 0
