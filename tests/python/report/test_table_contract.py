"""Column names that scripts rely on, and one content in every machine format.

The names are a promise to users: this list changes only together with the documents, never by accident. The CSV of an analysis is a header and
its rows, nothing else on standard output, and says the same as the JSON.
"""

import csv
import io

import pytest

from program import Report, read_strict_json

COLUMNS = {
    "devices": "device,name,window_ns,busy_ns,busy_pct,idle_ns,kernel_busy_ns,memcpy_busy_ns,memset_busy_ns,comm_busy_ns,"
               "overlap_ns,exposed_memcpy_ns,exposed_comm_ns,kernels,memcpys,memsets,streams",
    "kernels": "name,count,total_ns,share_pct,mean_ns,min_ns,p50_ns,p95_ns,max_ns,std_ns,grid,block,registers,shared_bytes,"
               "occupancy_pct,limiter,local_bytes,cluster,limit,changed_pct",
    "memcpy": "kind,src,dst,count,bytes,total_ns,busy_ns,mean_bytes,gb_per_s",
    "memset": "memory_kind,count,bytes,total_ns",
    "api": "name,count,total_ns,mean_ns,p50_ns,p95_ns,max_ns,blocking,threads",
    "launches": "name,count,api_mean_ns,queue_mean_ns,queue_p95_ns,kernel_mean_ns",
    "gaps": "device,start_ns,dur_ns,cause,host_thread,host_what,before,after",
    "idle": "device,cause,total_ns,share_pct,count,python,drained_ns",
    "overlap": "device,a,b,a_ns,b_ns,both_ns,a_exposed_ns,b_exposed_ns",
    "ops": "name,count,cpu_total_ns,cpu_self_ns,device_total_ns,device_self_ns,device_mem_bytes,shapes",
    "streams": "device,stream,ops,busy_ns,first_ns,last_ns",
}
CAUSES = {"input pipeline", "host compute", "launch", "synchronisation", "host memcpy", "allocation", "compilation/module load",
          "communication wait", "profiler", "nothing submitted", "unrecorded work", "waiting for work", "graph", "unknown"}


def rows_of_csv(outcome):
    assert outcome.status == 0, outcome.errors
    return list(csv.reader(io.StringIO(outcome.stdout.decode("utf-8"), newline="")))


def as_csv_cell(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else float(value)


@pytest.mark.parametrize("analysis", COLUMNS)
def test_csv(analysis, program, recording_with_table):
    arguments = ("report", recording_with_table, analysis, "--limit", "0")
    header, *rows = rows_of_csv(program.run(*arguments, "--format", "csv"))
    assert header == COLUMNS[analysis].split(",")
    table = Report(read_strict_json(program.run(*arguments, "--format", "json").stdout))[analysis]
    assert list(table.columns) == header
    wanted = [[as_csv_cell(v) for v in row.values()] for row in table.rows]
    assert [[float(c) if isinstance(w, float) else c for c, w in zip(row, want)] for row, want in zip(rows, wanted)] == wanted
    assert len(rows) == len(wanted)


def test_causes_are_of_the_closed_list(recording, reports):
    report = reports(recording)
    assert {row["cause"] for row in report["idle"].rows} | {row["cause"] for row in report["gaps"].rows} <= CAUSES


def test_limit(program, recording_with_table):
    """--limit N keeps the first N rows and changes nothing else; JSON says how many there are."""
    everything = program.report(recording_with_table, "kernels", "gaps")
    limited = Report(read_strict_json(program.run("report", recording_with_table, "kernels", "gaps", "--format", "json", "--whole", "--limit", "2").stdout))
    for name in ("kernels", "gaps"):
        assert limited[name].rows == everything[name].rows[:2]


def test_envelope(program, recording_with_table):
    document = program.report(recording_with_table, "devices").document
    assert {"tool", "version", "schema", "source", "trust", "tables"} <= document.keys()
    assert document["tool"] == "gpu-profile"
    for table in document["tables"]:
        for column in table["columns"]:
            assert {"name", "type", "unit", "doc"} <= column.keys()
            assert column["doc"]


def test_first_answer_as_json(program, recording_with_table):
    document = program.report(recording_with_table).document
    assert {"name", "share_pct", "because", "alternatives"} <= document["verdict"].keys()
    assert isinstance(document["findings"], list)


def test_no_operator_moves_more_than_its_device_can(recording, program):
    """Bytes are a model, and caches give what memory does not: `bandwidth_pct` stays a share, and the notes count where it was held there."""
    report = program.report(recording, "arithmetic")
    rates = [row["bandwidth_pct"] for row in report["arithmetic"].rows]
    assert all(rate is None or 0 <= rate <= 100 for rate in rates)
    notes = " ".join(report.document["tables"][0]["notes"])
    assert any(rate == 100 for rate in rates) == ("device memory" in notes)
