"""What recorders say of themselves, and how older or other ones say it: diagnostics, units, vocabularies, damage."""

import gzip
import json
import os
import pickle
import re
import sqlite3
from contextlib import closing

import pytest
from conftest import FIXTURES
from exported import tables_of
from test_import_ncu import table as ncu_table
from test_import_nsys import change, unpacked

DRIVER = ("Installed CUDA driver version (13.3) is not supported by this build of Nsight Systems. CUDA trace will be collected using libraries for "
          "driver version 12.9")
WORK = ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")


@pytest.fixture
def mock(tmp_path):
    return unpacked(FIXTURES / "nsys/mock.sqlite.gz", tmp_path)


def losses(program, file):
    return {row["kind"]: row for row in program.report(file, "losses")["losses"].rows}


def because(program, file):
    return program.report(file).document["verdict"]["because"]


def said(program, *arguments):
    return program.run(*arguments).stdout.decode()


def diagnosed(file, *texts, work=False, pid=None):
    """An export with these messages, and without its device work."""
    owner = pid << 24 if pid else "(SELECT max(globalTid) >> 24 << 24 FROM CUPTI_ACTIVITY_KIND_RUNTIME)"
    change(file, "DELETE FROM DIAGNOSTIC_EVENT")
    with closing(sqlite3.connect(file)) as database:
        for text in texts:
            database.execute(f"INSERT INTO DIAGNOSTIC_EVENT (timestamp, timestampType, source, severity, text, globalPid) VALUES (1, 2, 3, 2, ?, {owner})", [text])
        if not work:
            for kind in WORK:
                database.execute(f"DROP TABLE IF EXISTS CUPTI_ACTIVITY_KIND_{kind}")
        database.commit()
    return file


def test_what_explains_that_no_gpu_work_came_is_said_first(program, mock):
    diagnosed(mock, "Not all NVTX events might have been collected.", "No NVTX events collected. Does the process use NVTX?",
              "Not all CUDA events might have been collected.", DRIVER)
    found = losses(program, mock)
    assert found["untraced_gpu"]["place"] == DRIVER
    assert found["recorder_warning"]["place"] == DRIVER
    assert found["recorder_loss"]["place"] == "Not all CUDA events might have been collected."
    assert DRIVER in because(program, mock)
    assert "use a version of the recorder that supports this driver" in because(program, mock)


@pytest.mark.parametrize("text", ["CUPTI error: CUPTI_ERROR_NOT_INITIALIZED", "Unable to enable CUPTI activities", DRIVER])
def test_errors_of_cupti_decide(program, mock, text):
    diagnosed(mock, "Not all CUDA events might have been collected.", "No CUDA events collected. Does the process use CUDA?", text)
    assert losses(program, mock)["untraced_gpu"]["place"] == text


def test_a_doubtful_message_of_a_recording_with_work_is_a_warning(program, mock):
    diagnosed(mock, "Scheduling information is absent.", DRIVER, work=True)
    found = losses(program, mock)
    assert "untraced_gpu" not in found
    assert found["recorder_warning"]["place"] == DRIVER


def test_messages_of_a_launcher_say_nothing_of_its_program(program, mock):
    diagnosed(mock, "CUDA profiling might have not been started correctly.", work=True, pid=77)
    with closing(sqlite3.connect(mock)) as database:
        database.execute("""INSERT INTO DIAGNOSTIC_EVENT (timestamp, timestampType, source, severity, text, globalPid) VALUES
            (2, 2, 3, 2, 'No NVTX events collected. Does the process use NVTX?', (SELECT max(globalTid) >> 24 << 24 FROM CUPTI_ACTIVITY_KIND_RUNTIME))""")
        database.commit()
    assert losses(program, mock)["recorder_warning"]["place"] == "CUDA profiling might have not been started correctly."
    assert "untraced_gpu" not in losses(program, mock)


OLDER_GPUS = """CREATE TABLE TARGET_INFO_CUDA_GPU (vmId INTEGER, name TEXT, pciBusId TEXT, globalMemorySize INTEGER, numThreadsPerWarp INTEGER,
    numMultiprocessors INTEGER, maxWarpsPerMultiprocessor INTEGER, maxRegistersPerBlock INTEGER, maxSharedMemoryPerBlock INTEGER, maxThreadsPerBlock INTEGER,
    computeCapabilityMajor INTEGER, computeCapabilityMinor INTEGER, deviceId INTEGER, pid INTEGER, maxSharedMemoryPerMultiprocessor INTEGER,
    maxRegistersPerMultiprocessor INTEGER)"""


def older_gpu(bus, number, pid, name="Tesla V100-PCIE-32GB"):
    return f"INSERT INTO TARGET_INFO_CUDA_GPU VALUES (1, '{name}', '{bus}', 32510, 32, 80, 64, 65536, 49152, 1024, 7, 0, {number}, {pid}, 98304, 65536)"


def test_gpus_of_older_exports(program, mock):
    change(mock, "DROP TABLE TARGET_INFO_GPU", "DROP TABLE TARGET_INFO_CUDA_DEVICE", OLDER_GPUS, older_gpu("0000:05:00.0", 0, 5), older_gpu("0000:91:00.0", 1, 5),
           older_gpu("0000:05:00.0", 0, 6))
    devices = tables_of(program, mock)["device"]
    assert [(device["device"], device["name"], device["sms"]) for device in devices] == [(number, "Tesla V100-PCIE-32GB", "80") for number in "01"]
    assert (devices[0]["memory_bytes"], devices[0]["cc_major"], devices[0]["max_threads_per_sm"]) == (str(32510 << 20), "7", "2048")
    assert "V100" in said(program, "report", mock)


def test_a_number_that_means_two_gpus_is_resolved_by_their_places(program, mock):
    with closing(sqlite3.connect(mock)) as database:
        (pid,) = database.execute("SELECT max(globalPid) >> 24 & 0xFFFFFF FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
    change(mock, "DROP TABLE TARGET_INFO_GPU", "DROP TABLE TARGET_INFO_CUDA_DEVICE", OLDER_GPUS, older_gpu("0000:05:00.0", 0, 5, "first"),
           older_gpu("0000:91:00.0", 0, pid, "second"))
    tables = tables_of(program, mock)
    assert {device["device"]: device["name"] for device in tables["device"]} == {"0": "first", "1": "second"}
    assert {kernel["device"] for kernel in tables["kernel"]} == {"1"}


def test_a_cut_file_is_told_that_it_is_cut(program, tmp_path):
    host = [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5} for i in range(50)]
    file = tmp_path / "cut.json"
    file.write_text(json.dumps({"traceEvents": host})[:-40])
    assert "the file is cut" in because(program, file)
    assert "record with GPU activities" not in because(program, file)
    file.write_text(json.dumps({"traceEvents": host}))
    assert "record with GPU activities enabled" in because(program, file)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_a_cut_database_is_told_that_it_is_cut(program, mock, part):
    data = mock.read_bytes()
    mock.write_bytes(data[:int(len(data) * part)])
    answer = program.run("report", mock)
    text = (answer.stdout + answer.stderr).decode()
    assert "the file is cut" in text or "the input ends in the middle" in text
    assert "not a valid SQLite database" not in text


# Units ----------------------------------------------------------------------------------------------------------------

OLDER = {"Ghz": "cycle/nsecond", "Mhz": "cycle/usecond", "hz": "cycle/second", "ns": "nsecond", "us": "usecond", "ms": "msecond", "s": "second"}


def older_unit(unit):
    above, slash, below = unit.partition("/")
    return OLDER.get(unit) or (f"{above}/{OLDER[below]}" if slash and below in OLDER else unit)


@pytest.mark.parametrize("raw", sorted((FIXTURES / "ncu").glob("*.raw.csv.gz")), ids=lambda path: path.name.split(".")[0])
def test_older_names_of_units_give_the_same_metrics(program, raw, tmp_path):
    lines = gzip.decompress(raw.read_bytes()).decode().splitlines(keepends=True)
    header = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    lines[header + 1] = re.sub(r'"([^"]*)"', lambda unit: f'"{older_unit(unit[1])}"', lines[header + 1])
    assert "cycle/nsecond" in lines[header + 1]
    older = tmp_path / "older.csv"
    older.write_text("".join(lines))
    for analysis in ("metrics", "roofline"):
        present = said(program, "report", raw, analysis, "--limit", "0", "--format", "csv")
        assert said(program, "report", older, analysis, "--limit", "0", "--format", "csv") == present
    assert "unknown_unit" not in losses(program, older)


def test_nothing_is_computed_from_a_value_of_an_unknown_unit(program, tmp_path):
    file = tmp_path / "odd.csv"
    known, unknown = ncu_table("2.5", unit="usecond").replace("m0", "gpu__time_duration.sum"), ncu_table("2.5", unit="fortnight").replace("m0", "gpu__time_duration.sum")
    file.write_text(known)
    assert [row["value"] for row in program.report(file, "metrics")["metrics"].rows if row["metric"] == "Duration"] == [2500]
    assert "unknown_unit" not in losses(program, file)
    file.write_text(unknown)
    assert losses(program, file)["unknown_unit"]["place"] == "fortnight (1)"
    assert "Duration" not in {row["metric"] for row in program.report(file, "metrics")["metrics"].rows}
    assert "dur" not in tables_of(program, file)["profiled_kernel"][0]


# Vocabularies ---------------------------------------------------------------------------------------------------------


def span(category, name, at, dur, pid=1, tid=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": at, "dur": dur, "args": args}


def test_calls_of_intel_gpus_are_calls(program, tmp_path):
    events = []
    for i in range(40):
        events.append(span("xpu_runtime", "urEnqueueKernelLaunchWithArgsExp", 100 * i, 5, correlation=3 * i + 1))
        events.append(span("xpu_driver", "zeCommandListAppendLaunchKernelWithArguments", 100 * i + 1, 3, correlation=3 * i + 3))
        events.append(span("xpu_runtime", "urEnqueueUSMMemcpy", 100 * i + 10, 5, correlation=3 * i + 2))
        events.append(span("gpu_memcpy", "Memcpy HtoD (Host -> Device)", 100 * i + 20, 10, pid=0, tid=7, correlation=3 * i + 2, bytes=64, device=0))
    file = tmp_path / "xpu.json"
    file.write_text(json.dumps({"traceEvents": events}))
    assert {call["api"] for call in tables_of(program, file)["api_call"]} == {"xpu"}
    found = losses(program, file)
    assert found["launch_without_kernel"]["count"] == 40
    assert "unknown_event" not in found
    assert "was not recorded" in because(program, file)
    for i in range(40):
        events.append(span("kernel", "gemm", 100 * i + 40, 20, pid=0, tid=7, correlation=3 * i + 1, device=0))
    file.write_text(json.dumps({"traceEvents": events}))
    assert losses(program, file) == {}


PADDLE = {"schemaVersion": "1.0.1", "displayTimeUnit": "ms", "span_indx": "0", "deviceProperties": [
    {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 2506096640, "computeMajor": 8, "computeMinor": 0, "smCount": 108}]}


@pytest.mark.parametrize("names", [("ProfileStep", "Operator", "CudaRuntime", "Kernel", "Memcpy", "Memset"),
                                   ("profile_step", "operator", "cuda_runtime", "kernel", "memcpy", "memset")])
def test_paddle(program, tmp_path, names):
    step, operator, runtime, kernel, copy, fill = names
    events = []
    for i in range(10):
        about = {"start_time": f"{1000 * i}.000 us", "end_time": f"{1000 * i + 900}.000 us"}
        events.append(span(step, f"ProfileStep#{i}[0.900 ms]", 1000 * i, 900, tid="1(Python)", **about))
        events.append(span(operator, "matmul dygraph[12.000 us]", 1000 * i + 10, 300, tid="1(C++)", **about))
        for n, (call, category, name) in enumerate([("cudaLaunchKernel_v7000", kernel, "gemm[0.100 ms]"), ("cudaMemcpyAsync_v3020", copy, "MEMCPY_HtoD[20.000 us]"),
                                                    ("cudaMemsetAsync_v3020", fill, "MEMSET[3.000 us]")]):
            number = {"correlation id": 3 * i + n + 1}
            events.append(span(runtime, f"{call}[5.000 us]", 1000 * i + 20 + 10 * n, 5, tid="1(C++)", **number, **about))
            events.append(span(category, name, 1000 * i + 100 + 110 * n, 100, pid=0, tid=7, stream=7, bytes=4, **number, **about))
    file = tmp_path / "a.paddle_trace.json"
    file.write_text(json.dumps({**PADDLE, "traceEvents": [*events, {}]}))
    tables = tables_of(program, file)
    assert [len(tables[table]) for table in ("kernel", "memcpy", "memset", "api_call", "op")] == [10, 10, 10, 30, 10]
    assert {row["name"] for row in tables["kernel"]} == {"gemm"} and {row["name"] for row in tables["op"]} == {"matmul dygraph"}
    assert {row["kind"] for row in tables["memcpy"]} == {"HtoD"}
    assert [row["name"] for row in tables["thread"] if "name" in row] == [] and len(tables["thread"]) == 1
    assert (tables["device"][0]["sms"], "memory_bytes" in tables["device"][0]) == ("108", False)
    assert len(program.report(file, "steps")["steps"].rows) == 10
    assert losses(program, file) == {}
    assert "Paddle profiler" in " ".join(said(program, "report", file).split())


def tree(*children, **metrics):
    return [{"frame": {"name": "ROOT", "type": "function"}, "metrics": {"time (ns)": 0}, "children": [
        {"frame": {"name": name, "type": "function"}, "metrics": metrics if not below else {}, "children": below} for name, below in children]}]


@pytest.mark.parametrize("scope", ["__proton_launch_metadata", "__proton_launch_metadata:gemm"])
def test_work_of_proton_itself_is_left_out(program, tmp_path, scope):
    own = {"frame": {"name": "cuda_kernel", "type": "function"}, "metrics": {"time (ns)": 4064, "device_id": "0"}, "children": []}
    file = tmp_path / "own.hatchet"
    file.write_text(json.dumps(tree((scope, [own]), ("triton_kernel", []), **{"time (ns)": 1664, "device": "amd:1"})))
    tables = tables_of(program, file)
    assert [(node["name"], node.get("device")) for node in tables["call_node"]] == [("ROOT", None), ("triton_kernel", "1")]
    assert {kind: row["count"] for kind, row in losses(program, file).items()} == {"recorder_work": 1}


def dump(entries, status=0):
    return {"version": "2.9", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2]"}},
            "pg_status": {"0": {"last_enqueued_collective": status, "last_started_collective": status, "last_completed_collective": -1}}, "entries": entries}


def entry(state, number=1):
    return {"record_id": number - 1, "process_group": ["0", "default_pg"], "collective_seq_id": number, "p2p_seq_id": 0, "profiling_name": "nccl:all_reduce",
            "state": state, "time_created_ns": 1_790_000_000_000_000_000 + number, "input_sizes": [[8]], "output_sizes": [[8]], "input_dtypes": ["Float"],
            "output_dtypes": ["Float"]}


def test_an_empty_dump_is_not_a_missing_one(program, tmp_path):
    def answer(others, status=0):
        for rank in range(3):
            (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(dump([], status) if rank == 2 else dump(others, len(others)), protocol=2))
        text = " ".join(said(program, "ranks", tmp_path).split())
        assert "no dump of rank 2" not in text
        return text

    first = answer([entry("scheduled")])
    assert "Rank 2 never called all_reduce 1" in first and "its dump has no collectives" in first
    # All ranks took part in what is complete, so this dump is not all that rank 2 did.
    restarted = answer([entry("completed"), entry("started", 2)])
    assert "Rank 2 never called" not in restarted and "the dump of rank 2 has no entries" in restarted
    assert "Rank 2 never called" not in answer([entry("scheduled")], status=5)  # it called, but its recorder kept nothing
    os.remove(tmp_path / "nccl_trace_rank_2")
    assert "no dump of rank 2" in said(program, "ranks", tmp_path)


# Files that are not what they were ------------------------------------------------------------------------------------


def as_text(data):
    return data.decode("utf-8", "replace").encode()


def refused(program, file):
    result = program.run("report", file)
    assert result.status != 0 and result.stdout == b""
    return result.stderr.decode()


def test_files_that_were_converted_as_text(program, tmp_path, mock):
    capture = tmp_path / "job.gpuprof"
    program.run("ranks", FIXTURES / "flight", "--save", capture)
    for name, data in {"a.json.gz": (FIXTURES / "ncu/kernels.raw.csv.gz").read_bytes(), "small.gz": gzip.compress(b'{"traceEvents": []}'), "a.sqlite": mock.read_bytes(),
                       "a.gpuprof": capture.read_bytes(), "a.pickle": pickle.dumps(dump([]), protocol=4)}.items():
        (tmp_path / name).write_bytes(as_text(data))
        assert "damaged by a text conversion" in refused(program, tmp_path / name), name


def test_text_with_a_replacement_character_is_read(program, tmp_path):
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"traceEvents": [span("kernel", "k\ufffd", 1, 1, stream=7)]}, ensure_ascii=False))
    assert tables_of(program, file)["kernel"][0]["name"] == "k\ufffd"


@pytest.mark.parametrize(("schema", "name"), [
    ("CREATE TABLE rocpd_info_node_00003 (id)", "a ROCm profile (rocpd) without its tables"),
    ("CREATE TABLE compute_workload (id); CREATE TABLE compute_kernel (id)", "rocprof-compute"),
    ("CREATE TABLE allocs (idx, size, start_time, end_time, callstack)", "PyTorch memory snapshot"),
    ("CREATE TABLE StringTable (id); CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (id)", "nvprof"),
    ("CREATE TABLE allocs (id, user)", "another tool: it has the tables allocs"),
])
def test_databases_of_other_tools_are_named(program, tmp_path, schema, name):
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as database:
        database.executescript(schema)
    assert name in refused(program, file)
