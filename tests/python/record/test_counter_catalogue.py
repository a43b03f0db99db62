"""The catalogue of kernel counters and the planner, against CUPTI's own host interface, which needs neither driver nor GPU.

The libraries are in build/cupti: pip install --no-deps --target build/cupti -r tools/requirements-cupti.txt. They are loaded in
a process of their own, which `gpu-profile counters --plan-for` starts: they upset the address sanitizer.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nightly import NIGHTLY
from patience import HANGS_S

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(os.environ.get("GPUPROF_TEST_CUPTI", ROOT / "build" / "cupti")) / "nvidia"
LIBRARIES = {"13.0": FOLDER / "cu13" / "lib" / "libcupti.so.13", "12.9": FOLDER / "cuda_cupti" / "lib" / "libcupti.so.12"}
# Passes of triage, sol, roofline, memory, details, stalls, full.
PASSES = {
    "GH100": (1, 3, 7, 6, 11, 7, 22),
    "GA100": (1, 3, 6, 6, 10, 6, 16),
    "AD102": (1, 3, 6, 6, 9, 7, 19),
    "GB100": (1, 3, 5, 6, 10, 6, 19),
    "TU102": (1, 3, 3, 6, 9, 7, 13),
    "GB202": (1, 3, 5, 6, 10, 7, 19),
}
SIBLINGS = ("TU104", "TU117", "GA102", "AD107", "GB203", "GB206")


def library_of(version):
    library = LIBRARIES[version]
    if not library.exists():
        pytest.skip(f"no CUPTI {version}: pip install --no-deps --target build/cupti -r tools/requirements-cupti.txt")
    return library


@pytest.fixture(params=LIBRARIES)
def cupti(request):
    return library_of(request.param)


def pairs(chips):
    """(version, chip): all of them by night; by day each chip once, the versions alternating."""
    versions = list(LIBRARIES)
    return [(version, chip) for row, chip in enumerate(chips) for version in (versions if NIGHTLY else [versions[row % len(versions)]])]


def plan(program, cupti, chip, *options):
    done = subprocess.run([program.path, "counters", "--plan-for", chip, *options], env={**os.environ, "GPUPROF_CUPTI": str(cupti)},
                          capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    rows = {}
    for line in done.stdout.splitlines()[3:]:
        if line.startswith(" "):
            continue
        name, passes, count, _, *absent = line.split(None, 4)
        rows[name] = (int(passes), int(count), set(absent[0].split(", ")) if absent else set())
    return rows


def absent_by_catalogue(program, chip):
    """set -> metrics that the catalogue says a chip lacks"""
    lacking = {}
    for row in program.declared("counter_sets"):
        if row["set"] != "source":
            lacking.setdefault(row["set"], set()).update([row["vendor_name"]] if chip in (row["absent_on"] or "").split() else [])
    lacking["sol"] |= lacking["triage"]
    lacking["full"] = set().union(*lacking.values())
    return lacking


@pytest.mark.parametrize(("version", "chip"), pairs(PASSES))
def test_passes_and_names_are_those_of_cupti(program, version, chip):
    rows = plan(program, library_of(version), chip)
    assert_limits(rows)
    assert tuple(passes for passes, _, _ in rows.values()) == PASSES[chip]
    assert {name: absent for name, (_, _, absent) in rows.items()} == absent_by_catalogue(program, chip)


@pytest.mark.parametrize(("version", "chip"), pairs(SIBLINGS))
def test_limits_of_siblings(program, version, chip):
    """Those of PASSES are held to them where their passes are asked for."""
    assert_limits(plan(program, library_of(version), chip))


def assert_limits(rows):
    assert (rows["triage"][0], rows["sol"][0]) == (1, 3)
    assert rows["details"][0] <= 11


def test_passes_of_single_metrics(program, cupti):
    done = subprocess.run([program.path, "counters", "--plan-for", "TU102", "--set", "triage,dram__bytes_read.sum,sm__no_such.sum"],
                          env={**os.environ, "GPUPROF_CUPTI": str(cupti)}, capture_output=True, text=True, timeout=HANGS_S, check=True)
    alone = {name: passes for passes, name in re.findall(r"^ +(\d+|–)  (\S+)", done.stdout, re.MULTILINE)}
    assert alone["gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"] == "2"
    assert alone["dram__bytes_read.sum"] == "1"
    assert alone["sm__no_such.sum"] == "–"
    assert alone["together"] == "2"  # a list is measured as it was chosen


def test_the_page_has_todays_passes(program, monkeypatch):
    """To write it anew: tools/kernel_metrics_page.py."""
    if not LIBRARIES["13.0"].exists():
        pytest.skip("no CUPTI 13.0: pip install --no-deps --target build/cupti -r tools/requirements-cupti.txt")
    monkeypatch.setenv("GPUPROF_CUPTI", str(LIBRARIES["13.0"]))
    monkeypatch.syspath_prepend(ROOT / "tools")
    import kernel_metrics_page as made

    page = (ROOT / "docs" / "reference" / "kernel-metrics.md").read_text()
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| ")]
    header, rows = lines[0], {row[1].strip("`"): row for row in lines[1:]}
    known, sets = made.known_metrics(program.path), made.sets_of_metrics(program.path)
    assert set(rows) == set(known) | set(sets)
    assert {metric: (row[0], row[2], row[3]) for metric, row in rows.items()} == \
        {metric: (*known.get(metric, ("", "")), ", ".join(sets.get(metric, []))) for metric in rows}
    for chip in ("GH100", "TU102"):
        passes = made.passes_alone(program.path, chip, ",".join(filter(made.measurable, rows)))
        assert {metric: row[header.index(chip)] for metric, row in rows.items()} == {metric: passes.get(metric, "–") for metric in rows}


def test_an_unknown_chip(program, cupti):
    done = subprocess.run([program.path, "counters", "--plan-for", "XX1"], env={**os.environ, "GPUPROF_CUPTI": str(cupti)},
                          capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert (done.returncode, done.stdout) == (4, "")
    assert "it knows " in done.stderr
    assert "GH100" in done.stderr


def test_metrics_of_a_chip(program, cupti):
    done = subprocess.run([program.path, "counters", "--list-metrics", "--plan-for", "GH100"],
                          env={**os.environ, "GPUPROF_CUPTI": str(cupti)}, capture_output=True, text=True, timeout=HANGS_S, check=True)
    names = set(done.stdout.split())
    assert len(names) > 3000
    assert {"gpu__time_duration", "dram__bytes_read", "sm__throughput"} <= names


def test_layouts_equal_the_headers(cupti):
    include = cupti.parents[1] / "include"
    for tool in ("check_range_layout.py", "check_pm_layout.py", "check_pc_layout.py", "check_sass_layout.py"):
        done = subprocess.run([sys.executable, ROOT / "tools" / tool, include], capture_output=True, text=True, timeout=HANGS_S, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


ASK_PROPERTIES = """
import ctypes, sys
library, chip, names = ctypes.CDLL(sys.argv[1]), sys.argv[2].encode(), sys.argv[3:]
class Host(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("reserved", ctypes.c_void_p), ("type", ctypes.c_int), ("chip", ctypes.c_char_p),
                ("image", ctypes.c_void_p), ("object", ctypes.c_void_p)]
class Properties(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("reserved", ctypes.c_void_p), ("chip", ctypes.c_char_p), ("name", ctypes.c_char_p),
                ("id", ctypes.c_uint64), ("found", ctypes.c_char_p), ("text", ctypes.c_char_p)]
print(library.cuptiProfilerHostInitialize(ctypes.byref(Host(48, None, 0, chip))))
for name in names:
    print(library.cuptiSassMetricsGetProperties(ctypes.byref(Properties(56, None, chip, name.encode()))))
"""


@pytest.mark.parametrize("chip", ["GH100", "GA100", "TU102", "GB100"])
def test_cupti_knows_the_counters_of_instructions(program, cupti, chip):
    names = [row["vendor_name"] for row in program.declared("counter_sets") if row["set"] == "source"]
    assert len(names) == 5
    done = subprocess.run([sys.executable, "-c", ASK_PROPERTIES, cupti, chip, *names], env={**os.environ, "LD_LIBRARY_PATH": str(cupti.parent)},
                          capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.stdout.split() == ["0"] * 6, done.stdout + done.stderr
