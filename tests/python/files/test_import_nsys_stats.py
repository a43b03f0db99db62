"""`nsys stats` CSV: written here from an SQLite export in both column layouts, and read as what that export has."""

import csv
import io
import sqlite3
import subprocess
from collections import Counter

import pytest
from conftest import FIXTURES
from exported import tables_of

SQLITE = FIXTURES / "nsys/h100_2gpu_1s.sqlite.zst"
MOCK = FIXTURES / "nsys/mock_gpu_trace.csv"
MEMORY = ["Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"]
COPIES = {1: ("HtoD", "Host-to-Device"), 2: ("DtoH", "Device-to-Host"), 8: ("DtoD", "Device-to-Device"), 10: ("PtoP", "Peer-to-Peer")}
NEW = ["Start (ns)", "Duration (ns)", "CorrId", "GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ", "Reg/Trd", "StcSMem (MB)", "DymSMem (MB)", "Bytes (MB)", "Throughput (MB/s)",
       "SrcMemKd", "DstMemKd", "Device", "Ctx", "GreenCtx", "Strm", "Name"]
OLD = ["Start(nsec)", "Duration(nsec)", "CorrId", "GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ", "Reg/Trd", "StcSMem(bytes)", "DymSMem(bytes)", "Bytes(bytes)", "Throughput(MB/s)",
       "SrcMemKd", "DstMemKd", "Device", "Ctx", "Strm", "Name"]
API = ["Start (ns)", "Duration (ns)", "Name", "Result", "CorrID", "Pid", "Tid", "T-Pri", "Thread Name"]
SAME = {"kernel": ("dur", "device", "context", "stream", "name", "correlation", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "registers"),
        "memcpy": ("dur", "device", "context", "stream", "kind", "src", "dst", "correlation"),
        "memset": ("dur", "device", "context", "stream", "correlation")}


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    file = tmp_path_factory.mktemp("nsys") / "trace.sqlite"
    file.write_bytes(subprocess.run(["zstd", "-dcq", SQLITE], stdout=subprocess.PIPE, check=True).stdout)
    connection = sqlite3.connect(file)
    connection.row_factory = sqlite3.Row
    return connection


def rows_of(database, table):
    return database.execute(f"SELECT * FROM {table} ORDER BY start").fetchall()


def gpu_trace(database, new):
    names = dict(database.execute("SELECT id, value FROM StringIds"))
    size = (lambda n: "" if n is None else f"{n / 1e6:.3f}") if new else (lambda n: "" if n is None else str(n))
    rows = []

    def add(row, shape, shared, size_of, source, target, name):
        place = [f"NVIDIA H100 80GB HBM3 ({row['deviceId']})", row["contextId"]] + ([""] if new else []) + [row["streamId"], name]
        rows.append([row["start"], row["end"] - row["start"], row["correlationId"], *shape, *shared, size_of, "", source, target, *place])

    for row in rows_of(database, "CUPTI_ACTIVITY_KIND_KERNEL"):
        shape = [row[c] for c in ("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread")]
        add(row, shape, [size(row["staticSharedMemory"]), size(row["dynamicSharedMemory"])], "", "", "", names[row["demangledName"]])
    for row in rows_of(database, "CUPTI_ACTIVITY_KIND_MEMCPY"):
        add(row, [""] * 7, ["", ""], size(row["bytes"]), MEMORY[row["srcKind"]], MEMORY[row["dstKind"]], f"[CUDA memcpy {COPIES[row['copyKind']][new]}]")
    for row in rows_of(database, "CUPTI_ACTIVITY_KIND_MEMSET"):
        add(row, [""] * 7, ["", ""], size(row["bytes"]), MEMORY[row["memKind"]], "", "[CUDA memset]" if new else "[CUDA Memset]")
    return sorted(rows)


def api_trace(database):
    names = dict(database.execute("SELECT id, value FROM StringIds"))
    return [[row["start"], row["end"] - row["start"], names[row["nameId"]], row["returnValue"], row["correlationId"], row["globalTid"] >> 24 & 0xFFFFFF, row["globalTid"] & 0xFFFFFF, 0, "python"]
            for row in rows_of(database, "CUPTI_ACTIVITY_KIND_RUNTIME")]


def printed(header, rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def write(tmp_path, text):
    file = tmp_path / "stats.txt"
    file.write_text(text)
    return file


def values(tables, table, columns, zero):
    return Counter((int(row["start"]) - zero, *(row.get(column) for column in columns)) for row in tables[table])


@pytest.mark.parametrize("layout", ["new", "old"])
def test_is_what_the_export_has(program, database, tmp_path, layout):
    header = NEW if layout == "new" else OLD
    rows = gpu_trace(database, layout == "new")
    file = write(tmp_path, "\nProcessing [trace.sqlite] with [cuda_gpu_trace.py]... \n" + printed(header, rows) + "\n")
    found, wanted = tables_of(program, file), tables_of(program, SQLITE)
    for table, columns in SAME.items():
        here, there = (min(int(row["start"]) for row in tables["kernel"]) for tables in (found, wanted))
        assert values(found, table, columns, here) == values(wanted, table, columns, there), table
    assert [(row["device"], row["name"]) for row in found["device"]] == [(device, "NVIDIA H100 80GB HBM3") for device in ("0", "1")]
    for table in ("kernel", "memcpy"):
        column = "shared_bytes" if table == "kernel" else "bytes"
        for row, exact in zip(sorted(found[table], key=lambda r: int(r["start"])), sorted(wanted[table], key=lambda r: int(r["start"])), strict=True):
            if layout == "old":
                assert row[column] == exact[column]
            elif row.get(column):  # three decimals of a megabyte: near, or not said
                assert int(row[column]) == pytest.approx(int(exact[column]), rel=0.02)
            else:
                assert int(exact[column]) < 100_000


def test_several_reports(program, database, tmp_path):
    """Both reports in one output, and another one that is not read."""
    summary = "Time (%),Total Time (ns),Instances,Name\n50.0,17,1,k\n"
    text = printed(NEW, gpu_trace(database, True)) + "\nProcessing...\n" + summary + "\nProcessing...\n" + printed(API, api_trace(database))
    file = write(tmp_path, text)
    tables = tables_of(program, file)
    assert len(tables["api_call"]) == database.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()[0]
    (loss,) = [row for row in tables["loss"] if row["kind"] == "unread_table"]
    assert loss["count"] == "1" and not any(row["kind"] == "malformed_event" for row in tables["loss"])
    assert not any(row.get("correlation") or row.get("process") for row in tables["kernel"])  # two processes number their calls alike
    assert any(row["kind"] == "duplicate_correlation" for row in tables["loss"])


def test_one_process(program):
    tables = tables_of(program, MOCK)
    (process,) = tables["process"]
    assert process["pid"] == "91186" and {row["process"] for row in tables["kernel"] + tables["memcpy"]} == {process["key"]}
    assert {row["correlation"] for row in tables["kernel"]} == {"143", "159"} == {row["correlation"] for row in tables["api_call"] if row["name"] == "cudaLaunchKernel"}


def test_other_units_and_quotes(program, tmp_path):
    header = [name.replace("(ns)", unit) for name, unit in zip(NEW, ["(ms)", "(us)"] + [""] * 19)]
    kernel = ["1.000001", "2.5", 7, 1, 2, 3, 4, 5, 6, 32, "0.000", "0.000", "", "", "", "", "NVIDIA A (x) (3)", 1, "", 7, "f(int, char)"]
    copy = ["2", "1", 8, *[""] * 9, "1.500", "", "Pinned", "Device", "NVIDIA A (x) (3)", 1, "", 7, "[CUDA Unified Memory memcpy HtoD]"]
    text = "".join(",".join(f'"{field}"' for field in row) + "\r\n" for row in (header, kernel, copy))
    tables = tables_of(program, write(tmp_path, text))
    (kernel,), (copy,) = tables["kernel"], tables["memcpy"]
    assert (kernel["start"], kernel["dur"], kernel["name"], kernel["device"], kernel.get("shared_bytes")) == ("1000001", "2500", "f(int, char)", "3", None)
    assert (copy["bytes"], copy["kind"], copy["src"], copy["dst"]) == ("1500000", "HtoD", "managed", "managed")
    assert tables["device"][0]["name"] == "NVIDIA A (x)"


def test_damage_is_counted(program):
    whole = MOCK.read_bytes()
    lines = whole.splitlines(keepends=True)
    broken = lines[0] + lines[1].replace(b",", b";", 3) + b'9,"open\n' + b"".join(lines[1:])
    tables = program.report("-", "losses", stdin=broken)["losses"].rows
    assert [(row["kind"], row["count"]) for row in tables if row["kind"] == "malformed_event"] == [("malformed_event", 2)]
    cut = program.report("-", "losses", stdin=whole[:-4])["losses"].rows
    assert "truncated" in {row["kind"] for row in cut}


def test_only_summaries(program):
    outcome = program.run("report", "-", stdin=b"Time (%),Total Time (ns),Instances,Name\n50.0,17,1,k\n")
    assert outcome.status == 3
