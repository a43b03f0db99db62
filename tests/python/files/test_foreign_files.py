"""Files that are no recordings: each is named for what it is."""

import json

import pytest
from exported import tables_of


def write(folder, name, text):
    file = folder / name
    file.write_text(text if isinstance(text, str) else json.dumps(text))
    return file


@pytest.mark.parametrize(("name", "text", "said"), [
    ("et.json", {"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [{"id": 2, "name": "aten::mm", "ctrl_deps": 1}]}, "a PyTorch execution trace"),
    ("wprof.jsonl", '{"version":"3.1","timer_freq_hz":0,"capture_cuda":true}\n{"ts":0.0,"t":"switch","cpu":1}\n', "wprof's JSON lines without GPU work"),
    ("t.html", '<html><head>Memory</head><img src="data:image/png;base64,iVBO"></html>', "only a picture"),
    ("a.parquet", "PAR1....", "a Parquet file"),
])
def test_what_a_file_is(program, tmp_path, name, text, said):
    outcome = program.run("report", write(tmp_path, name, text))
    assert outcome.status == 3 and said in outcome.errors[0], outcome.errors


def test_a_folder_of_exported_tables(program, tmp_path):
    folder = tmp_path / "run.parquetdir"
    folder.mkdir()
    for table in ("StringIds", "CUPTI_ACTIVITY_KIND_KERNEL"):
        write(folder, f"{table}.parquet", "PAR1")
    outcome = program.run("report", folder)
    assert outcome.status == 3 and f"nsys export --type sqlite -o {tmp_path}/run.sqlite {tmp_path}/run.nsys-rep" in outcome.errors[0]


def test_sums_of_memory_by_category(program, tmp_path):
    file = write(tmp_path, "a.json", [[1_000_000_000, 1_000_000_010, 1_000_000_020],
                                      [[0, 1024, 0, 0, 0, 0, 0, 0, 0], [0, 1024, 0, 0, 4096, 0, 0, 0, 512], [0, 1024, 0, 0, 0, 0, 0, 0, 512]]])
    assert [(int(row["time"]), int(row["bytes"]), row.get("category")) for row in tables_of(program, file)["memory_event"]] == [
        (1_000_000_000_000, 1024, "parameter"), (1_000_000_010_000, 4096, "temporary"), (1_000_000_010_000, 512, None), (1_000_000_020_000, -4096, "temporary")]


def test_backends_of_pytorch(program, tmp_path):
    def event(category, name, at):
        return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 2, "ts": at, "dur": 1, "args": {"External id": 5}}

    names = [("mtia_runtime", "mtiaLaunch"), ("privateuse1_driver", "npuLaunch"), ("glow_runtime", "run"), ("hpu_op", "mul"), ("mtia_ccp_events", "pe_exe 1"),
             ("mtia_ccp_events", "dma_request 2"), ("mtia_insight", "other")]
    file = write(tmp_path, "a.json", {"schemaVersion": 1, "traceEvents": [event(*name, 10 * at) for at, name in enumerate(names)]})
    tables = tables_of(program, file)
    assert [row["name"] for row in tables["api_call"]] == ["mtiaLaunch", "npuLaunch", "run"]
    assert [row["name"] for row in tables["op"]] == ["mul"]
    assert (len(tables["kernel"]), len(tables["memcpy"])) == (1, 1)
    (loss,) = [row for row in program.report(file, "losses")["losses"].rows if row["kind"] == "unknown_event"]
    assert loss["count"] == 1
