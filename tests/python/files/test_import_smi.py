"""Logs of nvidia-smi: every cell of a query and of dmon; times; units; devices without a number; what is absent or broken."""

import csv
import re
import xml.etree.ElementTree as etree
from datetime import datetime, timezone

import pytest
from conftest import FIXTURES
from exported import tables_of

METRICS = {"utilization.gpu": "util.gpu", "utilization.memory": "util.mem", "memory.used": "mem.used", "memory.total": "mem.total", "power.draw": "power",
           "temperature.gpu": "temp", "clocks.current.sm": "clock.sm", "clocks.current.memory": "clock.mem"}
DMON = {"pwr": "power", "gtemp": "temp", "sm": "util.gpu", "mem": "util.mem", "mclk": "clock.mem", "pclk": "clock.sm"}


def log(tmp_path, text):
    file = tmp_path / "log.txt"
    file.write_text(text)
    return file


def samples(tables):
    return [(row.get("time"), row.get("device"), row["metric"], float(row["value"])) for row in tables["sample"]]


def losses(program, file):
    return {row["kind"]: row["count"] for row in program.report(file, "losses")["losses"].rows}


def test_a_query(program):
    file = FIXTURES / "nvidia-smi/h200-580.csv"
    (row,) = csv.DictReader(file.open(), skipinitialspace=True)
    tables = tables_of(program, file)
    found = {metric: value for _, _, metric, value in samples(tables)}
    for title, cell in row.items():
        if (name := METRICS.get(title.split(" [")[0])) is not None:
            assert found[name] == float(cell.split()[0])
    (device,) = tables["device"]
    assert (device["device"], device["name"], device["uuid"]) == (row["index"], row["name"], row["uuid"])
    assert "timestamp" in tables["meta"][0]["value"]


def test_dmon(program):
    file = FIXTURES / "nvidia-smi/h200-580-dmon.txt"
    lines = [line.strip("# \n").split() for line in file.open()]
    tables = tables_of(program, file)
    wanted = [(None, row[0], DMON.get(name, name), float(value)) for row in lines[2:] for name, value in list(zip(lines[0], row, strict=True))[1:]]
    assert samples(tables) == wanted
    assert len(wanted) == 33
    units = {row["metric"]: row["unit"] for row in tables["sample"]}
    assert (units["power"], units["clock.sm"], units["mtemp"], units["enc"]) == ("W", "MHz", "C", "%")


def test_a_column_under_the_name_of_a_metric_holds_what_the_metric_can(program, tmp_path):
    file = log(tmp_path, "# gpu util.mem other\n# Idx % #\n0 540125 540125\n0 40 7\n")
    assert samples(tables_of(program, file)) == [(None, "0", "other", 540125), (None, "0", "util.mem", 40), (None, "0", "other", 7)]
    assert losses(program, file) == {"bad_number": 1}


def ns(*of):
    return str(int(datetime(*of, tzinfo=timezone.utc).timestamp()) * 10**9)


@pytest.mark.parametrize("header", [True, False])
def test_times_of_a_query_and_repeated_headers(program, tmp_path, header):
    head = "timestamp, name, uuid, power.draw [W], fan.speed [%], compute_mode\n"
    rows = ["2026/02/28 23:59:59.125, NVIDIA A, GPU-a, 70.5 W, 30 %, Default\n", "2026/02/28 23:59:59.126, NVIDIA B, GPU-b, [N/A], [N/A], Default\n",
            "2024/02/29 00:00:00.000, NVIDIA B, GPU-b, 71, 31, Default\n"]
    file = log(tmp_path, head + (head if header else "").join(rows))
    tables = tables_of(program, file)
    first = ns(2026, 2, 28, 23, 59, 59)[:-9] + "125000000"
    assert samples(tables) == [(first, "0", "power", 70.5), (first, "0", "fan.speed", 30), (ns(2024, 2, 29), "1", "power", 71), (ns(2024, 2, 29), "1", "fan.speed", 31)]
    assert [row["name"] for row in tables["device"]] == ["NVIDIA A", "NVIDIA B"]
    assert "UTC" in tables["meta"][0]["value"]
    assert losses(program, file) == {}


def test_times_of_dmon(program, tmp_path):
    file = log(tmp_path, "#Date       Time        gpu    pwr     fb\n#YYYYMMDD   HH:MM:SS    Idx      W     MB\n 20260228   23:59:59      1     70   1024\n")
    assert samples(tables_of(program, file)) == [(ns(2026, 2, 28, 23, 59, 59), "1", "power", 70), (ns(2026, 2, 28, 23, 59, 59), "1", "mem.used", 1024)]
    file = log(tmp_path, "#gpu, pwr, sm\n#Idx, W, %\n0, 70, -\n")
    assert samples(tables_of(program, file)) == [(None, "0", "power", 70)]


def test_broken_lines_are_counted(program, tmp_path):
    file = log(tmp_path, "index, power.draw [W], utilization.gpu [%]\n0, 70 W, 5 %\nUnable to determine the device handle\n0, 1e9 W, 500 %\n0, 70 W\n0, [Unknown Error], 7 %\n")
    assert samples(tables_of(program, file)) == [(None, "0", "power", 70), (None, "0", "util.gpu", 5), (None, "0", "util.gpu", 7)]
    assert losses(program, file) == {"malformed_event": 2, "bad_number": 2}


@pytest.mark.parametrize("stamp", ["2026/13/01 00:00:00", "2026/02/30 00:00:00", "2026/02/01 24:00:00", "99999/01/01 00:00:00", "yesterday", ""])
def test_times_that_are_none(program, tmp_path, stamp):
    file = log(tmp_path, f"timestamp, index, power.draw [W]\n{stamp}, 0, 70\n")
    assert samples(tables_of(program, file)) == [(None, "0", "power", 70)]


def test_other_csv_is_not_taken_for_a_log(program, tmp_path):
    for text in ("name,value\nx,1\n", "# gpu\n", "index\n0\n", "a, b\n"):
        assert program.run("report", log(tmp_path, text)).status == 3


ANSWER = FIXTURES / "nvidia-smi/h200-580-q.xml"
PLACES = {"utilization.gpu_util": "util.gpu", "utilization.memory_util": "util.mem", "fb_memory_usage.used": "mem.used", "fb_memory_usage.total": "mem.total",
          "gpu_power_readings.average_power_draw": "power", "temperature.gpu_temp": "temp", "clocks.sm_clock": "clock.sm", "clocks.mem_clock": "clock.mem",
          "performance_state": "pstate", "pci.pci_gpu_link_info.pcie_gen.current_link_gen": "pcie.gen"}


def numbers_of(gpu):
    """Path -> (number, unit) of every element that holds a number, by Python's own reader."""
    found = {}

    def walk(element, path):
        for child in element:
            if not path and child.tag in ("supported_clocks", "processes", "accounted_processes"):
                continue
            walk(child, [*path, child.tag])
        number = re.fullmatch(r"(?:P(?=\d+$))?(-?\d+(?:\.\d+)?)(?: (\S+))?", (element.text or "").strip())
        if number and len(element) == 0:
            found[".".join(path)] = (float(number[1]), number[2])

    walk(gpu, [])
    del found["gpu_power_readings.power_state"], found["module_power_readings.power_state"]  # words here: the state is performance_state
    return {PLACES.get(path, path): value for path, value in found.items()}


def test_a_whole_answer(program):
    expected = numbers_of(etree.parse(ANSWER).getroot().find("gpu"))
    tables = tables_of(program, ANSWER)
    assert {row["metric"]: float(row["value"]) for row in tables["sample"]} == {name: value for name, (value, _) in expected.items()}
    units = {row["metric"]: row.get("unit") for row in tables["sample"]}
    assert all(units[name] == unit for name, (_, unit) in expected.items() if name not in ("pcie.gen", "pstate"))
    assert [(row["device"], row["name"], "uuid" in row) for row in tables["device"]] == [("0", "NVIDIA H200", False)]
    assert {row.get("time") for row in tables["sample"]} == {None} and losses(program, ANSWER) == {}


def test_answers_one_after_another(program, tmp_path):
    text = ANSWER.read_text()
    both = "".join(text.replace("<timestamp>2026-11-20<", f"<timestamp>Fri Nov 20 22:40:0{second} 2026<") for second in (1, 3))
    tables = tables_of(program, log(tmp_path, both))
    times = {row["time"] for row in tables["sample"]}
    assert times == {str(int(datetime(2026, 11, 20, 22, 40, second, tzinfo=timezone.utc).timestamp()) * 10**9) for second in (1, 3)}
    assert len(tables["device"]) == 1 and "UTC" in tables["meta"][0]["value"]


@pytest.mark.parametrize("kept", [200, 5000, 12000])
def test_an_answer_that_is_cut_off(program, tmp_path, kept):
    file = log(tmp_path, ANSWER.read_text()[:kept])
    assert losses(program, file) == {"truncated": 1}
