"""Perfetto traces of every known writer, our own read back, and state, clocks, packing, losses and damage of the format."""

import subprocess
import zlib
from collections import Counter

import pytest
from conftest import FIXTURES, RECORDINGS, short_name
from exported import tables_of
from perfetto_packets import Trace, cuspy, field, message, proton, rocprofv3, wprof
from rocm_databases import rocpd

WALL = 1_765_000_000_000_000_000 - 1_000


def write(tmp_path, trace, name="a.pftrace"):
    file = tmp_path / name
    file.write_bytes(trace if isinstance(trace, bytes) else trace.bytes())
    return file


def numbers(rows, *columns):
    return [tuple(int(row[c]) if row.get(c) and row[c].lstrip("-").isdigit() else row.get(c) for c in columns) for row in rows]


def losses(program, file):
    return {row["kind"]: row["count"] for row in program.report(file, "losses")["losses"].rows}


ROWS = {
    "kernel": ("start", "dur", "name", "device", "stream", "correlation", "grid_x", "grid_y", "block_x", "block_z", "registers", "shared_bytes", "graph_node_id"),
    "memcpy": ("start", "dur", "kind", "src", "dst", "bytes", "device", "stream", "correlation"),
    "memset": ("start", "dur", "bytes", "device", "stream", "correlation"),
    "api_call": ("start", "dur", "name", "correlation"),
    "op": ("start", "dur", "name", "input_dims", "input_types", "sequence"),
    "range": ("start", "dur", "name", "domain", "category"),
    "python_call": ("start", "dur", "name"),
    "os_call": ("start", "dur", "name"),
    "overhead": ("start", "dur", "name"),
    "device_range": ("start", "dur", "name", "device", "stream"),
    "sample": ("time", "device", "metric", "unit", "value", "pid"),
}


@pytest.mark.parametrize("recording", [*RECORDINGS, FIXTURES / "nsys/h100_2gpu_1s.sqlite.zst"], ids=short_name)
def test_our_export_read_back(program, tmp_path, recording):
    outcome = program.run("export", "perfetto", recording, "-o", tmp_path / "a.pftrace")
    assert outcome.status == 0, outcome.errors
    before, after = tables_of(program, recording), tables_of(program, tmp_path / "a.pftrace")
    absent = {"memcpy": {"kind": ""}, "kernel": {"device": "0", "stream": "0"}}
    for table, columns in ROWS.items():
        def rows(tables, table=table, columns=columns):
            return Counter(tuple(row.get(c, absent.get(table, {}).get(c)) for c in columns) for row in tables.get(table, []) if table != "sample" or not row["metric"].startswith(("memory ", "CPUs ")))
        assert rows(after) == rows(before), table


def test_rocprofv3_agrees_with_its_database(program, tmp_path):
    trace, base = tables_of(program, write(tmp_path, rocprofv3())), tables_of(program, rocpd(tmp_path / "a.db"))
    shared = {"kernel": ("dur", "stream", "correlation", "shared_bytes", "local_bytes"), "memcpy": ("dur", "kind", "src", "dst", "bytes", "stream", "correlation"),
              "api_call": ("dur", "name", "api", "thread", "correlation")}
    for table, columns in shared.items():
        assert numbers(trace[table], *columns) == numbers(base[table], *columns), table
        assert [int(row["start"]) - WALL for row in trace[table]] == [int(row["start"]) for row in base[table]]
    assert {row["device"] for row in trace["kernel"]} == {"0"}  # the first GPU agent that did anything
    assert not any("grid_x" in row for row in trace["kernel"])  # products have no shape
    assert numbers(trace["range"], "name", "dur", "domain") == [("forward", 80_000, None)]
    assert [(row["metric"], float(row["value"])) for row in trace["kernel_counter"]] == [("SQ_WAVES", 303.5)]
    assert "sample" not in trace


def test_wprof(program, tmp_path):
    tables = tables_of(program, write(tmp_path, wprof()))
    assert numbers(tables["kernel"], "start", "dur", "name", "process", "device", "context", "stream", "correlation", "grid_x", "block_x", "block_y") == [
        (5_000_300, 150, "saxpy(int, float, float const*, float*)", 446, 1, 1, 7, 17, 10, 256, 2)]
    assert numbers(tables["memcpy"], "dur", "kind", "src", "dst", "bytes", "correlation") == [(100, "HtoD", "pinned", "device", 64, 18)]
    assert numbers(tables["api_call"], "name", "dur", "thread", "api", "correlation") == [("cudaLaunchKernel", 100, "446/447", "runtime", 17)]


def test_what_a_slice_tells_twice(program, tmp_path):
    """A value that is written again, under another name, moves nothing of the rows that follow."""
    trace = wprof()
    trace.slice(1007, 700, 800, "twice", "CUDA_KERNEL", grid_x=3, grid="(4,5,6)", block_x=32, block="(64,1,1)", device_id=1)
    trace.slice(1007, 900, 950, "after", "CUDA_KERNEL", grid_x=8, block_x=16, device_id=1)
    trace.slice(1007, 1_000, 1_010, "twice", "CUDA_MEMCPY", bytes=128, byte_cnt=256, copy_bytes=512, device_id=1)
    trace.slice(1007, 1_100, 1_110, "after", "CUDA_MEMCPY", byte_cnt=32, device_id=1)
    tables = tables_of(program, write(tmp_path, trace))
    assert numbers(tables["kernel"], "start", "grid_x", "grid_y", "block_x") == [(5_000_300, 10, 1, 256), (5_000_700, 3, 5, 32), (5_000_900, 8, None, 16)]
    assert numbers(tables["memcpy"], "start", "bytes") == [(5_000_500, 64), (5_001_000, 128), (5_001_100, 32)]


def test_proton(program, tmp_path):
    file = write(tmp_path, proton())
    tables = tables_of(program, file)
    assert numbers(tables["kernel"], "start", "dur", "name", "stream") == [(15_000, 20_480, "matmul_kernel", 7)]
    assert numbers(tables["overhead"], "dur", "name") == [(500, "<metric>")]
    assert numbers(tables["range"], "dur", "name", "thread") == [(120_500, "forward", "/12")]
    assert losses(program, file)["recorder_work"] == 1


def test_cuspy(program, tmp_path):
    file = write(tmp_path, cuspy())
    tables = tables_of(program, file)
    assert numbers(tables["kernel"], "start", "dur", "name", "process", "device", "context", "stream", "correlation", "graph_id", "graph_node_id", "grid_x", "block_x", "registers", "shared_bytes") == [
        (2_000, 300, "saxpy(int)", 446, 0, 1, 7, 9, 7, 2, 64, 256, 24, 512), (2_300, 100, "saxpy(int)", 446, 0, None, 7, 10, None, None, 64, 256, 24, 512)]
    assert numbers(tables["memcpy"], "dur", "bytes", "kind") == [(50, 4096, None)]
    assert numbers(tables["memset"], "dur", "bytes") == [(10, 64)]
    assert numbers(tables["device_range"], "start", "dur", "name", "stream") == [(1_900, 900, "step", 7)]
    assert numbers(tables["op"], "start", "dur", "name") == [(1_500, 200, "aten::mm")]
    assert numbers(tables["range"], "start", "dur", "name") == [(1_000, 4_000, "ProfilerStep#1")]
    assert numbers(tables["api_call"], "dur", "name", "thread", "correlation") == [(50, "cudaLaunchKernel", "446/447", 9)]
    assert numbers(tables["overhead"], "dur", "name") == [(100, "flush")]
    assert numbers(tables["sync"], "dur", "kind", "stream", "correlation") == [(100, "Stream Sync", 7, 12)]
    assert [(row["metric"], row["unit"], float(row["value"])) for row in tables["sample"]] == [("power", "W", 300.0)]
    found = losses(program, file)
    assert (found["cut_duration"], found["unknown_event"]) == (1, 1)


def test_packed_packets_are_the_same(program, tmp_path):
    plain, packed = tables_of(program, write(tmp_path, wprof())), tables_of(program, write(tmp_path, wprof().packed(), "b.pftrace"))
    assert plain["kernel"] == packed["kernel"] and plain["api_call"] == packed["api_call"]


def test_names_that_were_lost_are_counted(program, tmp_path):
    trace = wprof()
    trace.trace.packet.add(trusted_packet_sequence_id=9, sequence_flags=2, timestamp=7).track_event.type = 1
    trace.trace.packet.add(trusted_packet_sequence_id=1, sequence_flags=2, previous_packet_dropped=1)
    file = write(tmp_path, trace)
    assert losses(program, file)["recorder_loss"] == 2
    assert len(tables_of(program, file)["kernel"]) == 1


def test_traces_of_others(program, tmp_path):
    """Slices of an unknown writer are ranges, whatever their categories are called; nothing at all is an error that says so."""
    trace = Trace()
    trace.track(1, pid=5, process="p")
    trace.track(2, parent=1, pid=5, tid=6, thread="main")
    trace.slice(2, 100, 300, "irq", "kernel")
    file = write(tmp_path, trace)
    tables = tables_of(program, file)
    assert numbers(tables["range"], "start", "dur", "name", "domain", "thread") == [(100, 200, "irq", "kernel", "5/6")]
    assert "kernel" not in tables and losses(program, file)["recorder_warning"] == 1
    outcome = program.run("report", write(tmp_path, Trace(), "b.pftrace"))
    assert outcome.status == 3 and "a Perfetto trace without GPU work" in outcome.errors[0]


@pytest.mark.parametrize("make", [rocprofv3, wprof, proton, cuspy])
def test_cut_anywhere(program, tmp_path, make):
    whole = make().bytes()
    for size in range(1, len(whole), max(1, len(whole) // 23)):
        outcome = program.run("report", write(tmp_path, whole[:size]), "losses")
        assert outcome.status in (0, 3), (size, outcome.errors)


@pytest.mark.parametrize("kind", [50, 133])
def test_a_packet_that_unpacks_to_gigabytes(program, tmp_path, kind):
    zeros = b"\0" * (16 << 20)
    bomb = zlib.compress(zeros, 1) if kind == 50 else subprocess.run(["zstd", "-q"], input=zeros, capture_output=True, check=True).stdout
    file = write(tmp_path, field(1, message([(10, 1)])) + b"".join(field(1, [(kind, bomb)]) for _ in range(9)))
    outcome = program.run("report", file, "--memory-gib", "0.125")
    assert outcome.status == 3 and "more than 0.1" in outcome.errors[0], outcome.errors
