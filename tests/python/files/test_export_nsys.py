"""Databases as Nsight Systems writes them: read back they are the same recording; scripts' SQL gives our numbers."""

import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from conftest import FIXTURES, RECORDINGS, short_name
from exported import tables_of

NSYS = sorted(path for kind in ("gz", "zst") for path in (FIXTURES / "nsys").glob(f"*.sqlite.{kind}"))
# What the format has a place for. Numbers of framework records and of HIP have none; a range has its operators next to it.
KEPT = {
    "kernel": ("start", "dur", "process", "device", "context", "stream", "name", "correlation", "grid_x", "grid_y", "grid_z", "block_x", "block_y",
               "block_z", "registers", "shared_bytes", "graph_id", "graph_node_id"),
    "memcpy": ("start", "dur", "process", "device", "context", "stream", "kind", "src", "dst", "bytes", "correlation", "graph_node_id"),
    "memset": ("start", "dur", "process", "device", "context", "stream", "bytes", "correlation", "graph_node_id"),
    "sync": ("start", "dur", "process", "stream", "kind", "correlation"),
    "api_call": ("start", "dur", "thread", "process", "name", "correlation"),
    "os_call": ("start", "dur", "thread", "name"),
    "overhead": ("start", "dur", "thread", "name"),
    "device": ("device", "name", "uuid", "memory_bytes", "cc_major", "cc_minor", "sms", "warp_size", "max_threads_per_block", "max_threads_per_sm",
               "registers_per_block", "registers_per_sm", "shared_bytes_per_block", "shared_bytes_per_block_optin", "shared_bytes_per_sm"),
}
ABSENT = {"device": "0", "context": "0", "stream": "0", "name": "[unknown]"}  # what the format wants a value for


def exported(program, recording, folder):
    file = folder / "out.sqlite"
    outcome = program.run("export", "nsys", recording, "-o", file)
    assert outcome.status == 0 and outcome.errors == []
    return file


def query(file, sql):
    with closing(sqlite3.connect(file)) as database:
        return database.execute(sql).fetchall()


def kept_number(tid):
    """Ids have 24 bits there; others are numbered from the top."""
    return tid if tid is not None and 0 <= int(tid) < 0xFFFFF0 else "numbered anew"


def rows(tables, name, columns):
    """Rows with what is absent in neither; threads and processes by their numbers, which are all that the format keeps of them."""
    threads = {row["key"]: kept_number(row.get("tid")) for row in tables.get("thread", [])}
    processes = {row["key"]: row.get("pid") for row in tables.get("process", [])}

    def cell(row, column):
        value = row.get(column, ABSENT.get(column) if name != "device" else None)
        if column == "thread":
            return threads.get(value)
        return processes.get(value) if column == "process" else value.lower() if column in ("src", "dst", "kind") and value else value

    return Counter(tuple(cell(row, column) for column in columns) for row in tables.get(name, []))


@pytest.mark.parametrize("recording", [*RECORDINGS, *NSYS], ids=short_name)
def test_round_trip(program, recording, tmp_path):
    if "amd" in recording.name:
        pytest.skip("Nsight Systems has no HIP")
    before, after = tables_of(program, recording), tables_of(program, exported(program, recording, tmp_path))
    for name, columns in KEPT.items():
        lost, new = rows(before, name, columns), rows(after, name, columns)
        assert lost == new, (name, list((lost - new).items())[:2], list((new - lost).items())[:2])
    operators = [row for row in after.get("range", []) if row.get("domain") == "framework operators"]
    assert Counter((row["start"], row["dur"], row["name"]) for row in operators) == Counter((row["start"], row["dur"], row["name"]) for row in before.get("op", []))
    kept = ("start", "dur", "name", "domain", "category", "payload", "thread")
    ranges = {"range": [row for row in after.get("range", []) if row.get("domain") != "framework operators"], "thread": after.get("thread", [])}
    assert rows(ranges, "range", kept) == rows({**before, "range": before.get("range", [])}, "range", kept)


@pytest.fixture(scope="module", params=["transformer.json.zst", "overlap.json.gz"])
def recorded(request, program, tmp_path_factory):
    recording = FIXTURES / f"kineto/{request.param}"
    return exported(program, recording, tmp_path_factory.mktemp("nsys")), program.report(recording, "kernels", "api", "memcpy", "memset", "steps")


# Written after the documented columns, in the manner of `nsys stats`.
def test_kernel_summary(recorded):
    file, report = recorded
    sums = query(file, """SELECT s.value, count(*), sum(k.end - k.start), min(k.end - k.start), max(k.end - k.start)
        FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN StringIds AS s ON s.id = k.demangledName GROUP BY s.value""")
    assert {row[0]: row[1:] for row in sums} == {row["name"]: (row["count"], row["total_ns"], row["min_ns"], row["max_ns"]) for row in report["kernels"].rows}


def test_call_summary(recorded):
    file, report = recorded
    sums = query(file, """SELECT s.value, count(*), sum(r.end - r.start) FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r
        JOIN StringIds AS s ON s.id = r.nameId GROUP BY r.nameId""")
    assert {row[0]: row[1:] for row in sums} == {row["name"]: (row["count"], row["total_ns"]) for row in report["api"].rows}


def test_copy_summary(recorded):
    file, report = recorded
    if not query(file, "SELECT 1 FROM sqlite_schema WHERE name = 'CUPTI_ACTIVITY_KIND_MEMCPY'"):
        assert report["memcpy"].rows == []
        return
    sums = query(file, """SELECT e.label, src.label, dst.label, count(*), sum(c.bytes), sum(c.end - c.start) FROM CUPTI_ACTIVITY_KIND_MEMCPY AS c
        JOIN ENUM_CUDA_MEMCPY_OPER AS e ON e.id = c.copyKind JOIN ENUM_CUDA_MEM_KIND AS src ON src.id = c.srcKind
        JOIN ENUM_CUDA_MEM_KIND AS dst ON dst.id = c.dstKind GROUP BY 1, 2, 3""")
    words = {"HtoD": "Host-to-Device", "DtoH": "Device-to-Host", "DtoD": "Device-to-Device"}
    assert {row[:3]: row[3:] for row in sums} == {(words[row["kind"]], row["src"].capitalize(), row["dst"].capitalize()): (row["count"], row["bytes"], row["total_ns"])
                                                  for row in report["memcpy"].rows}


def test_from_a_range_to_its_kernels(recorded):
    """The join that scripts make: annotation -> calls on its thread inside it -> kernels by correlation, within the process."""
    file, report = recorded
    found = query(file, """SELECT n.text, count(k.rowid), sum(k.end - k.start) FROM NVTX_EVENTS AS n
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.globalTid = n.globalTid AND r.start >= n.start AND r.end <= n.end
        JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.correlationId = r.correlationId AND k.globalPid / 0x1000000 = r.globalTid / 0x1000000
        WHERE n.text LIKE 'ProfilerStep%' GROUP BY n.text""")
    # In `overlap` all is launched by the thread of the annotation; backward passes of `transformer` are not.
    kernels = query(file, "SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL")[0]
    steps = len(report["steps"].rows)
    assert len(found) == steps > 0 and all(count > 0 for _, count, _ in found)
    assert sum(count for _, count, _ in found) <= kernels[0] and sum(total for _, _, total in found) <= kernels[1]


def test_short_names(program, tmp_path):
    file = exported(program, FIXTURES / "kineto/transformer.json.zst", tmp_path)
    names = dict(query(file, "SELECT d.value, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds d ON d.id = k.demangledName JOIN StringIds s ON s.id = k.shortName"))
    assert all(short in name and not set(short) & set("<>(): ") for name, short in names.items())
    assert {"multi_tensor_apply_kernel", "unrolled_elementwise_kernel", "CatArrayBatchedCopy"} <= {short.split("_contig")[0] for short in names.values()}


def test_the_file_says_who_wrote_it(recorded):
    file, _ = recorded
    facts = dict(query(file, "SELECT name, value FROM META_DATA_EXPORT"))
    assert facts["EXPORT_PRODUCT_NAME"] == "gpu-profile" and facts["EXPORT_SCHEMA_VERSION"] == "3.25.0"
    assert query(file, "PRAGMA integrity_check") == [("ok",)]
    assert len(query(file, "SELECT name FROM sqlite_schema WHERE type = 'index'")) >= 5


def test_through_a_pipe_and_to_a_full_disk(program, monkeypatch):
    recording = FIXTURES / "kineto/graph.json.zst"
    assert program.run("export", "nsys", recording, "-o", "-").stdout.startswith(b"SQLite format 3\0")
    outcome = program.run("export", "nsys", recording, "-o", "/dev/full")
    assert outcome.status != 0 and len(outcome.errors) == 1 and "No space left" in outcome.errors[0]
    monkeypatch.setenv("TMPDIR", "/nowhere")
    outcome = program.run("export", "nsys", recording, "-o", "-")
    assert outcome.status == 3 and "set TMPDIR to another folder" in outcome.errors[0] and len(outcome.errors) == 1
