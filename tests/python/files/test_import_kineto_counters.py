"""Counters that the PyTorch profiler collects with CUPTI's range profiler: every value against Python's json, their order, what the first answer says."""

import json
import subprocess

from conftest import FIXTURES
from exported import tables_of
from oracle.trace import unpacked

FILE = FIXTURES / "public/cupti_profiler__benchmark_result_924719_1679055439_trace.json.zst"


def ranges(file=FILE):
    return [event for event in json.loads(unpacked(file))["traceEvents"] if event.get("cat") == "cuda_profiler_range"]


def test_every_launch_and_value(program):
    events, tables = ranges(), tables_of(program, FILE)
    launches = tables["profiled_kernel"]
    assert [(row["launch"], row.get("name") or "__missing__", row["device"], row["kind"], row["tool"]) for row in launches] == [
        (str(number), event["name"], str(event["pid"]), "kernel", "torch.profiler") for number, event in enumerate(events)]
    assert all(row.get("dur") in (None, "") for row in launches), "Kineto spreads the events evenly, so their durations say nothing"
    assert [(int(row["launch"]), row["metric"], float(row["value"])) for row in tables["kernel_counter"]] == [
        (number, metric, value) for number, event in enumerate(events) for metric, value in event["args"].items()]


def test_operations_are_those_of_the_vendors_formula(program):
    done = subprocess.run([program.path, "report", FILE, "kernel", "--launch", "39", "--format", "json"], capture_output=True, text=True, check=True)
    rows = [dict(zip(("section", "name", "value", "unit", "note"), row, strict=True)) if isinstance(row, list) else row
            for row in json.loads(done.stdout)["tables"][0]["rows"]]
    found = {row["name"]: row["value"] for row in rows if row["section"] == "roofline"}
    args = {metric.split("_op_")[1].partition("_")[0]: value for metric, value in ranges()[39]["args"].items()}
    wanted = {"FP32 operations": args["fadd"] + args["fmul"] + 2 * args["ffma"],
              "FP64 operations": args["dadd"] + args["dmul"] + 2 * args["dfma"],
              "FP16 operations": 2 * (args["hadd"] + args["hmul"] + 2 * args["hfma"])}
    assert found == {name: value for name, value in wanted.items() if value}
    assert found


def test_the_first_answer_blames_no_lost_work(program):
    done = subprocess.run([program.path, "report", FILE, "--verbose"], capture_output=True, text=True, check=True)
    assert "77 profiled kernels, 693 kernel counters; no timeline" in " ".join(done.stdout.split())
    assert "not recorded" not in done.stdout.partition("Kernels")[0]
    assert "throughput was not collected" in done.stdout


def test_one_range_for_everything_and_values_that_are_not_there(program, tmp_path):
    file = tmp_path / "whole.json"
    event = {"ph": "X", "cat": "cuda_profiler_range", "name": "__profile__", "pid": 0, "tid": 0, "ts": 1, "dur": 2,
             "args": {"dram__bytes_read.sum": 3.5e9, "sm__warps_active.avg.pct_of_peak_sustained_active": "X", "note": 1}}
    text = json.dumps({"schemaVersion": 1, "traceEvents": [event, {**event, "name": "k", "args": {"a__b.sum": 7}}]}).replace('"X", "note', 'nan, "note')
    file.write_text(text)
    tables = tables_of(program, file)
    assert [(row["kind"], row.get("range"), row.get("name")) for row in tables["profiled_kernel"]] == [
        ("range", "the whole recording", None), ("kernel", None, "k")]
    assert [(row["launch"], row["metric"], float(row["value"])) for row in tables["kernel_counter"]] == [
        ("0", "dram__bytes_read.sum", 3.5e9), ("1", "a__b.sum", 7)]
