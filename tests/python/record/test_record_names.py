"""Captures of many ranks: names with variables, the place of each process in the job, and the state of the clock."""

import os
import socket
import subprocess
from pathlib import Path

import pytest
from exported import tables_of
from patience import HANGS_S

TORCHRUN = {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "GROUP_RANK": "0", "TORCHELASTIC_RUN_ID": "night", "TORCHELASTIC_RESTART_COUNT": "2"}
HOST = socket.gethostname()


@pytest.fixture
def start(program, tmp_path):
    """Starts `record` in tmp_path with this output name and environment."""
    def start(output, environment, command=("true",), *options):
        clean = {key: value for key, value in os.environ.items() if key not in TORCHRUN and not key.startswith("SLURM")}
        return subprocess.Popen([program.path, "record", "--quiet", *options, "-o", output, "--", *command], cwd=tmp_path, env=clean | environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return start


def finish(process):
    _, errors = process.communicate(timeout=HANGS_S)
    return process.returncode, errors


def test_a_name_with_variables(start, program, tmp_path):
    assert finish(start("run/{job}/{host}-r{rank:05}-{restart}.gpuprof", TORCHRUN))[0] == 0
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()] == [f"run/night/{HOST}-r00003-2.gpuprof"]
    [row] = [row for row in tables_of(program, tmp_path / f"run/night/{HOST}-r00003-2.gpuprof")["process"] if row["launcher"]]
    assert {key: row[key] for key in ("rank", "world_size", "local_rank", "node_rank", "launcher", "job", "restart", "host")} == {
        "rank": "3", "world_size": "8", "local_rank": "1", "node_rank": "0", "launcher": "torchrun", "job": "night", "restart": "2", "host": HOST}
    assert row["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def test_nothing_is_overwritten(start, tmp_path):
    (tmp_path / "r3.gpuprof").write_text("mine")
    code, errors = finish(start("r{rank}.gpuprof", TORCHRUN, ("touch", "ran")))
    assert code == 2 and "r3.gpuprof exists" in errors
    assert (tmp_path / "r3.gpuprof").read_text() == "mine" and not (tmp_path / "ran").exists()


def test_a_named_capture_is_overwritten_only_with_force(start, tmp_path):
    touch = ("touch", "ran")
    kept = tmp_path / "mine.gpuprof"
    kept.write_text("a recording of hours")
    assert finish(start(kept.name, {}, touch)) == (2, "gpu-profile: mine.gpuprof already exists; choose another name, or overwrite it with --force\n")
    assert kept.read_text() == "a recording of hours" and not (tmp_path / "ran").exists()
    kept.write_text("")  # what a name holds that was reserved by a recording that was killed
    assert finish(start(kept.name, {}, touch))[0] == 0
    assert finish(start(kept.name, {}, touch, "--force"))[0] == 0


def test_of_two_processes_with_one_name_only_one_records(start, tmp_path):
    first = start("{host}.gpuprof", TORCHRUN, ("sh", "-c", "touch ready; while [ ! -e go ]; do sleep 0.01; done"))
    while not (tmp_path / "ready").exists():
        assert first.poll() is None
    code, errors = finish(start("{host}.gpuprof", TORCHRUN))
    assert code == 2 and "exists" in errors
    (tmp_path / "go").touch()
    assert finish(first)[0] == 0
    assert (tmp_path / f"{HOST}.gpuprof").stat().st_size > 0


def test_a_command_that_cannot_start_leaves_no_file(start, tmp_path):
    code, _ = finish(start("new/r{rank}.gpuprof", TORCHRUN, ("/does/not/exist",)))
    assert code != 0 and not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_outside_of_any_launcher(start, tmp_path):
    code, errors = finish(start("r{rank}.gpuprof", {}))
    assert code == 2 and "RANK, OMPI_COMM_WORLD_RANK" in errors and "{host}, {pid}" in errors
    assert not list(tmp_path.iterdir())


def test_the_state_of_the_clock(start, program, tmp_path):
    assert finish(start("a.gpuprof", {}))[0] == 0
    facts = {row["key"]: row["value"] for row in tables_of(program, tmp_path / "a.gpuprof")["meta"]}
    for when in ("start", "end"):
        if f"clock.{when}.unknown" in facts:
            continue
        assert facts[f"clock.{when}.synchronised"] in ("0", "1")
        assert int(facts[f"clock.{when}.max_error_ns"]) >= 0
        assert abs(int(facts[f"clock.{when}.offset_ns"])) < 10 ** 9
        assert abs(float(facts[f"clock.{when}.frequency_ppm"])) <= 500  # the kernel allows no more


def test_steps_are_iterations(start, tmp_path):
    assert finish(start("a.gpuprof", {}, ("sh", "-c", "echo $GPUPROF_RECORD > settings"), "--steps", "3:5"))[0] == 0
    steps = (tmp_path / "settings").read_text()
    assert finish(start("b.gpuprof", {}, ("sh", "-c", "echo $GPUPROF_RECORD > settings"), "--capture-range", "iteration:3-5"))[0] == 0
    without_launcher = [word for word in steps.strip().split(",") if not word.startswith("launcher")]
    assert without_launcher == [word for word in (tmp_path / "settings").read_text().strip().split(",") if not word.startswith("launcher")]
    assert "first=3" in without_launcher and "last=5" in without_launcher
    for bad in ("3", "5:3", "0:2", "a:b", "3:5:7", "3-5"):
        assert finish(start("c.gpuprof", {}, ("true",), f"--steps={bad}"))[0] == 2, bad
    assert finish(start("c.gpuprof", {}, ("true",), "--steps", "1:2", "--capture-range", "start-stop"))[0] == 2
