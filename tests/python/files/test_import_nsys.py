"""Nsight Systems databases: every count and sum against SQLite's own answer; other schemas; damaged and hostile files."""

import gzip
import os
import re
import sqlite3
import struct
import subprocess
import tarfile
import time
from collections import Counter
from contextlib import closing

import pytest
from conftest import FIXTURES
from exported import tables_of
from patience import HANGS_S

EXPORTS = sorted(path for kind in ("gz", "zst") for path in (FIXTURES / "nsys").glob(f"*.sqlite.{kind}"))
COPY_KINDS = {1: "HtoD", 2: "DtoH", 8: "DtoD", 10: "PtoP"}
MEMORY_KINDS = ["pageable", "pinned", "device", "array", "managed", "device static", "managed static", "unknown"]


@pytest.fixture(params=EXPORTS, ids=lambda path: path.name.split(".")[0])
def export(request, tmp_path):
    return unpacked(request.param, tmp_path)


@pytest.fixture
def mock(tmp_path):
    return unpacked(FIXTURES / "nsys/mock.sqlite.gz", tmp_path)


def unpacked(path, folder):
    file = folder / path.stem
    packed = path.read_bytes()
    file.write_bytes(gzip.decompress(packed) if path.suffix == ".gz" else subprocess.run(["zstd", "-dcq"], input=packed, stdout=subprocess.PIPE, check=True).stdout)
    return file


def query(file, sql, *values):
    with closing(sqlite3.connect(file)) as database:
        return database.execute(sql, values).fetchall()


def change(file, *statements):
    with closing(sqlite3.connect(file)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


def losses(program, file):
    return {row["kind"]: row["count"] for row in program.report(file, "losses")["losses"].rows}


def session_start(export):
    """What the file adds to its times; parts of an export may lack it."""
    known = query(export, "SELECT 1 FROM sqlite_schema WHERE name = 'TARGET_INFO_SESSION_START_TIME'")
    return query(export, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME")[0][0] if known else 0


def annotation(row):
    """The text of a range put together again: of emit_nvtx's, the facts of the call stand behind the name."""
    facts = {"seq": "sequence", "op_id": "op_id", "sizes": "input_dims", "input_op_ids": "input_ops"}
    return row["name"] + "".join(f", {written} = {row[column]}" for written, column in facts.items() if row.get(column))


def test_device_work_row_by_row(program, export):
    """Every kernel and copy: its nanoseconds, since the start of the session in UTC, names and numbers."""
    base = session_start(export)
    tables = tables_of(program, export)
    wanted = query(export, """SELECT k.start + ?1, k.end - k.start, (k.globalPid >> 24) & 0xffffff, k.streamId, s.value, k.correlationId,
        k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ, k.registersPerThread, k.staticSharedMemory + k.dynamicSharedMemory
        FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName""", base)
    columns = ["start", "dur", "process", "stream", "name", "correlation", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "registers", "shared_bytes"]
    assert Counter(tuple(map(str, row)) for row in wanted) == Counter(tuple(row[c] for c in columns) for row in tables["kernel"])
    assert Counter((row.get("local_bytes"), row.get("cluster_x"), row.get("cluster_y"), row.get("cluster_z")) for row in tables["kernel"]) == Counter(
        (str(local), *(str(n) if n else None for n in cluster)) for local, *cluster in
        query(export, "SELECT localMemoryPerThread, clusterX, clusterY, clusterZ FROM CUPTI_ACTIVITY_KIND_KERNEL"))
    if not query(export, "SELECT 1 FROM sqlite_schema WHERE name = 'CUPTI_ACTIVITY_KIND_MEMCPY'"):
        return
    copies = query(export, "SELECT start + ?1, end - start, bytes, copyKind, srcKind, dstKind FROM CUPTI_ACTIVITY_KIND_MEMCPY", base)
    assert Counter((str(start), str(dur), str(size), COPY_KINDS[kind], MEMORY_KINDS[src], MEMORY_KINDS[dst]) for start, dur, size, kind, src, dst in copies) == Counter(
        tuple(row[c] for c in ("start", "dur", "bytes", "kind", "src", "dst")) for row in tables["memcpy"])


def test_host_calls_and_annotations(program, export):
    base = session_start(export)
    tables = tables_of(program, export)
    calls = query(export, """SELECT r.start + ?1, r.end - r.start, r.globalTid, r.eventClass, s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME r
        JOIN StringIds s ON s.id = r.nameId""", base)
    threads = {row["key"]: row for row in tables["thread"]}
    assert Counter((str(start), str(dur), str(thread & 0xFFFFFF), str(thread >> 24 & 0xFFFFFF), "driver" if kind == 1 else "runtime", re.sub(r"_v\d{4,}$", "", name))
                   for start, dur, thread, kind, name in calls) == Counter(
        (row["start"], row["dur"], threads[row["thread"]]["tid"], row["process"], row["api"], row["name"]) for row in tables["api_call"])
    if query(export, "SELECT 1 FROM sqlite_schema WHERE name = 'NVTX_EVENTS'"):
        ranges = query(export, """SELECT start + ?1, end - start, coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) FROM NVTX_EVENTS
            WHERE eventType IN (59, 60)""", base)
        assert Counter((str(start), str(dur), text) for start, dur, text in ranges) == Counter((row["start"], row["dur"], annotation(row)) for row in tables["range"])
        assert not any("op_id = " in row["name"] for row in tables["range"])


def test_launches_are_found_within_their_process(program, export):
    """Both processes number their calls from the same; a link goes by process and number."""
    matched = query(export, """SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k WHERE EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME r
        WHERE r.correlationId = k.correlationId AND r.globalTid >> 24 = k.globalPid >> 24)""")[0][0]
    others = sum(query(export, f"""SELECT count(*) FROM {table} k WHERE NOT EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME r
        WHERE r.correlationId = k.correlationId AND r.globalTid >> 24 = k.globalPid >> 24)""")[0][0]
                 for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET")
                 if query(export, "SELECT 1 FROM sqlite_schema WHERE name = ?1", table))
    assert sum(row["count"] for row in program.report(export, "launches")["launches"].rows) == matched
    assert losses(program, export).get("unmatched_launch", 0) == others


def test_devices_and_diagnostics(program, mock):
    (device,) = tables_of(program, mock)["device"]
    assert device == {"device": "0", "name": "NVIDIA GeForce RTX 3080", "vendor": "nvidia", "uuid": "GPU-554a6988-03dd-6206-3dd1-f43fb60a3ed0",
                      "memory_bytes": "10736893952", "cc_major": "8", "cc_minor": "6", "sms": "68", "warp_size": "32", "max_threads_per_block": "1024",
                      "max_threads_per_sm": "1536", "registers_per_block": "65536", "registers_per_sm": "65536", "shared_bytes_per_block": "49152",
                      "shared_bytes_per_block_optin": "101376", "shared_bytes_per_sm": "102400"}
    assert losses(program, mock) == {"recorder_warning": 1}


def test_compressed_and_through_a_pipe(program, mock):
    """Three ways to the same bytes."""
    plain = program.run("export", "csv", mock).stdout
    assert program.run("export", "csv", FIXTURES / "nsys/mock.sqlite.gz").stdout == plain
    assert program.run("export", "csv", "-", stdin=mock.read_bytes()).stdout == plain


def test_managed_memory(program, mock):
    """Migrations have a cause and no call; faults of the GPU and of the host are two tables."""
    start, end, process = query(mock, "SELECT start, end, globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY end - start DESC LIMIT 1")[0]
    change(mock, *(f"""INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind, migrationCause)
           VALUES ({start + 1}, {end}, 0, 0, 0, 0, {process}, 4096, {kind}, 7, 7, {cause})""" for kind, cause in ((11, 2), (12, 4), (11, 1), (11, 0))),
           "CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (start INTEGER, end INTEGER, globalPid INTEGER, deviceId INTEGER, numberOfPageFaults INTEGER)",
           f"INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES ({start}, {end}, {process}, 0, 17)",
           "CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (start INTEGER, globalPid INTEGER, address INTEGER)",
           f"INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES ({end + 1}, {process}, 4096)")
    tables = tables_of(program, mock)
    assert Counter((row["kind"], row.get("migration")) for row in tables["memcpy"] if row["src"] == "managed") == Counter(
        [("HtoD", "fault"), ("DtoH", "eviction"), ("HtoD", "user"), ("HtoD", None)])
    assert {(row.get("device"), row["faults"]) for row in tables["page_fault"]} == {("0", "17"), (None, "1")}
    assert "unmatched_launch" not in losses(program, mock)


def test_graph_nodes(program, mock):
    """A kernel of an executable graph's node leads to the one that was captured."""
    thread, begin = query(mock, "SELECT globalTid, start FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start LIMIT 1")[0]
    captured, copied, unknown = 1 << 32 | 1, 2 << 32 | 1, 2 << 32 | 2
    change(mock, *(f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = {node}, graphId = 2 WHERE start = (SELECT {which}(start) FROM CUPTI_ACTIVITY_KIND_KERNEL)"
                   for node, which in ((copied, "max"), (unknown, "min"))),
           "CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER, graphNodeId INTEGER, originalGraphNodeId INTEGER)",
           f"INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES ({begin + 1}, {begin + 1}, 96, {thread}, 1, {captured}, NULL), ({begin + 2}, {begin + 2}, 96, {thread}, 1, {copied}, {captured})")
    rows = tables_of(program, mock)["graph_node"]
    assert [(row["action"], row.get("original")) for row in rows] == [("created", None), ("cloned", str(captured))]
    report = program.report(mock, "graph_nodes")
    assert report["graph_nodes"].by("node")[copied]["waits_for"] is None  # dependencies are not in these files
    assert any("Where 1 of 2 nodes were captured" in note for note in report.document["tables"][0]["notes"])


def test_an_older_schema(program, mock):
    """Schema 2: no process in device work, no graphs, fewer columns; text of annotations only inside."""
    before = tables_of(program, mock)["kernel"]
    change(mock, "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN globalPid", "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN graphNodeId",
           "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN graphId", "DROP TABLE TARGET_INFO_CUDA_DEVICE", "DROP TABLE PROCESSES")
    assert tables_of(program, mock)["kernel"] == before


def test_a_table_that_is_not_there_was_not_collected(program, mock):
    change(mock, "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME", "DROP TABLE TARGET_INFO_SESSION_START_TIME")
    tables = tables_of(program, mock)
    assert "api_call" not in tables
    assert tables["kernel"][0]["start"] == str(query(mock, "SELECT min(start) FROM CUPTI_ACTIVITY_KIND_KERNEL")[0][0])


def test_annotations_of_every_kind(program, mock):
    thread = 283004824020018
    change(mock, """CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, category INTEGER, text TEXT, globalTid INTEGER,
        textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL)""",
           "INSERT INTO StringIds VALUES (900000, 'registered')",
           f"""INSERT INTO NVTX_EVENTS VALUES (1, NULL, 75, NULL, 'my domain', {thread}, NULL, 5, NULL, NULL, NULL),
           (2, NULL, 33, 7, 'my category', {thread}, NULL, 5, NULL, NULL, NULL),
           (1500000000, 1500001000, 59, 7, 'pushed', {thread}, NULL, 5, 42, NULL, NULL),
           (1500000100, 1500000200, 60, 8, NULL, {thread}, 900000, 0, NULL, -3, NULL),
           (1500000300, NULL, 34, NULL, 'marked', {thread}, NULL, 0, NULL, NULL, 2.5),
           (1500000400, NULL, 59, NULL, 'open', {thread}, NULL, 0, NULL, NULL, NULL)""")
    rows = {row["name"]: row for row in tables_of(program, mock)["range"]}
    assert set(rows) == {"pushed", "registered", "marked", "open"}
    assert {k: rows["pushed"][k] for k in ("domain", "category", "payload", "dur")} == {"domain": "my domain", "category": "my category", "payload": "42.0", "dur": "1000"}
    assert (rows["registered"]["category"], rows["registered"]["payload"], rows["marked"]["dur"], rows["marked"]["payload"]) == ("8", "-3.0", "0", "2.5")
    assert rows["open"]["dur"] == "600"  # until the last that is known


# The schemas are those that NCCL registered in a real export (NVTX_PAYLOAD_SCHEMA_ENTRIES of mfu_2gpu_before); no public export has payloads.
NCCL_SCHEMAS = {"CommInitRankConfig": (16777227, "<QiiiI"), "AllGather": (16777220, "<QQ"), "ReduceScatter": (16777223, "<QQiI"), "Broadcast": (16777222, "<QQiI"),
                "Send": (16777225, "<QQiI"), "Recv": (16777226, "<QQiI")}
COMMUNICATOR = 0xDEADBEEF00000001


def payload(call, *values, domain=1):
    schema, layout = NCCL_SCHEMAS[call]
    values += (0,) * (len(layout) - 1 - len(values))
    data = struct.pack(layout, *values)
    return struct.pack("<IIIIQQ", domain, 0, schema, 0, len(data), 32 + len(data)) + data


@pytest.fixture
def nccl(tmp_path):
    """An export with three kernels of one thread made NCCL's, at its end. Returns it with their launches, in order, and a function that adds a range around a time."""
    file = unpacked(FIXTURES / "nsys/mfu_2gpu_before.sqlite.zst", tmp_path)
    launches = query(file, """SELECT r.start, r.end, r.globalTid, r.correlationId, k._rowid_ FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN CUPTI_ACTIVITY_KIND_KERNEL k
        ON k.correlationId = r.correlationId AND k.globalPid >> 24 = r.globalTid >> 24 ORDER BY r.globalTid, r.start DESC LIMIT 3""")[::-1]
    change(file, "INSERT INTO StringIds VALUES (900000, 'ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)')",
           f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 900000 WHERE _rowid_ IN ({', '.join(str(launch[4]) for launch in launches)})")

    def add(name, start, end, data=None, thread=launches[0][2]):
        with closing(sqlite3.connect(file)) as database:
            database.execute("INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, binaryData) VALUES (?, ?, 59, ?, ?, 1, ?)", (start, end, name, thread, data))
            database.commit()
    return file, launches, add


def collectives(program, file):
    return [{key: value for key, value in row.items() if value and key != "process"} for row in tables_of(program, file).get("collective", [])]


def test_collectives_of_nccl(program, nccl):
    file, ((first, first_end, *_, one, _), (second, second_end, *_, two, _), *_), add = nccl
    add("ncclCommInitRankConfig", first - 3000, first - 2000, payload("CommInitRankConfig", COMMUNICATOR, 4, 3, 1))
    add("ncclReduceScatter", first - 10, first_end + 10, payload("ReduceScatter", COMMUNICATOR, 4096))
    add("ncclBroadcast", second - 10, second_end + 10, payload("Broadcast", 7, 100, 2))
    assert collectives(program, file) == [
        {"correlation": str(one), "name": "reducescatter", "type": "Byte", "in_elements": "16384", "out_elements": "4096", "group_size": "4", "communicator": "0xdeadbeef00000001"},
        {"correlation": str(two), "name": "broadcast", "type": "Byte", "in_elements": "100", "out_elements": "100", "communicator": "0x0000000000000007", "src_rank": "2"}]


def test_a_group_of_nccl_is_one_kernel(program, nccl):
    file, ((first, first_end, *_, one, _), (second, *_), (third, third_end, *_)), add = nccl
    add("ncclSend", first - 30, first - 25, payload("Send", COMMUNICATOR, 8, 1))
    add("ncclRecv", first - 20, first - 15, payload("Recv", COMMUNICATOR, 16, 5))
    add("ncclGroupEnd", first - 10, first_end + 10)
    add("ncclAllGather", second - 10, second - 5, payload("AllGather", COMMUNICATOR, 8))
    add("ncclGroupEnd", second - 4, third_end)  # launched two kernels: which of them is unknown
    add("ncclSend", third_end + 10, third_end + 20, payload("Send", COMMUNICATOR, 8, 1))  # the recording ends first
    rows = collectives(program, file)
    assert [(row["name"], row.get("correlation"), row.get("src_rank"), row.get("dst_rank")) for row in rows] == [
        ("send", str(one), None, "1"), ("recv", str(one), "5", None), ("allgather", None, None, None), ("send", None, None, "1")]


def test_damaged_payloads_of_nccl(program, nccl):
    file, ((first, first_end, *_), *_), add = nccl
    whole = payload("Send", COMMUNICATOR, 8, 1)
    for data in (None, b"", whole[:31], whole[:-1], payload("Send", COMMUNICATOR, 2 ** 63, 1), payload("Send", COMMUNICATOR, 8, 1)[:8] + b"\xff" * 8 + whole[16:],
                 whole[:16] + b"\xff" * 8 + whole[24:], whole[:16] + b"\0" * 8 + whole[24:], "text", 7):
        add("ncclSend", first, first_end, data)
    assert collectives(program, file) == []
    add("ncclSend", first, first_end, payload("Send", COMMUNICATOR, 8, -1))
    change(file, "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, type, name, offset) VALUES (1, 16777225, 3, 22, 'far', 9223372036854775807), (1, 16777225, 4, 5, 'before', -8)")
    assert [(row["in_elements"], row.get("dst_rank")) for row in collectives(program, file)] == [("8", None)]
    change(file, "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, type, name, offset) VALUES (1, 16777225, 5, 22, 'Message size [bytes]', 0)")
    assert collectives(program, file) == []  # two definitions


def test_metrics_system_calls_memory_and_graphs(program, mock):
    pid, thread = 283004823928832, 283004824020018
    change(mock, "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER, metricName TEXT)",
           "CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER)",
           "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (72057594037927937, 0, 'GA10x', 3, 'SMs Active [Throughput %]'), (72057594037927937, 0, 'GA10x', 4, 'GPC Clock Frequency [MHz]')",
           "INSERT INTO GPU_METRICS VALUES (1, 1500000000, 72057594037927937, 3, 87), (1, 1500000000, 72057594037927937, 4, 1710), (1, 1500000001, 1, 99, 5)",
           "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER)",
           "INSERT INTO StringIds VALUES (900001, 'poll')", f"INSERT INTO OSRT_API VALUES (1500000000, 1500000777, 27, {thread}, 1, 900001, 0)",
           "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER, address INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER)",
           f"INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (1500000000, {pid}, 0, 4096, 512, 2, 0), (1500000010, {pid}, 0, 4096, 512, 2, 1), (1500000020, {pid}, 0, 8192, 64, 1, 0)",
           "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER)",
           f"INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1545000000, 1545000500, 0, 1, 7, 555, {pid}, 12)",
           "CREATE TABLE GENERIC_EVENTS (start INTEGER, cpu INTEGER)", "INSERT INTO GENERIC_EVENTS VALUES (1, 2), (3, 4)")
    tables = tables_of(program, mock)
    assert [(r["device"], r["metric"], r["unit"], r["value"]) for r in tables["sample"]] == [("1", "SMs Active", "%", "87.0"), ("1", "GPC Clock Frequency", "MHz", "1710.0")]
    assert [(r["name"], r["dur"], r["thread"]) for r in tables["os_call"]] == [("poll", "777", "91186/91186")]
    assert [(r["address"], r["bytes"]) for r in tables["memory_event"]] == [("4096", "512"), ("4096", "-512")]
    assert [(r["name"], r["graph_id"], r["dur"]) for r in tables["kernel"] if "CUDA graph" in r["name"]] == [("CUDA graph 12", "12", "500")]
    assert losses(program, mock) == {"recorder_warning": 1, "missing_field": 1, "whole_graph": 1, "unread_table": 2, "work_without_call": 1}


def test_stacks_of_sampled_processors(program, mock):
    """Frames in any order, the innermost with depth 0; names that would not do in a stack."""
    thread, long = 283004824020018, "t" * 1000
    names = {900010: "main", 900011: "/usr/bin/python3.11", 900012: "poll", 900013: "/lib/x86_64-linux-gnu/libc.so.6", 900014: "a;b", 900015: long}
    change(mock, "CREATE TABLE COMPOSITE_EVENTS (id INTEGER PRIMARY KEY, start INTEGER NOT NULL, cpu INTEGER, threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER NOT NULL)",
           "CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL, unresolved INTEGER, originalIP INTEGER, stackDepth INTEGER NOT NULL)",
           *(f"INSERT INTO StringIds VALUES ({number}, '{name}')" for number, name in names.items()),
           f"INSERT INTO COMPOSITE_EVENTS VALUES (1, 1500000000, 3, 1, {thread}, 100), (2, 1500000500, 3, 1, {thread}, 100), (3, 1500001000, 3, 1, {thread}, 100), (4, 1500001500, 3, 1, NULL, 100)",
           """INSERT INTO SAMPLING_CALLCHAINS VALUES (2, 900014, 1, NULL, 0, 0), (1, 900012, 900013, NULL, 0, 0), (1, 900010, 900011, NULL, 0, 1),
           (2, 900010, 900011, NULL, 0, 1), (3, 900015, 900013, 1, 0, 0), (77, 900010, 900011, NULL, 0, 0)""")
    (base,) = query(mock, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME")[0]
    samples = tables_of(program, mock)["stack_sample"]
    assert [(int(r["time"]) - base, r.get("thread"), r.get("stack"), r.get("depth")) for r in samples] == [
        (1500000000, "91186/91186", "main (python3.11);poll (libc.so.6)", "2"),
        (1500000500, "91186/91186", "main (python3.11);a,b", "2"),
        (1500001000, "91186/91186", f"{'t' * 400}... (libc.so.6)", "1"),
        (1500001500, None, None, None),
    ]
    functions = {row["function"]: row["total_samples"] for row in program.report(mock, "stacks")["stacks"].rows}
    assert functions == {"main": 2, "poll": 1, "a,b": 1, f"{'t' * 400}...": 1}


def test_stacks_of_calls(program, mock):
    """Innermost frame with depth 0. Functions of the runtime and the driver say nothing; a chain that no call names is no stack."""
    names = {900010: "main", 900011: "/opt/train", 900012: "cudaLaunchKernel", 900013: "/lib/libcudart.so.12", 900014: "cuLaunchKernel", 900015: "/lib/libcuda.so.1"}
    (call,) = query(mock, "SELECT correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1")[0]
    change(mock, "CREATE TABLE CUDA_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL, unresolved INTEGER, originalIP INTEGER, stackDepth INTEGER NOT NULL)",
           *(f"INSERT INTO StringIds VALUES ({number}, '{name}')" for number, name in names.items()),
           "INSERT INTO CUDA_CALLCHAINS VALUES (5, 900014, 900015, NULL, 0, 0), (5, 900012, 900013, NULL, 0, 1), (5, 900010, 900011, NULL, 0, 2), (6, 900010, 900011, NULL, 0, 0)",
           *([] if "callchainId" in {name for _, name, *_ in query(mock, "PRAGMA table_info(CUPTI_ACTIVITY_KIND_RUNTIME)")}
             else ["ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN callchainId INTEGER"]),
           f"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET callchainId = CASE WHEN correlationId = {call} THEN 5 END")
    assert {(row["correlation"], row["stack"]) for row in tables_of(program, mock)["api_call"] if row.get("stack")} == {(str(call), "main (train)")}
    (row,) = program.report(mock, "launch_stacks")["launch_stacks"].rows
    assert (row["place"], row["launches"], row["kernels"]) == ("main (train)", 1, 1)
    assert "unread_table" not in losses(program, mock)


def test_devices_of_processes_that_see_others(program, mock):
    """CUDA's device 0 of a process may be the second GPU of the machine."""
    change(mock, "UPDATE TARGET_INFO_CUDA_DEVICE SET gpuId = 3")
    assert {row["device"] for row in tables_of(program, mock)["kernel"]} == {"3"}


def test_environment_and_output_stay_where_they_are(program, mock):
    change(mock, "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'SECRET=hunter2')",
           "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, 'x', 'DeviceEnvironment', 9, 'TOKEN=hunter2')", "INSERT INTO StringIds VALUES (900002, 'hunter2 of the output')")
    assert b"hunter2" not in program.run("export", "capture", mock, "-o", "-").stdout
    assert b"hunter2" not in program.run("export", "csv", mock).stdout


def test_another_database_is_refused(program, tmp_path):
    file = tmp_path / "other.db"
    change(file, "CREATE TABLE things (a)")
    outcome = program.run("report", file)
    assert outcome.status == 3 and len(outcome.errors) == 1
    assert str(file) in outcome.errors[0] and "StringIds" in outcome.errors[0]


@pytest.mark.parametrize("part", [0.02, 0.3, 0.7, 0.99])
def test_a_file_cut_short(program, mock, part):
    whole = mock.read_bytes()
    mock.write_bytes(whole[: int(len(whole) * part)])
    outcome = program.run("report", mock, "kernels", "losses")
    assert (outcome.status == 0 and b"truncated" in outcome.stdout) or (outcome.status == 3 and len(outcome.errors) == 1), (outcome.status, outcome.errors)


def test_damaged_pages_cost_their_table(program, mock):
    kernels = len(tables_of(program, mock)["kernel"])
    (root,) = query(mock, "SELECT rootpage FROM sqlite_schema WHERE name = 'CUPTI_ACTIVITY_KIND_RUNTIME'")[0]
    size = query(mock, "PRAGMA page_size")[0][0]
    data = bytearray(mock.read_bytes())
    data[(root - 1) * size: root * size] = b"\xff" * size
    mock.write_bytes(data)
    assert losses(program, mock)["damaged_table"] == 1
    assert len(tables_of(program, mock)["kernel"]) == kernels


def test_calls_of_unknown_processes(program, mock):
    """Not one call has a process when the messages of the recorder are read."""
    change(mock, "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = NULL",
           *([] if query(mock, "SELECT 1 FROM sqlite_schema WHERE name = 'DIAGNOSTIC_EVENT'") else ["CREATE TABLE DIAGNOSTIC_EVENT (severity, text, globalPid)"]))
    tables = tables_of(program, mock)
    assert len(tables["api_call"]) > 0 and not any(row.get("process") for row in tables["api_call"])


@pytest.mark.parametrize("trick", [
    # A view that never ends, a virtual table: neither is evaluated.
    ["DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL", """CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM n)
        SELECT start, start AS end, 0 AS deviceId FROM n"""],
    ["DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL", "CREATE VIRTUAL TABLE CUPTI_ACTIVITY_KIND_KERNEL USING fts5(start, end, deviceId)"],
])
def test_views_are_refused(program, mock, trick):
    change(mock, *trick)
    outcome = program.run("report", mock)
    assert outcome.status == 3 and "CUPTI_ACTIVITY_KIND_KERNEL is a view or a virtual table" in outcome.errors[0] and len(outcome.errors) == 1


def test_computed_columns_are_not_read(program, mock):
    change(mock, "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL", "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (x, start AS (length(printf('%.*c', 100000000 * x, 'x'))), end AS (5))",
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(x) VALUES (1)")
    tables = tables_of(program, mock)
    assert "kernel" not in tables and len(tables["memcpy"]) == 1


def test_values_of_other_types_and_sizes(program, mock):
    change(mock,
           "CREATE TABLE k AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL", "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL", "ALTER TABLE k RENAME TO CUPTI_ACTIVITY_KIND_KERNEL",
           "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 'many', gridY = 99999999999, blockX = NULL WHERE rowid = 1",
           "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 9223372036854775807 WHERE rowid = 2")
    (kernel,) = tables_of(program, mock)["kernel"]
    assert not {"grid_x", "grid_y", "block_x"} & set(kernel) and kernel["grid_z"] == "1"
    found = losses(program, mock)
    assert found["bad_number"] == 2 and found["time_out_of_range"] == 1


def test_no_room_to_unpack(program, mock, monkeypatch):
    monkeypatch.setenv("TMPDIR", "/nowhere")
    outcome = program.run("report", FIXTURES / "nsys/mock.sqlite.gz")
    assert outcome.status == 3 and "set TMPDIR to another folder" in outcome.errors[0] and len(outcome.errors) == 1
    assert program.run("report", mock).status == 0  # a plain file needs none


def test_killed_while_it_unpacks(program, mock, monkeypatch):
    """The temporary file has no name, so that nothing can leave it behind."""
    scratch = mock.parent / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    child = subprocess.Popen([program.path, "report", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    child.stdin.write(mock.read_bytes())
    child.stdin.flush()
    wait_for(lambda: any(str(scratch) in os.readlink(f"/proc/{child.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{child.pid}/fd")))
    assert list(scratch.iterdir()) == []
    child.kill()
    child.wait()
    child.stdin.close()


def wait_for(happened):
    ends = time.monotonic() + HANGS_S
    while not happened():
        assert time.monotonic() < ends
        time.sleep(0.005)


def test_a_value_larger_than_the_file(program, tmp_path):
    """SQLite says of such damage that memory is short."""
    with tarfile.open(FIXTURES.parent / "fuzz/corpus/nsys.tar.xz") as seeds:
        (tmp_path / "a.sqlite").write_bytes(seeds.extractfile("nsys/huge_value.sqlite").read())
    outcome = program.run("report", tmp_path / "a.sqlite")
    assert outcome.status == 3 and "not a valid SQLite database: a value is larger than the file" in outcome.errors[0]
