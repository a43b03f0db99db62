"""AMD's databases: every row and tie, merged files, foreign schemas, and the environment that must stay unread."""

import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from exported import tables_of
from rocm_databases import SECRET, rocpd, rpd


def numbers(rows, *columns):
    return [tuple(int(row[c]) if row.get(c) and row[c].lstrip("-").isdigit() else row.get(c) for c in columns) for row in rows]


def losses(program, file):
    return {row["kind"]: row["count"] for row in program.report(file, "losses")["losses"].rows}


def test_every_row(program, tmp_path):
    tables = tables_of(program, rocpd(tmp_path / "a.db"))
    assert numbers(tables["kernel"], "start", "dur", "process", "device", "stream", "name", "correlation", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z",
                   "registers", "shared_bytes", "local_bytes", "graph_id", "graph_node_id") == [
        (1_000_000 + n * 10_000, 4001, 908, 1, 5, "copy()" if n < 2 else "plain", n + 1, 16, 2, 1, 64, 2, 1, 24 if n < 2 else None, 512, 16, *((3, 30) if n == 2 else (None, None)))
        for n in range(3)]
    assert numbers(tables["api_call"], "name", "api", "thread", "correlation") == [("hipMemcpyAsync", "hip", "908/909", 50), *(("hipLaunchKernel", "hip", "908/909", n + 1) for n in range(3))]
    assert numbers(tables["memcpy"], "start", "dur", "kind", "src", "dst", "bytes", "device", "correlation") == [(985_000, 3_000, "HtoD", "host", "device", 4096, 1, 50)]
    assert numbers(tables["range"], "start", "dur", "name") == [(970_000, 80_000, "forward"), (1_005_000, 0, "checkpoint")]
    assert numbers(tables["memory_event"], "time", "bytes", "device") == [(960_000, 1 << 20, 1), (1_060_000, -(1 << 20), 1)]
    assert numbers(tables["device"], "device", "name", "vendor", "sms", "warp_size", "max_threads_per_sm", "shared_bytes_per_sm", "memory_bytes") == [
        (1, "AMD Instinct MI300X", "amd", 256, 64, 2048, 160 << 10, 1 << 38)]
    assert {(row["metric"], float(row["value"]), row.get("unit")) for row in tables["kernel_counter"]} == {("SQ_WAVES", 303.5, None), ("TCC_HIT_sum", 0.5, "hits")}
    assert numbers(tables["profiled_kernel"], "launch", "name", "grid_x", "dur", "correlation") == [(1, "copy()", 16, 4001, 1)]


def test_the_environment_is_not_read(program, tmp_path):
    file, capture = rocpd(tmp_path / "a.db"), tmp_path / "a.gpuprof"
    assert SECRET.encode() in file.read_bytes()
    for arguments in (("report", file), ("report", file, "--format", "json"), ("export", "chrome", file, "-o", "-"), ("export", "perfetto", file, "-o", "-"),
                      ("query", file, "SELECT * FROM process")):
        outcome = program.run(*arguments)
        assert outcome.status == 0, outcome.errors
        assert SECRET not in str(outcome.stdout), arguments
    program.run("export", "capture", file, "-o", capture)
    assert not any(SECRET in str(row) for rows in tables_of(program, capture).values() for row in rows)


def test_a_merged_file_has_two_processes(program, tmp_path):
    tables = tables_of(program, rocpd(tmp_path / "a.db", guids=2))
    assert Counter(row["process"] for row in tables["kernel"]) == {"908": 3, "908#2": 3}
    assert [row["device"] for row in tables["device"]] == ["1"]


def test_copies_that_were_not_traced(program, tmp_path):
    assert losses(program, rocpd(tmp_path / "a.db", copies=False)) == {"recorder_warning": 1, "copy_without_record": 1}
    assert losses(program, rocpd(tmp_path / "b.db")) == {}


@pytest.mark.parametrize("schema", ["2", "5.0.0", ""])
def test_other_schemas_are_refused(program, tmp_path, schema):
    outcome = program.run("report", rocpd(tmp_path / "a.db", schema=schema))
    assert outcome.status == 3 and f"version {schema or 'unknown'}" in str(outcome.errors)


def test_views_are_not_evaluated(program, tmp_path):
    """A view with the name of a table would run the SQL of the file's author."""
    file = rocpd(tmp_path / "a.db", views=False)
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE VIEW rocpd_kernel_dispatch AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start FROM n")
        database.commit()
    assert len(tables_of(program, file)["kernel"]) == 3


def test_rpd(program, tmp_path):
    tables = tables_of(program, rpd(tmp_path / "a.rpd"))
    assert numbers(tables["kernel"], "start", "dur", "name", "device", "stream", "process", "correlation", "grid_x", "grid_y", "block_x") == [
        (150, 100, "gemm", 2, 4, 70, 1, 7, 2, 256), (350, 101, "add", 2, 4, 70, 2, 4, 1, 256), (550, 100, "gemm", 2, 4, 70, 3, None, None, None), (650, 100, "add", 2, 4, 70, 3, None, None, None)]
    assert numbers(tables["memcpy"], "kind", "bytes", "dur") == [("DtoH", 4096, 90)]
    assert numbers(tables["memset"], "start", "dur") == [(950, 100)]
    assert numbers(tables["range"], "name", "dur") == [("aten::mm", 1950)]
    assert len(tables["api_call"]) == 5
    assert [(row["metric"], row["unit"], float(row["value"])) for row in tables["sample"]] == [("clock.sm", "MHz", 1700.0)]


def test_cut_files(program, tmp_path):
    """Any beginning of a file gives rows with their losses or an error."""
    whole = rocpd(tmp_path / "a.db").read_bytes()
    for size in range(0, len(whole), len(whole) // 12):
        (tmp_path / "cut.db").write_bytes(whole[:size])
        assert program.run("report", tmp_path / "cut.db", "losses").status in (0, 3)
