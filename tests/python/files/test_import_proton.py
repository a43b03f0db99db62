"""Proton's trees: every node and metric against Python's json; depth and broken input."""

import json
import re
import struct

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


def packed(value):
    """MessagePack, each kind in the smallest of its forms but for lengths, which take every form in turn."""
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, int):
        for first, form, low, high in ((0xCC, ">B", 0, 2**8), (0xD0, ">b", -2**7, 0), (0xD1, ">h", -2**15, 0), (0xCE, ">I", 0, 2**32), (0xD2, ">i", -2**31, 0), (0xCF, ">Q", 0, 2**64), (0xD3, ">q", -2**63, 0)):
            if low <= value < high:
                return (struct.pack("b", value) if -32 <= value < 128 else bytes([first]) + struct.pack(form, value))
    if isinstance(value, str):
        text = value.encode()
        return (bytes([0xA0 | len(text)]) if len(text) < 32 else b"\xd9" + bytes([len(text)]) if len(text) < 256 else b"\xda" + struct.pack(">H", len(text))) + text
    items = [item for pair in value.items() for item in pair] if isinstance(value, dict) else value
    head = (bytes([(0x80 if isinstance(value, dict) else 0x90) | len(value)]) if len(value) < 16 else
            (b"\xde" if isinstance(value, dict) else b"\xdc") + struct.pack(">H", len(value)))
    return head + b"".join(map(packed, items))


def as_msgpack(tmp_path, tree, size=None):
    file = tmp_path / "tree.hatchet_msgpack"
    file.write_bytes(packed(tree)[:size])
    return file


def test_msgpack_is_the_same_tree(program, tmp_path):
    tree = json.loads(FILE.read_text())
    first = tree[0]["children"][0] if tree[0]["children"] else tree[0]
    first["metrics"].update({"loss": [0.5, 0.25], "below": -40_000, "more": 2**40, "long": 3})
    first["children"] += [{"frame": {"name": "x" * size}, "metrics": {"count": size}, "children": []} for size in (31, 32, 300)]
    first["children"] += [{"frame": {"name": f"c{n}"}, "metrics": {}, "children": []} for n in range(20)]
    text, binary = write(tmp_path, json.dumps(tree)), as_msgpack(tmp_path, tree)
    assert tables_of(program, text) == tables_of(program, binary)
    assert {row["kind"]: row["count"] for row in program.report(binary, "losses")["losses"].rows}["unread_table"] == 1


def test_msgpack_with_values_that_json_lacks(program, tmp_path):
    tree = [{"frame": {"name": "f"}, "metrics": {"time (ns)": float("nan"), "count": 3, "bytes": float("inf")}, "children": []}]
    file = as_msgpack(tmp_path, tree)
    assert [(row["metric"], float(row["value"])) for row in tables_of(program, file)["call_metric"]] == [("count", 3)]
    assert {row["kind"]: row["count"] for row in program.report(file, "losses")["losses"].rows} == {"bad_number": 2}


def test_msgpack_cut_anywhere(program, tmp_path):
    tree = json.loads(FILE.read_text())
    whole = packed(tree)
    for size in range(30, len(whole), len(whole) // 20):
        outcome = program.run("report", as_msgpack(tmp_path, tree, size), "losses", "--format", "json")
        assert outcome.status == 3 or b"truncated" in outcome.stdout, size
