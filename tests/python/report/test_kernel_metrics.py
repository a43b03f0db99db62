"""Counters of kernels: values of Nsight Compute's details page from its raw page, identities, and rules with missing columns."""

import csv
import gzip
import io
import json
import random
import re
import subprocess
from pathlib import Path

import pytest

from conftest import FIXTURES

RECORDINGS = ("kernels", "memory_bound", "transformer", "triton")  # 31 launches
RAW = FIXTURES / "ncu/kernels.raw.csv.gz"
every_recording = pytest.mark.parametrize("raw", [FIXTURES / f"ncu/{name}.raw.csv.gz" for name in RECORDINGS], ids=RECORDINGS)
SCALES = {"": 1, "%": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
# Words, and settings of the profiler itself.
NOT_NUMBERS = {"Function Cache Configuration", "Cluster Scheduling Policy", "Enabled TPC IDs", "Maximum Buffer Size", "Maximum Sampling Interval",
               "# Pass Groups", "Number of Samples", "Sampling Interval", "Dropped Samples", "Sampling Buffer Size"}


def table(path):
    path = next(path.parent.glob(path.name.removesuffix("gz") + "*"))
    lines = subprocess.run(["zstd" if path.suffix == ".zst" else "gzip", "-dcq", path], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    return list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))


def number(text):
    return float(text.replace(",", ""))


def in_base_unit(value, unit):
    """A value and unit as the details page prints them."""
    times = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    if unit in times:
        return value * times[unit], "ns", times[unit]
    scaled = re.fullmatch(r"([KMGT])(byte.*|hz)", unit)
    return (value * SCALES[scaled[1]], scaled[2], SCALES[scaled[1]]) if scaled else (value, unit, 1)


def rows_of(program, path, analysis, *options):
    out = subprocess.run([program.path, "report", path, analysis, "--limit", "0", "--format", "csv", *options], capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(out.stdout)))


def metrics_of(program, path):
    values = {}
    for row in rows_of(program, path, "metrics"):
        values.setdefault(int(row["launch"]), {})[row["metric"], row["unit"]] = float(row["value"])
    return values


def details_differences(program, raw, details):
    """Compares each value of the details page with the raw page's; returns the number compared and what differs."""
    ours, compared, wrong = metrics_of(program, raw), 0, []
    for row in table(details):
        label = row["Metric Name"]
        if not label or label in NOT_NUMBERS or not row["Metric Value"]:
            continue
        value, unit, scale = in_base_unit(number(row["Metric Value"]), row["Metric Unit"])
        found = ours[int(row["ID"])].get((label, unit))
        digits = len(row["Metric Value"].partition(".")[2])
        compared += 1
        if found is None or abs(found - value) > 0.500001 * scale * 10**-digits:
            wrong.append((row["ID"], label, row["Metric Unit"], row["Metric Value"], found))
    return compared, wrong


@every_recording
def test_each_value_of_the_details_page_follows_from_the_raw_page(program, raw):
    compared, wrong = details_differences(program, raw, Path(str(raw).replace(".raw.", ".details.")))
    assert wrong == []
    assert compared >= 80 * len(metrics_of(program, raw))


@every_recording
def test_achieved_occupancy_is_resident_warps_over_slots(program, raw):
    for values in metrics_of(program, raw).values():
        assert values["Achieved Occupancy", "%"] == pytest.approx(values["Achieved Active Warps Per SM", "warp"] / 64 * 100, rel=1e-4)


@every_recording
def test_stall_reasons_add_up_to_the_latency(program, raw):
    """Kernels of a few microseconds are off by up to 15 %: reasons and latency come from different passes."""
    values, sums, short = metrics_of(program, raw), {}, set()
    for row in rows_of(program, raw, "stalls"):
        sums[int(row["launch"])] = sums.get(int(row["launch"]), 0) + float(row["cycles"])
        if "uncertain" in row["basis"]:
            short.add(int(row["launch"]))
    for launch, cycles in sums.items():
        assert cycles == pytest.approx(values[launch]["Warp Cycles Per Issued Instruction", "cycle"], rel=0.16 if launch in short else 0.02)


@every_recording
def test_tensor_rate_of_peak_is_the_activity_of_the_tensor_pipes(program, raw):
    """An outside check of the ceilings: two counters that share nothing agree."""
    for row in rows_of(program, raw, "roofline"):
        if row["precision"].endswith("tensor") and row["level"] == "DRAM":
            pipes = float(number(next(each for each in table(raw) if each["ID"] == row["launch"])["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"]))
            assert 100 * float(row["flop_per_s"]) / float(row["peak_flop_per_s"]) == pytest.approx(pipes, rel=0.03)


@every_recording
def test_throughput_is_the_maximum_of_its_parts(program, tmp_path, raw):
    """Without the vendor's sums, the parts alone give the same values, the same part and the same limit."""
    whole = rows_of(program, raw, "limits")
    file = without_columns(raw, tmp_path / "parts.csv", lambda name: not re.match(r"(sm__throughput|gpu__compute_memory_throughput)\.", name))
    for ours, theirs in zip(rows_of(program, file, "limits"), whole, strict=True):
        assert float(ours["compute_pct"]) == pytest.approx(float(theirs["compute_pct"]), abs=0.2)
        assert float(ours["memory_pct"]) == pytest.approx(float(theirs["memory_pct"]), abs=0.2)
        assert ours["limit"] == theirs["limit"]


def without_columns(raw, file, keep):
    """The raw page with some of its metrics."""
    rows = list(csv.reader(gzip.open(raw, "rt")))
    header = next(i for i, row in enumerate(rows) if row and row[0] == "ID")
    kept = [i for i, name in enumerate(rows[header]) if i < 11 or keep(name)]
    with open(file, "w", newline="") as out:
        csv.writer(out, quoting=csv.QUOTE_ALL).writerows([row[i] for i in kept] for row in rows[header:] if len(row) == len(rows[header]))
    return file


def advice_of(program, file):
    found = {}
    for row in rows_of(program, file, "advice"):
        found.setdefault(row["launch"], {})[row["rule"]] = row
    return found


@every_recording
def test_rules_abstain_without_their_counters(program, tmp_path, raw):
    """Whatever is missing, a finding of high confidence is one that all counters confirm, and a limit is the same or unknown."""
    chance = random.Random(raw.name)
    whole, limits = advice_of(program, raw), {row["launch"]: row["limit"] for row in rows_of(program, raw, "limits")}
    for share in (0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95):
        file = without_columns(raw, tmp_path / "some.csv", lambda name: name == "gpu__time_duration.sum" or chance.random() >= share)  # noqa: B023
        for launch, findings in advice_of(program, file).items():
            for rule, row in findings.items():
                assert row["confidence"] != "high" or rule in whole[launch], (launch, row)
        for row in rows_of(program, file, "limits"):
            assert row["limit"] in ("cannot tell", "memory-bound", limits[row["launch"]]), row


def test_a_file_without_values_has_no_conclusion(program, tmp_path):
    file = without_columns(RAW, tmp_path / "none.csv", lambda name: name == "gpu__time_duration.sum")
    assert {row["limit"] for row in rows_of(program, file, "limits")} == {"cannot tell"}
    assert advice_of(program, file) == {}


def test_top_findings_are_those_the_kernels_were_written_for(program):
    """The comments in the source of the recorded kernels say what each is."""
    expected = {"saxpy": "dram-bound", "strided_copy": "uncoalesced-access", "transpose_naive": "uncoalesced-access", "transpose_tiled": "dram-bound",
                "gemm_naive": "cache-bound", "fma_peak": "compute-bound", "low_occupancy": "low-occupancy", "divergent": "divergence",
                "atomic_hot": "contended-atomics"}
    assert {row["name"].partition("(")[0]: row["finding"] for row in rows_of(program, RAW, "limits")} == expected


def test_one_kernel_by_handle_name_and_launch(program):
    for words in (["k-4"], ["transpose_naive"], ["naive(int, const float *, float"], ["--launch", "2"]):
        out = subprocess.run([program.path, "report", RAW, "kernel", *words, "--format", "json"], capture_output=True, text=True, check=True)
        document = json.loads(out.stdout)
        assert document["verdict"]["name"] == "L2-bound"
        assert document["findings"][0]["id"] == "uncoalesced-access"


@pytest.mark.parametrize("words,message", [(["k-99"], "--kernel 'k-99': no kernel of this recording has this name; this recording has atomic_hot, "),
                                           (["--launch", "77"], "no launch 77 has counters")])
def test_unknown_kernels(program, words, message):
    out = subprocess.run([program.path, "report", RAW, "kernel", *words], capture_output=True, text=True, check=False)
    assert out.returncode == 2
    assert message in out.stderr
    assert out.stdout == ""


@every_recording
@pytest.mark.parametrize("sets", [("triage",), ("triage", "sol"), ("details",), ("details", "stalls", "memory")], ids="+".join)
def test_what_our_sets_can_say(program, tmp_path, raw, sets):
    """With fewer counters, the limit is the same or unknown; the set of three passes knows it."""
    names = {row["vendor_name"] for row in program.declared("counter_sets") if row["set"] in sets}
    file = without_columns(raw, tmp_path / "set.csv", lambda name: name in names or name.startswith(("launch__", "device__")))
    whole = {row["launch"]: row["limit"] for row in rows_of(program, raw, "limits")}
    ours = {row["launch"]: row["limit"] for row in rows_of(program, file, "limits")}
    for launch, limit in ours.items():
        assert limit in ("cannot tell", "memory-bound", whole[launch]), launch
    if sets == ("triage", "sol"):
        assert all(limit == whole[launch] for launch, limit in ours.items())
    if "details" in sets:
        assert "cannot tell" not in ours.values()
