"""Recordings as tables in Python: `gpu_profile.open`, by the standard library alone and by the Arrow libraries that are installed."""

import gc
import importlib.util
import os
import re
import shutil
import sys
import threading
from pathlib import Path
from unittest.mock import MagicMock

import pytest

import gpu_profile

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "input_bound.json.gz"


@pytest.fixture(scope="module")
def trace():
    return gpu_profile.open(EXAMPLE)


def needs(module):
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"{module} is not installed")


def test_tables_are_those_of_sql(trace):
    kernels = trace.kernels
    assert len(kernels) == 608 and kernels.columns[0] == ("start_ns", "integer", "ns", "Start.")
    found = kernels.to_dict()
    asked = trace.sql("SELECT * FROM kernel").to_dict()
    assert found == asked and set(found["graph_id"]) == {None}
    assert all(end - start == dur for start, end, dur in zip(found["start_ns"], found["end_ns"], found["dur_ns"]))


def test_analyses_by_name_and_alias(trace):
    assert trace.report("cuda_gpu_mem_time_sum").to_dict() == trace.table("memcpy_summary").to_dict()
    assert {type(value) for value in trace.report("api").to_dict()["blocking"]} == {bool}
    reported = gpu_profile.report(EXAMPLE, "idle", limit=0)["tables"][0]
    assert [list(row) for row in zip(*trace.report("idle").to_dict().values())] == reported["rows"]


def test_verdict_and_findings_are_those_of_the_program(trace):
    envelope = gpu_profile.report(EXAMPLE)
    assert (trace.verdict, trace.findings) == (envelope["verdict"], envelope["findings"])


def test_predictions_with_changes(trace):
    alone = {row["change"]: row for row in trace.whatif().rows if row["kind"] == "single"}
    asked = trace.whatif("input", "kernel:gemm=0.5").rows
    assert [row["kind"] for row in asked] == ["baseline", "single", "single", "together"]
    assert asked[1] == alone["input"]
    assert asked[3]["step_ns"] <= min(row["step_ns"] for row in asked[:3])
    with pytest.raises(gpu_profile.Error, match="unknown change 'inputs'; did you mean 'input'"):
        trace.whatif("inputs")


def test_a_recording_without_a_prediction_says_why():
    none = gpu_profile.open(ROOT / "tests" / "fixtures" / "public" / "amd_trace__mi250_minitoy_train_ROCm6_2_kineto.json.gz").whatif()
    assert none.rows == []
    assert none.notes


def test_types_of_an_answer(trace):
    answer = trace.sql("SELECT 1 AS i, 2.5 AS r, 'é' AS t, NULL AS n UNION ALL SELECT 2, 3, 4, NULL")
    assert answer.to_dict() == {"i": [1, 2], "r": [2.5, 3.0], "t": ["é", "4"], "n": [None, None]}
    assert [column.type for column in answer.columns] == ["integer", "real", "text", "integer"]
    assert trace.sql("SELECT name FROM kernel WHERE 0").to_dict() == {"name": []}


@pytest.mark.parametrize(
    ("sql", "said"),
    [("SELECT nam FROM kernel", "no such column"), ("SELECT 1; SELECT 2", "one "), ("", "statement"),
     ("SELECT '\0'", "NUL byte"), ("DROP TABLE kernel", "read-only")],
)
def test_wrong_sql_raises(trace, sql, said):
    with pytest.raises(gpu_profile.Error, match=said):
        trace.sql(sql)


def test_long_answers_and_queries_end(trace):
    with pytest.raises(gpu_profile.Error, match="more than 3 rows"):
        trace.sql("SELECT name FROM kernel", max_rows=3)
    endless = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(gpu_profile.Error, match="0.2 s"):
        trace.sql(endless, time_out_s=0.2)
    timer = threading.Timer(0.3, trace._library.gpuprof_trace_interrupt, [trace._handle])
    timer.start()
    with pytest.raises(gpu_profile.Error, match="cancelled"):
        trace.sql(endless)


def test_tables_outlive_their_trace():
    kernels = gpu_profile.open(EXAMPLE).kernels
    capsule = kernels.__arrow_c_stream__()
    gc.collect()
    assert len(kernels.to_dict()["name"]) == 608
    del kernels, capsule
    gc.collect()


def test_a_file_that_cannot_be_read():
    with pytest.raises(gpu_profile.Error) as problem:
        gpu_profile.open("/nowhere")
    assert problem.value.code == 3


ANSWER = "SELECT name, dur_ns, dur_ns / 2.0 AS half, NULL AS empty, nullif(name, 'none') AS t FROM kernel UNION ALL VALUES (NULL, 1, NULL, NULL, 'é')"


@needs("nanoarrow")
@pytest.mark.parametrize("ask", [lambda t: t.kernels, lambda t: t.report("api"), lambda t: t.sql(ANSWER)])
def test_a_reader_of_arrow_finds_what_to_dict_does(trace, ask):
    import nanoarrow

    table = ask(trace)
    read = nanoarrow.Array(table)
    assert len(read) == len(table) > 0
    for column, values in zip(read.iter_children(), table.to_dict().values()):
        assert column.to_pylist() == values


@needs("nanoarrow")
def test_columns_are_not_copied_and_say_their_unit(trace):
    import nanoarrow

    names = [column.name for column in trace.kernels.columns]
    durations = [nanoarrow.Array(trace.kernels).child(names.index("dur_ns")) for _ in range(2)]
    assert durations[0].buffers[1]._addr() == durations[1].buffers[1]._addr()
    assert dict(durations[0].schema.metadata.items())[b"unit"] == b"ns"


@needs("pyarrow")
def test_pyarrow_reads_without_a_copy(trace, tmp_path):
    import pyarrow.parquet

    table = trace.kernels.to_arrow()
    assert table.column("name").to_pylist() == trace.kernels.to_dict()["name"]
    assert table.schema.field("dur_ns").metadata[b"unit"] == b"ns"
    again = trace.kernels.to_arrow()
    assert table.column("dur_ns").chunk(0).buffers()[1].address == again.column("dur_ns").chunk(0).buffers()[1].address
    assert str(tmp_path / "kernel.parquet") in trace.to_parquet(tmp_path)
    assert pyarrow.parquet.read_table(os.path.join(tmp_path, "kernel.parquet")).column("dur_ns") == table.column("dur_ns")


@needs("polars")
def test_polars_reads(trace):
    assert trace.kernels.to_polars()["dur_ns"].sum() == sum(trace.kernels.to_dict()["dur_ns"])


@needs("duckdb")
def test_duckdb_reads(trace):
    import duckdb

    kernels = trace.kernels  # noqa: F841
    assert duckdb.sql("SELECT sum(dur_ns) FROM kernels").fetchall()[0][0] == sum(trace.kernels.to_dict()["dur_ns"])


@needs("pandas")
@needs("pyarrow")
def test_pandas_reads(trace):
    assert trace.kernels.to_pandas()["dur_ns"].sum() == sum(trace.kernels.to_dict()["dur_ns"])


def test_the_page_runs(tmp_path, monkeypatch):
    """What is not installed is stood in for by an object that accepts everything: then the page uses this package rightly."""
    for library in ("duckdb", "pandas", "polars", "pyarrow.parquet", "pyarrow"):
        if importlib.util.find_spec(library.split(".")[0]) is None:
            monkeypatch.setitem(sys.modules, library, MagicMock())
    monkeypatch.chdir(tmp_path)
    shutil.copy(EXAMPLE, tmp_path / "trace.json.gz")
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/guides/tables.md").read_text(), re.MULTILINE | re.DOTALL):
        exec(compile(block, "page", "exec"), names)
    assert len(names["kernels"]) == 608
