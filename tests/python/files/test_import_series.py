"""Recorded series as samples: every cell against Python's csv, what is omitted, and our own --csv read back."""

import csv

from conftest import FIXTURES
from exported import tables_of

FILE = FIXTURES / "nvml/bursty.csv"
COLUMNS = {"util_gpu": ("util.gpu", 1), "util_mem": ("util.mem", 1), "mem_used": ("mem.used", 2**-20), "power_mw": ("power", 1e-3), "energy_mj": ("energy", 1e-3),
           "temp": ("temp", 1), "sm_mhz": ("clock.sm", 1), "mem_mhz": ("clock.mem", 1), "throttle": ("throttle.reasons", 1)}


def test_every_cell(program):
    rows = list(csv.DictReader(FILE.open()))
    expected = sorted((round(float(row["t_s"].split(".")[0])) * 10**9 + int(row["t_s"].split(".")[1].ljust(9, "0")), name, float(row[column]) * scale)
                      for row in rows for column, (name, scale) in COLUMNS.items())
    found = sorted((int(row["time"]), row["metric"], float(row["value"])) for row in tables_of(program, FILE)["sample"])
    assert len(found) == len(expected) == len(rows) * len(COLUMNS)
    assert [row[:2] for row in found] == [row[:2] for row in expected]
    assert all(abs(a[2] - b[2]) <= 1e-9 * abs(b[2]) for a, b in zip(found, expected))


def test_what_is_left_out(program, tmp_path):
    file = tmp_path / "series.csv"
    file.write_text("time_s,device,util_gpu,temp_c\n0.5,0,500,40\n,0,1,2\n1.5,1,,41\n1,2,3,4,5,6\n")
    found = [(row["time"], row["device"], row["metric"], float(row["value"])) for row in tables_of(program, file)["sample"]]
    assert sorted(found) == [("1500000000", "1", "temp", 41.0), ("500000000", "0", "temp", 40.0)]
    assert {row["kind"]: row["count"] for row in program.report(file, "losses")["losses"].rows} == {"bad_number": 1, "malformed_event": 2}


def test_own_series_come_back(program, tmp_path):
    written = tmp_path / "written.csv"
    outcome = program.run("--backend", f"replay:{FILE}@max", "--csv", written, "--", "true")
    assert outcome.status == 0, outcome.errors
    assert len(tables_of(program, written)["sample"]) == len(tables_of(program, FILE)["sample"])
