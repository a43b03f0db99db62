"""AMD's databases and JSON: every row and tie, merged files, foreign schemas, and the environment that must stay unread."""

import json
import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from exported import tables_of
from rocm_databases import SECRET, compute, rocpd, rocprof_json, rpd


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
    assert losses(program, rocpd(tmp_path / "a.db", copies=False)) == {"untraced_copy": 1, "copy_without_record": 1}
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


def changed(file, *statements):
    with closing(sqlite3.connect(file)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    return file


def test_large_launches(program, tmp_path):
    """32 bits of work-items, and blocks whose work-items need more than 32 bits."""
    with closing(sqlite3.connect(rocpd(tmp_path / "a.db"))) as database:
        ((table,),) = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_kernel_dispatch%'").fetchall()
    file = changed(tmp_path / "a.db", f"UPDATE {table} SET grid_size_x = 4294967295, workgroup_size_x = 256")
    assert {(row["grid_x"], row["block_x"]) for row in tables_of(program, file)["kernel"]} == {("16777216", "256")}
    file = changed(rpd(tmp_path / "a.rpd"), "UPDATE rocpd_kernelapi SET gridX = 16777216, workgroupX = 1024")
    shapes = {(row["name"], row["grid_x"], row["block_x"]) for row in tables_of(program, file)["kernel"] if row.get("grid_x")}
    assert shapes == {("gemm", "16777216", "1024"), ("add", "16384", "1024")}  # the grid of the second is in work-items


@pytest.mark.parametrize("value", ["inf", "nan", "-infinity", "1e999", "n/a"])
def test_clocks_that_are_no_numbers(program, tmp_path, value):
    file = changed(rpd(tmp_path / "a.rpd"), f"UPDATE rocpd_monitor SET value = '{value}'")
    assert tables_of(program, file).get("sample", []) == []
    assert losses(program, file)["bad_number"] == 1


def test_cut_files(program, tmp_path):
    """Any beginning of a file gives rows with their losses or an error."""
    whole = rocpd(tmp_path / "a.db").read_bytes()
    for size in range(0, len(whole), len(whole) // 12):
        (tmp_path / "cut.db").write_bytes(whole[:size])
        assert program.run("report", tmp_path / "cut.db", "losses").status in (0, 3)


def write_json(folder, document, size=None):
    file = folder / "results.json"
    file.write_text(json.dumps(document)[:size])
    return file


NOT_IN_JSON = {("kernel_counter", "unit"), ("thread", "name")}


def rows_of(tables, name):
    return sorted(sorted((key, value) for key, value in row.items() if (name, key) not in NOT_IN_JSON) for row in tables.get(name, []))


def test_json_is_the_database(program, tmp_path):
    """All tables of both files of one run are equal; the JSON has no units of counters and no names of threads. Lists that are not read are counted."""
    database, file = tables_of(program, rocpd(tmp_path / "a.db")), write_json(tmp_path, rocprof_json())
    tables = tables_of(program, file)
    assert set(database) == set(tables) - {"loss"}
    for name in database:
        assert rows_of(tables, name) == rows_of(database, name), name
    assert losses(program, file) == {"unread_table": 2}
    assert SECRET not in str(tables)


def test_json_of_kernels_that_were_only_counted(program, tmp_path):
    tables = tables_of(program, write_json(tmp_path, rocprof_json(traced=False)))
    assert numbers(tables["kernel"], "start", "dur", "name", "stream", "correlation", "grid_x") == [(1_000_000, 4001, "copy()", 5, 1, 16)]
    assert {(row["metric"], float(row["value"])) for row in tables["kernel_counter"]} == {("SQ_WAVES", 303.5), ("TCC_HIT_sum", 0.5)}


def test_json_without_copies(program, tmp_path):
    document = rocprof_json()
    document["rocprofiler-sdk-tool"][0]["buffer_records"]["memory_copy"] = []
    assert losses(program, write_json(tmp_path, document)) == {"untraced_copy": 1, "copy_without_record": 1, "unread_table": 2}


def test_json_of_two_processes(program, tmp_path):
    document = rocprof_json()
    document["rocprofiler-sdk-tool"] *= 2
    tables = tables_of(program, write_json(tmp_path, document))
    assert Counter(row["process"] for row in tables["kernel"]) == {"908": 3, "908#2": 3}
    assert [row["device"] for row in tables["device"]] == ["1"]


def test_cut_json(program, tmp_path):
    """Whole records before the cut are kept."""
    text = json.dumps(rocprof_json())
    for size in range(40, len(text), len(text) // 25):
        assert program.run("report", write_json(tmp_path, rocprof_json(), size), "losses").status in (0, 3)
    file = write_json(tmp_path, rocprof_json(), text.index('"hip_api"'))
    assert len(tables_of(program, file)["kernel"]) == 3 and losses(program, file)["truncated"] == 1


@pytest.mark.parametrize("values", ["compute_kernel_metric_value", "compute_metric_value"])
def test_compute(program, tmp_path, values):
    file = compute(tmp_path / "a.db", values)
    tables = tables_of(program, file)
    assert numbers(tables["kernel"], "start", "dur", "name", "device") == [(1000, 2000, "vecCopy(double*)", 2), (4000, 100, "fill(int)", 2), (9000, 2500, "vecCopy(double*)", 2)]
    assert numbers(tables["profiled_kernel"], "launch", "name", "dur", "device", "tool") == [(1, "vecCopy(double*)", None, 2, "rocprof-compute"), (2, "fill(int)", 100, 2, "rocprof-compute")]
    assert [(row["launch"], row["section"], row["metric"], row.get("unit"), float(row["value"])) for row in tables["kernel_counter"]] == [
        ("1", "Speed-of-Light", "VALU FLOPs", "GFLOP", 12.5), ("1", "Speed-of-Light", "VALU FLOPs (Peak)", "GFLOP", 100.0), ("1", "Speed-of-Light", "VALU FLOPs (Pct of Peak)", "%", 12.5),
        ("1", "Wavefront: Launch", "Wavefronts Num (min)", None, 3.0), ("2", "Wavefront: Launch", "Wavefronts Num", None, 64.0)]
    assert numbers(tables["device"], "device", "name", "vendor") == [(2, "MI300X", "amd")]
    assert losses(program, file)["unread_table"] == 1 and SECRET not in str(tables)
