"""Proton's trees: every node and metric against Python's json; depth and broken input."""

import json
import re

from conftest import FIXTURES
from exported import tables_of

FILE = FIXTURES / "proton/matmul.hatchet"


def walk(node, parent, out):
    number = len(out)
    out.append((str(number), parent, node["frame"]["name"], node["metrics"]))
    for child in node["children"]:
        walk(child, str(number), out)
    return out


def test_every_node_and_metric(program):
    nodes = walk(json.loads(FILE.read_text())[0], None, [])
    tables = tables_of(program, FILE)
    assert [(row["node"], row.get("parent"), row["name"], row.get("device")) for row in tables["call_node"]] == [
        (node, parent, name, metrics.get("device_id")) for node, parent, name, metrics in nodes]
    wanted = []
    for node, _, _, metrics in nodes:
        for key, value in metrics.items():
            if not key.startswith("device_"):
                name, unit = re.fullmatch(r"(.*?)(?: \(([^()]*)\))?", key).groups()
                wanted.append((node, name, unit, float(value)))
    found = [(row["node"], row["metric"], row.get("unit"), float(row["value"])) for row in tables["call_metric"]]
    assert [row for row in found if not row[1].startswith("cpu_time")] == [row for row in wanted if not row[1].startswith("cpu_time")]
    assert sum(value for _, name, _, value in found if name == "time") == 1843200 + 2048
    assert [(row["device"], row["cc_major"], row["cc_minor"], row["sms"]) for row in tables["device"]] == [("0", "9", "0", "132"), ("1", "10", "0", "148")]


def write(tmp_path, text):
    file = tmp_path / "tree.hatchet"
    file.write_text(text)
    return file


def test_a_tree_of_many_levels(program, tmp_path):
    def deep(levels):
        text = '{"frame":{"name":"f"},"metrics":{"time (ns)":1},"children":['
        return "[" + text * levels + "]}" * levels + "]"

    assert len(tables_of(program, write(tmp_path, deep(300)))["call_node"]) == 300
    outcome = program.run("report", write(tmp_path, deep(5000)))
    assert outcome.status == 3 and "cannot read" in outcome.errors[0]


def test_values_that_are_no_numbers(program, tmp_path):
    file = write(tmp_path, '[{"frame":{"name":"f"},"metrics":{"time (ns)":"x","count":null,"bytes":3},"children":[7]}]')
    assert [(row["metric"], float(row["value"])) for row in tables_of(program, file)["call_metric"]] == [("bytes", 3)]
    (loss,) = program.report(file, "losses")["losses"].rows
    assert (loss["kind"], loss["count"]) == ("bad_number", 2)


def test_cut_off(program, tmp_path):
    text = FILE.read_text()
    losses = {row["kind"]: row["place"] for row in program.report(write(tmp_path, text[:-20]), "losses")["losses"].rows}
    assert losses["truncated"].endswith(f"at byte {len(text) - 20}")


def test_a_metric_of_several_values_is_left_out_by_name(program, tmp_path):
    file = write(tmp_path, '[{"frame":{"name":"f"},"metrics":{"loss":[0.5,0.25],"count":2},"children":[]}]')
    assert [row["metric"] for row in tables_of(program, file)["call_metric"]] == ["count"]
    (loss,) = program.report(file, "losses")["losses"].rows
    assert (loss["kind"], loss["place"]) == ("unread_table", "vector metric loss (1)")
