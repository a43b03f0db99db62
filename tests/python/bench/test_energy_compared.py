"""Joules per step in compare, its conditions and history, of real samples of an H200."""

import csv
import io

import pytest
from test_energy import ENDS, SERIES, TRACE, counted, read_series


def test_compare_keeps_joules_per_step(program, tmp_path):
    joined = tmp_path / "run.gpuprof"
    done = program.run("export", "capture", TRACE, SERIES, "-o", joined)
    assert done.status == 0, done.errors
    done = program.run("compare", joined, joined, "metrics", "--format", "csv")
    assert done.status == 0, done.errors
    found = {row["metric"]: row for row in csv.DictReader(io.StringIO(done.stdout.decode()))}["energy"]
    assert float(found["base_j"]) == float(found["new_j"]) == pytest.approx(counted(read_series(), ENDS[0], ENDS[-1]) / 7, rel=0.05)
    assert found["base_ns"] == found["base_bytes"] == ""
    assert found["verdict"] == "cannot tell" and "boards" in found["because"]  # the trace has no id of the board


def test_fail_on_takes_energy(program):
    done = program.run("compare", TRACE, TRACE, "--fail-on", "energy>5%")
    assert any("energy>5%" in line and "not evaluated" in line for line in done.errors), done.errors
    wrong = program.run("compare", TRACE, TRACE, "--fail-on", "joules>5%")
    assert wrong.status == 2 and len(wrong.errors) == 1 and "joules" in wrong.errors[0]


def test_history_keeps_joules_per_step(program, tmp_path):
    joined, kept = tmp_path / "run.gpuprof", tmp_path / "history.sqlite"
    assert program.run("export", "capture", TRACE, SERIES, "-o", joined).status == 0
    for _ in range(3):
        assert program.run("history", "add", joined, "--label", "bursty", "--db", kept).status == 0
    done = program.run("history", "list", "--db", kept, "--format", "csv")
    values = [float(row["energy"]) for row in csv.DictReader(io.StringIO(done.stdout.decode()))]
    assert len(values) == 3 and values[0] == values[1] == values[2] > 100
    done = program.run("history", "check", joined, "--label", "bursty", "--db", kept, "--fail-on", "energy>5%")
    assert done.status == 0, done.errors
