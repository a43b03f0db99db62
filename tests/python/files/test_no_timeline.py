"""Files without a timeline: the first answer says what they have and what shows it; `counters` against ncu's own columns."""

import csv
import gzip
import io

import pytest
from conftest import FIXTURES

RAW = {"compute_pct": "sm__throughput.avg.pct_of_peak_sustained_elapsed", "memory_pct": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
       "occupancy_pct": "sm__warps_active.avg.pct_of_peak_sustained_active", "registers": "launch__registers_per_thread"}
DETAILS = {"compute_pct": "Compute (SM) Throughput", "memory_pct": "Memory Throughput", "occupancy_pct": "Achieved Occupancy", "registers": "Registers Per Thread"}


@pytest.mark.parametrize(("file", "has", "verdict", "because", "shows"), [
    ("ncu/kernels.raw.csv.gz", "9 profiled kernels", "memory-bandwidth-bound", "79 %", "kernel k-1"),
    ("ncu/kernels.details.csv.gz", "9 profiled kernels", "memory-bandwidth-bound", "79 %", "kernel k-1"),
    ("nvidia-smi/h200-580.csv", "9 samples", "cannot tell", "GPU 0 was busy 0 % of the time (1 sample, ", "samples"),
    ("memory/growth.snapshot.pickle.gz", "390 memory events", "memory", "step (workloads.py:116) grows from 64.0 MiB to 384 MiB", "memory"),
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
        named = program.run("report", FIXTURES / file, "--verbose").stdout.decode().splitlines()[-1].split("gpu-profile report ")[1].split()
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


OLDER = {"2019": {"Compute (SM) Throughput": "SOL SM", "Memory Throughput": "SOL Memory"},
         "2020": {"Compute (SM) Throughput": "SM [%]", "Memory Throughput": "Memory [%]"},
         "2021": {"Compute (SM) Throughput": "Compute (SM) [%]", "Memory Throughput": "Memory [%]"}}
FIRST_COLUMNS = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream", "Section Name", "Metric Name", "Metric Unit", "Metric Value"]


@pytest.mark.parametrize("version", OLDER)
def test_counters_by_the_names_of_older_versions(program, version):
    """The details page as Nsight Compute wrote it before 2022: other names of the percentages, fewer columns."""
    text = io.StringIO()
    writer = csv.DictWriter(text, FIRST_COLUMNS, extrasaction="ignore", quoting=csv.QUOTE_ALL, restval="2020-Jan-01 00:00:00", lineterminator="\n")
    writer.writeheader()
    for line in csv.DictReader(read("details")):
        old = OLDER[version].get(line["Metric Name"]) if line["Metric Unit"] == "%" else None
        writer.writerow(line | ({"Metric Name": old} if old else {}))
    assert not any(new in text.getvalue() for new in ('"Compute (SM) Throughput"',))
    found = program.report("-", "counters", stdin=text.getvalue().encode())["counters"].rows
    wanted = program.report(FIXTURES / "ncu/kernels.details.csv.gz", "counters")["counters"].rows
    figures = ("name", "compute_pct", "memory_pct", "occupancy_pct", "registers")
    assert [[row[figure] for figure in figures] for row in found] == [[row[figure] for figure in figures] for row in wanted]
    assert all(row["compute_pct"] is not None for row in found)


def test_no_counters(program):
    assert program.report(FIXTURES / "nvidia-smi/h200-580.csv", "counters")["counters"].rows == []
