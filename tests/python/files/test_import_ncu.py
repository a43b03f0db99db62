"""Nsight Compute CSV: every counter against Python's csv module; output mixed in; numbers of other locales; what is absent."""

import csv
import gzip
import re
from collections import Counter

import pytest
from conftest import FIXTURES
from exported import tables_of

LAUNCH_COLUMNS = 11  # ID ... CC
NS = {"us": 1e3, "ms": 1e6, "ns": 1}


def lines_of(page):
    return gzip.decompress((FIXTURES / f"ncu/kernels.{page}.csv.gz").read_bytes()).decode().splitlines()


def number(text):
    return float(text.replace(",", "")) if re.fullmatch(r"-?[\d,]+(\.\d+)?", text) else None


def counters(tables):
    """(launch, metric, unit, value or text) of every row."""
    return Counter((row["launch"], row["metric"], row.get("unit", ""), float(row["value"]) if "value" in row else row["text"]) for row in tables["kernel_counter"])


def wanted_raw():
    header, units, *launches = list(csv.reader(lines_of("raw")))
    return Counter((row[0], name, unit, number(value) if number(value) is not None else value) for row in launches
                   for name, unit, value in list(zip(header, units, row, strict=True))[LAUNCH_COLUMNS:] if value not in ("", "nan", "no data"))


def wanted_details():
    return Counter((row["ID"], row["Metric Name"], row["Metric Unit"], number(row["Metric Value"]) if number(row["Metric Value"]) is not None else row["Metric Value"])
                   for row in csv.DictReader(lines_of("details")) if row["Metric Name"] and row["Metric Value"])


@pytest.mark.parametrize(("page", "wanted"), [("raw", wanted_raw), ("details", wanted_details)])
def test_every_counter_of_every_launch(program, page, wanted):
    found = counters(tables_of(program, FIXTURES / f"ncu/kernels.{page}.csv.gz"))
    assert found == wanted()
    assert len(found) > 700


@pytest.mark.parametrize("page", ["raw", "details"])
def test_launches(program, page):
    tables = tables_of(program, FIXTURES / f"ncu/kernels.{page}.csv.gz")
    rows = {row["ID"]: row for row in csv.DictReader(lines_of("details"))}
    assert len(rows) == 9
    for launch in tables["profiled_kernel"]:
        row = rows.pop(launch["launch"])
        assert launch["name"] == row["Kernel Name"]
        for ours, theirs in (("grid", "Grid Size"), ("block", "Block Size")):
            assert tuple(int(launch[f"{ours}_{axis}"]) for axis in "xyz") == tuple(map(int, re.findall(r"\d+", row[theirs])))
        assert (launch["cc_major"], launch["cc_minor"], launch["process"], launch["device"]) == ("9", "0", row["Process ID"], "0")
    assert not rows
    durations = {row["ID"]: round(float(row["Metric Value"]) * NS[row["Metric Unit"]]) for row in csv.DictReader(lines_of("details")) if row["Metric Name"] == "Duration"}
    assert all(abs(int(launch["dur"]) - durations[launch["launch"]]) < 0.005 * NS["ms"] for launch in tables["profiled_kernel"])


def test_sections_and_rules_are_kept(program):
    file = FIXTURES / "ncu/kernels.details.csv.gz"
    rows = list(csv.DictReader(lines_of("details")))
    sections = Counter(row["Section Name"] for row in rows if row["Metric Name"] and row["Metric Value"])
    assert Counter(row["section"] for row in tables_of(program, file)["kernel_counter"]) == sections
    rules = [row for row in rows if not row["Metric Name"]]
    advice = program.report(file, "tool_advice")["tool_advice"].rows
    assert [(row["rule"], row["kind"], row["text"]) for row in advice] == [(row["Rule Name"], row["Rule Type"], row["Rule Description"]) for row in rules]
    assert [row["gain_pct"] for row in advice] == [float(row["Estimated Speedup"]) if row["Estimated Speedup"] else None for row in rules]


def test_output_of_the_program_and_of_ncu_is_left_out(program, tmp_path):
    header, units, *launches = lines_of("raw")
    mixed = ["==PROF== Connected to process 502", '"a quote that is never closed, 1', "step 1, loss 0.5", *["x" * 70_000], header, units, launches[0],
             '==PROF== Profiling "scale": 0%....100% - 8 passes', "==WARNING== Found outstanding GPU clock reset", "1,2,3", '"7","7"', *launches[1:], "done"]
    file = tmp_path / "mixed.csv"
    file.write_text("\r\n".join(mixed) + "\r\n")
    assert counters(tables_of(program, file)) == wanted_raw()
    losses = {row["kind"]: row for row in program.report(file, "losses")["losses"].rows}
    assert losses["recorder_warning"]["count"] == 1


def table(*values, unit="byte"):
    """A raw page with one launch and one metric for each value."""
    launch = ["0", "1", "prog", "host", "k(int)", "1", "7", "(1, 1, 1)", "(1, 1, 1)", "0", "9.0"]
    names = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"]
    rows = [names + [f"m{i}" for i in range(len(values))], [""] * len(names) + [unit] * len(values), launch + list(values)]
    return "".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in rows)


@pytest.mark.parametrize(("texts", "values"), [
    (["1.234,5", "454.555", "0,845951", "12"], [1234.5, 454555, 0.845951, 12]),
    (["1,234.5", "454,555", "0.845951", "12"], [1234.5, 454555, 0.845951, 12]),
    (["454,555", "16.896"], [454555, 16.896]),  # nothing else tells: a point is decimal
    (["1.234.567", "16.896"], [1234567, 16896]),
    (["1 234,5", "1\u202f234\u202f567", "16.896"], [1234.5, 1234567, 16896]),
    (["1'234.5", "1’234’567", "1e-3"], [1234.5, 1234567, 0.001]),
])
def test_numbers_of_other_locales(program, tmp_path, texts, values):
    file = tmp_path / "locale.csv"
    file.write_text(table(*texts))
    assert [float(row["value"]) for row in tables_of(program, file)["kernel_counter"]] == values


def test_what_is_absent_or_no_number(program, tmp_path):
    file = tmp_path / "odd.csv"
    file.write_text(table("", "nan", "n/a", "(!) n/a", "CachePreferNone", "12 (4; 8)", 'a "b", c', "1.2.3,4,5"))
    rows = tables_of(program, file)["kernel_counter"]
    assert [(row["metric"], row.get("value"), row.get("text")) for row in rows] == [
        ("m4", None, "CachePreferNone"), ("m5", "12.0", "12 (4; 8)"), ("m6", None, 'a "b", c'), ("m7", None, "1.2.3,4,5")]


def test_two_processes_may_number_their_launches_alike(program, tmp_path):
    one = table("1").splitlines()
    file = tmp_path / "two.csv"
    file.write_text("\n".join([*one, one[2].replace('"0","1"', '"0","2"')]) + "\n" + table("3"))
    tables = tables_of(program, file)
    assert [(row["launch"], row["process"]) for row in tables["profiled_kernel"]] == [("0", "1"), ("1", "2"), ("2", "1")]
    assert [(row["launch"], row["value"]) for row in tables["kernel_counter"]] == [("0", "1.0"), ("1", "1.0"), ("2", "3.0")]


def test_cut_off_and_empty(program, tmp_path):
    text = table("1", "2")
    for cut in range(0, len(text), 7):
        (tmp_path / "cut.csv").write_text(text[:cut])
        assert program.run("report", tmp_path / "cut.csv", "losses").status in (0, 3)
    (tmp_path / "none.csv").write_text("==PROF== Connected to process 502\n==PROF== Disconnected from process 502\n")
    outcome = program.run("report", tmp_path / "none.csv")
    assert outcome.status == 3 and "--csv --page raw" in outcome.errors[0]


def test_a_header_that_names_a_column_twice(program, tmp_path):
    """The first one counts; rows have as many fields as the header."""
    file = tmp_path / "twice.csv"
    file.write_text(table("1", "2", "3").replace('"m1"', '"m0"'))
    assert [(row["metric"], float(row["value"])) for row in tables_of(program, file)["kernel_counter"]] == [("m0", 1), ("m2", 3)]


def test_a_device_without_a_compute_capability(program, tmp_path):
    file = tmp_path / "cc.csv"
    file.write_text(table("1").replace('"9.0"', '"?"'))
    tables = tables_of(program, file)
    assert "cc_major" not in tables["profiled_kernel"][0] and "cc_major" not in tables["device"][0]
