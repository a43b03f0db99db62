"""One quantity has one value, on whichever surface a person or a program meets it: the screen, JSON, CSV, Markdown, SQL, Python, the
viewer's document, `whatif` and `compare`."""

import json
import re

import gpu_profile
import pytest
from conftest import FIXTURES, RECORDINGS

ROOT = FIXTURES.parents[1]
FILES = [*RECORDINGS, FIXTURES / "nsys/h100_2gpu_1s.sqlite.zst", FIXTURES / "nsys/mfu_2gpu_before.sqlite.zst", FIXTURES / "jax/mlp.xplane.pb.zst",
         FIXTURES / "public/nccl_parser_config__nccl_data.json.zst", FIXTURES / "public/trace_filter__sampled_rank-0.json.zst", ROOT / "examples/ranks"]
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9}


def rounded(ns):
    """A duration as texts show it: three digits and a unit."""
    if abs(ns) < 1000:
        return f"{ns} ns" if ns else "0"
    for unit in ("us", "ms", "s"):
        value = ns / UNITS[unit]
        if abs(value) < 999.5 or unit == "s":
            return f"{value:.{2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0}f} {unit}"
    return ""


def same(left, right):
    return left == right or (isinstance(left, float) and isinstance(right, (float, int)) and left == pytest.approx(right, rel=1e-9, abs=1e-9))


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.name)
def file(request):
    return request.param


def report(program, file, *analyses):
    """The document of a report as people get it: of the part that is judged."""
    done = program.run("report", file, *analyses, "--format", "json", "--limit", "0")
    assert done.status == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def answer(program, file):
    return report(program, file)


def rows(document, name):
    table = next(table for table in document["tables"] if table["name"] == name)
    return [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]]


def test_the_verdict_everywhere(program, file, answer):
    verdict = answer["verdict"]
    summary = rows(report(program, file, "summary"), "summary")
    said = [row for row in summary if row["section"] == "verdict"]
    assert [(row["name"], row["text"]) for row in said] == [(verdict["name"], verdict["because"])]
    assert same(said[0]["share_pct"], verdict["share_pct"])
    assert [(row["name"], row["share_pct"]) for row in summary if row["section"] == "alternative"] == [
        (each["name"], pytest.approx(each["share_pct"])) for each in verdict["alternatives"]]
    markdown = program.run("report", file, "--format", "md").stdout.decode()
    assert f"**{verdict['name']}**" in markdown.replace("\\", "")
    assert gpu_profile.report(str(file))["verdict"] == verdict
    by_name = {part["name"]: part["share_pct"] for part in verdict["parts"]}
    for each in [verdict, *verdict["alternatives"]]:  # the same parts, whichever list holds them
        if each["name"] in by_name and each["share_pct"] is not None:
            assert same(each["share_pct"], by_name[each["name"]])
    assert sum(by_name.values()) <= 100.01


def test_findings_show_the_gain_of_the_change_they_name(program, file, answer):
    predicted = [finding for finding in answer["findings"] if finding["predicted"]]
    if not predicted:
        pytest.skip("nothing is predicted")
    for finding in predicted:
        assert same(finding["share_pct"], finding["predicted"]["gain_pct"])
        assert f"{finding['share_pct']:.1f} % of a step" in finding["title"] or "%" not in finding["title"]
    whole = answer["verdict"]["whole_ns"]
    if answer["verdict"]["share_of"] == "the critical path":
        assert all(finding["predicted"]["step_before_ns"] == pytest.approx(whole, rel=1e-3) for finding in predicted)


def test_idle_time_by_cause(program, file, answer):
    """The table, the sum per device, the statement about the profiler, and the parts of a window."""
    if not any(table["name"] == "devices" for table in answer["tables"]):
        pytest.skip("no timeline")
    devices, idle = rows(answer, "devices"), rows(report(program, file, "idle"), "idle")
    for device in devices:
        assert sum(row["total_ns"] for row in idle if row["device"] == device["device"]) == device["idle_ns"]
        assert device["busy_ns"] + device["idle_ns"] == device["window_ns"]
    by_profiler = sum(row["total_ns"] for row in idle if row["cause"] == "profiler")
    statement = next((re.search(r"the profiler itself caused (\S+ \w+)(?: to (\S+ \w+))? of idle time", each["text"]) for each in answer["trust"]
                      if "the profiler itself caused" in each["text"]), None)
    assert (statement is not None) == (by_profiler > 0)
    if statement:
        assert statement[1] == rounded(by_profiler)
    finding = next((each for each in answer["findings"] if each["id"] == "profiler-cost"), None)
    if finding and statement:
        assert rounded(finding["cost_ns"]) == (statement[2] or statement[1])


def test_steps_are_those_of_compare(program, file):
    steps = rows(report(program, file, "steps"), "steps")
    compared = program.comparison(file, file, "metrics")
    row = next((row for row in compared["metrics"].rows if row["metric"] == "step_p50"), None)
    if row is None or not steps or row["basis"] != "steps":
        pytest.skip("compare does not judge steps here")
    assert same(row["base_ns"], row["new_ns"])
    text = program.run("compare", file, file).stdout.decode()
    assert f"{rounded(round(row['base_ns']))} -> {rounded(round(row['new_ns']))}" in text


@pytest.mark.parametrize("analysis", ["kernels", "idle", "devices", "findings"])
def test_a_table_is_the_same_in_every_form(program, file, analysis):
    found = rows(report(program, file, analysis), analysis)
    names = list(found[0]) if found else []
    done = program.run("query", file, f"SELECT * FROM {analysis}", "--format", "json", "--limit", "0")
    if done.status != 0 or not found:
        pytest.skip("not a relation of SQL, or empty")
    table = json.loads(done.stdout)["tables"][0]
    shared = [name for name in names if name in [column["name"] for column in table["columns"]]]
    assert shared
    at = [[column["name"] for column in table["columns"]].index(name) for name in shared]
    assert len(table["rows"]) == len(found)
    for row, other in zip(found, table["rows"]):
        assert all(same(row[name], other[place]) for name, place in zip(shared, at)), (row, other)
