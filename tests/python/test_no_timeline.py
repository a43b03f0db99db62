"""Files without a timeline: the first answer says what they have and what shows it; `counters` against ncu's own columns."""

import csv
import gzip

import pytest
from conftest import FIXTURES

RAW = {"compute_pct": "sm__throughput.avg.pct_of_peak_sustained_elapsed", "memory_pct": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
       "occupancy_pct": "sm__warps_active.avg.pct_of_peak_sustained_active", "registers": "launch__registers_per_thread"}
DETAILS = {"compute_pct": "Compute (SM) Throughput", "memory_pct": "Memory Throughput", "occupancy_pct": "Achieved Occupancy", "registers": "Registers Per Thread"}


@pytest.mark.parametrize(("file", "has", "verdict", "because", "shows"), [
    ("ncu/kernels.raw.csv.gz", "9 profiled kernels", "memory-bandwidth-bound", "79 % is at 60 % or more of the peak of memory or caches", "counters"),
    ("ncu/kernels.details.csv.gz", "9 profiled kernels", "memory-bandwidth-bound", "79 %", "counters"),
    ("nvidia-smi/h200-580.csv", "9 samples", "cannot tell", "GPU 0 was busy 0 % of the time (1 sample)", "samples"),
    ("memory/growth.snapshot.pickle.gz", "390 memory events", "cannot tell", "who holds memory", "memory"),
    ("proton/matmul.hatchet", "6 call nodes", "cannot tell", "100 % of the time is in matmul_kernel_0d1d2d", "export csv"),
])
def test_the_first_answer(program, file, has, verdict, because, shows):
    document = program.report(FIXTURES / file).document
    assert has in document["trust"][0]["text"] and "no timeline" in document["trust"][0]["text"]
    assert document["verdict"]["name"] == verdict and because in document["verdict"]["because"]
    outcome = program.run("report", FIXTURES / file)
    assert outcome.status == 0 and shows in outcome.stdout.decode().splitlines()[-1]


def test_what_counters_say_is_measured(program):
    verdict = program.report(FIXTURES / "ncu/kernels.raw.csv.gz").document["verdict"]
    assert verdict["basis"] == "counters" and verdict["confidence"] == "high"


def test_the_command_it_names_works(program):
    for file in ("ncu/kernels.raw.csv.gz", "nvidia-smi/h200-580.csv", "memory/growth.snapshot.pickle.gz"):
        named = program.run("report", FIXTURES / file).stdout.decode().splitlines()[-1].split("gpu-profile report ")[1].split()
        assert all(table.rows for table in program.report(*named).tables.values())


def read(page):
    return gzip.decompress((FIXTURES / f"ncu/kernels.{page}.csv.gz").read_bytes()).decode().splitlines()


def number(text):
    return float(text.replace(",", ""))


def test_counters_of_the_raw_page(program):
    launches = list(csv.DictReader(read("raw")))[1:]
    rows = program.report(FIXTURES / "ncu/kernels.raw.csv.gz", "counters")["counters"].rows
    assert [row["name"] for row in rows] == [launch["Kernel Name"] for launch in launches]
    for row, launch in zip(rows, launches, strict=True):
        for ours, theirs in RAW.items():
            assert row[ours] == number(launch[theirs])


def test_counters_of_the_details_page(program):
    lines = [line for line in csv.DictReader(read("details")) if line["Metric Name"]]
    for row in program.report(FIXTURES / "ncu/kernels.details.csv.gz", "counters")["counters"].rows:
        for ours, theirs in DETAILS.items():
            (value,) = {number(line["Metric Value"]) for line in lines
                        if line["ID"] == str(row["launch"]) and line["Metric Name"] == theirs and (ours == "registers" or line["Metric Unit"] == "%")}
            assert row[ours] == value


def test_no_counters(program):
    assert program.report(FIXTURES / "nvidia-smi/h200-580.csv", "counters")["counters"].rows == []
