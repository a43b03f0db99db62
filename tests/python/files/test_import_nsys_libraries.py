"""Tables of libraries in Nsight Systems databases: MPI, OpenACC, UCX, the network, context switches, stacks of system calls, faults.

The database is made here, and the truth is computed from its rows with sets of microseconds.
"""

import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from exported import tables_of

US = 1000
PID, TID = 77, 78
THREAD, PROCESS = PID << 24 | TID, PID << 24
STEPS = 40
OTHER = 4242 << 24

# In microseconds from the start of each step of 1,000.
LAUNCH, KERNEL, REDUCE = (0, 10), (20, 320), (100, 900)
OTHERS = [(500, 600), (100, 150)]
OWN = [(0, 100), (150, 500), (600, 1000)]


class Export:
    """A database with the tables that it is given; texts become rows of StringIds."""

    def __init__(self):
        self.texts, self.tables = {}, {}

    def text(self, text):
        return self.texts.setdefault(text, len(self.texts) + 1)

    def add(self, table, **row):
        self.tables.setdefault(table, []).append(row)

    def write(self, path):
        for text, number in self.texts.items():
            self.add("StringIds", id=number, value=text)
        with closing(sqlite3.connect(path)) as database:
            for table, rows in self.tables.items():
                columns = list(dict.fromkeys(column for row in rows for column in row))
                database.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
                database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", [[row.get(column) for column in columns] for row in rows])
            database.commit()
        return path


def span(step, part):
    return {"start": (step * 1000 + part[0]) * US, "end": (step * 1000 + part[1]) * US}


@pytest.fixture
def export():
    """A program that launches a kernel in each step."""
    made = Export()
    for step in range(STEPS):
        made.add("CUPTI_ACTIVITY_KIND_RUNTIME", **span(step, LAUNCH), eventClass=0, globalTid=THREAD, correlationId=step + 1, nameId=made.text("cudaLaunchKernel_v7000"), returnValue=0)
        made.add("CUPTI_ACTIVITY_KIND_KERNEL", **span(step, KERNEL), deviceId=0, contextId=1, streamId=7, correlationId=step + 1, globalPid=PROCESS,
                 demangledName=made.text("step(float *)"), shortName=made.text("step"), gridX=100, gridY=1, gridZ=1, blockX=128, blockY=1, blockZ=1)
    return made


def micros(parts):
    return {step * 1000 + at for step in range(STEPS) for start, end in parts for at in range(start, end)}


def test_exposed_communication_of_mpi(program, export, tmp_path):
    """A blocking collective between kernels: its message and peer, the cause of idle time, and how much of it no work hides."""
    for step in range(STEPS):
        export.add("MPI_COLLECTIVES_EVENTS", **span(step, REDUCE), globalTid=THREAD, textId=export.text("MPI_Allreduce"), commHandle=5, commUid=9, rootRank=None, size=4096, recvSize=4096)
    export.add("MPI_COLLECTIVES_EVENTS", **span(0, (920, 930)), globalTid=THREAD, textId=export.text("MPI_Iallreduce"), commHandle=5, size=1 << 30, recvSize=1 << 30)
    export.add("MPI_COLLECTIVES_EVENTS", **span(0, (940, 950)), globalTid=THREAD, textId=export.text("MPI_Reduce"), commHandle=5, rootRank=3, size=64)
    export.add("MPI_P2P_EVENTS", **span(1, (920, 930)), globalTid=THREAD, textId=export.text("MPI_Send"), commHandle=5, tag=1, remoteRank=2, size=512)
    export.add("MPI_P2P_EVENTS", **span(1, (940, 950)), globalTid=THREAD, textId=export.text("MPI_Recv"), commHandle=5, tag=1, remoteRank=1, size=256)
    export.add("MPI_START_WAIT_EVENTS", **span(1, (960, 970)), globalTid=THREAD, textId=export.text("MPI_Wait"))
    export.add("MPI_RANKS", globalTid=THREAD, rank=6)
    file = export.write(tmp_path / "mpi.sqlite")
    tables = tables_of(program, file)
    assert tables["process"][0]["rank"] == "6"
    ranges = Counter(row["name"] for row in tables["range"] if row["domain"] == "MPI")
    assert ranges == {"MPI_Allreduce": STEPS, "MPI_Iallreduce": 1, "MPI_Reduce": 1, "MPI_Send": 1, "MPI_Recv": 1, "MPI_Wait": 1}
    assert {(row["name"], row.get("in_elements"), row.get("out_elements"), row.get("src_rank"), row.get("dst_rank"), "exec_time" in row) for row in tables["collective"]} == {
        ("allreduce", "4096", None, None, None, True), ("allreduce", str(1 << 30), None, None, None, False), ("reduce", "64", None, None, "3", True),
        ("send", "512", None, None, "2", False), ("recv", None, "256", "1", None, True)}
    rows = {row["name"]: row for row in program.report(file, "collectives")["collectives"].rows}
    reduce = rows["all_reduce"]
    assert (reduce["count"], reduce["bytes"], reduce["total_ns"]) == (STEPS, 4096, STEPS * 800 * US)
    assert reduce["exposed_ns"] == len(micros([REDUCE]) - micros([KERNEL])) * US
    idle = {row["cause"]: row["total_ns"] for row in program.report(file, "idle")["idle"].rows}
    waiting = (micros([REDUCE]) - micros([KERNEL])) & set(range(KERNEL[0], (STEPS - 1) * 1000 + KERNEL[1]))
    assert abs(idle["communication wait"] - len(waiting) * US) <= 0.05 * len(waiting) * US
    assert max(idle, key=idle.get) == "communication wait"


def test_turns_of_other_processes(program, export, tmp_path):
    """Another process's context has the GPU, once while a kernel counts as running. Nothing is said if the program is alone."""
    for step in range(STEPS):
        for parts, pid, context in ((OWN, PROCESS, 1), (OTHERS, OTHER, 9)):
            for part in parts:
                for tag, at in ((8, "start"), (7, "end")):
                    export.add("GPU_CONTEXT_SWITCH_EVENTS", tag=tag, vmId=0, seqNo=len(export.tables.get("GPU_CONTEXT_SWITCH_EVENTS", [])), contextId=context,
                               timestamp=span(step, part)[at], globalPid=pid, gpuId=0)
    file = export.write(tmp_path / "turns.sqlite")
    slices = tables_of(program, file)["gpu_slice"]
    assert sum(int(row["dur"]) for row in slices if row["pid"] == "4242") == len(micros(OTHERS)) * US
    assert sum(int(row["dur"]) for row in slices if row["pid"] == str(PID)) == len(micros(OWN)) * US
    window = set(range((STEPS - 1) * 1000 + KERNEL[1]))
    said = program.everything_said(file)
    assert f"other processes had the GPU for {len(micros(OTHERS) & window) / 1000:.2f} ms" in said
    assert f"{len(micros(OTHERS) & micros([KERNEL])) / 1000:.2f} ms of it counts as time of this program's kernels" in said
    # In a container the program has another number: its context is the one in whose turns its kernels start.
    with closing(sqlite3.connect(file)) as database:
        database.execute("UPDATE GPU_CONTEXT_SWITCH_EVENTS SET globalPid = ? WHERE globalPid = ?", (9999 << 24, PROCESS))
        database.commit()
    assert program.everything_said(file) == said
    with closing(sqlite3.connect(file)) as database:
        database.execute("DELETE FROM GPU_CONTEXT_SWITCH_EVENTS WHERE globalPid = ?", (OTHER,))
        database.commit()
    assert "other processes" not in program.everything_said(file)


def test_stacks_of_system_calls(program, export, tmp_path):
    """The whole stack is kept, and answers name the program's own frame."""
    frames = [("__poll", "/lib/libc.so.6"), ("0x7f00", "/lib/libcuda.so.1"), ("wait_for_rank", "/opt/solver"), ("main", "/opt/solver"), ("_start", "/opt/solver")]
    for depth, (symbol, module) in enumerate(frames):
        export.add("OSRT_CALLCHAINS", id=3, symbol=export.text(symbol), module=export.text(module), stackDepth=depth)
    for step in range(STEPS):
        export.add("OSRT_API", **span(step, (350, 950)), eventClass=27, globalTid=THREAD, nameId=export.text("poll"), returnValue=0, nestingLevel=0, callchainId=3 if step % 2 else 0)
    file = export.write(tmp_path / "stacks.sqlite")
    calls = tables_of(program, file)["os_call"]
    whole = ";".join(f"{symbol} ({module.split('/')[-1]})" for symbol, module in reversed(frames))
    assert Counter(row.get("stack") for row in calls) == {whole: STEPS // 2, None: STEPS // 2}
    assert [row["stack"] for row in program.report(file, "os_trace")["os_trace"].rows if row["stack"]] == [whole] * (STEPS // 2)
    said = " ".join(program.run("report", file, "idle", "gaps").stdout.decode().split())
    assert "in poll, called in wait_for_rank (solver)." in said


def test_page_faults(program, export, tmp_path):
    for step, (kind, count) in enumerate([(1, 5), (2, 40), (0, 1)]):
        export.add("CUDA_UM_GPU_PAGE_FAULT_EVENTS", **span(step, (30, 60)), globalPid=PROCESS, deviceId=0, address=4096, numberOfPageFaults=count, faultAccessType=kind)
    export.add("CUDA_UM_CPU_PAGE_FAULT_EVENTS", start=330 * US, globalPid=PROCESS, address=1, CpuInstruction=export.text("fill"), module=export.text("/opt/app"), sourceFile=export.text("/src/fill.cu"), sourceLine=12)
    export.add("CUDA_UM_CPU_PAGE_FAULT_EVENTS", start=331 * US, globalPid=PROCESS, address=1, CpuInstruction=export.text("read_back"), module=export.text("/opt/app"), sourceFile=None, sourceLine=None)
    file = export.write(tmp_path / "faults.sqlite")
    assert Counter((row.get("device"), row["faults"], row.get("access"), row.get("place")) for row in tables_of(program, file)["page_fault"]) == Counter([
        ("0", "5", "read", None), ("0", "40", "write", None), ("0", "1", None, None), (None, "1", None, "fill (fill.cu:12)"), (None, "1", None, "read_back (app)")])
    said = program.run("report", file, "unified_memory").stdout.decode()
    assert "46 page faults of devices, most by write accesses (40); 2 page faults of the host, most in fill (fill.cu:12) (1)." in " ".join(said.split())


def test_calls_of_libraries(program, export, tmp_path):
    """Each is a range of its library's domain; one that goes on in the background is on no thread."""
    kinds = {"CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH": "OpenACC", "CUBLAS_EVENTS": "cuBLAS", "CUDNN_EVENTS": "cuDNN", "OPENMP_EVENT_KIND_PARALLEL": "OpenMP", "CUDA_HOST_CALLBACK": "CUDA host functions"}
    for place, (table, domain) in enumerate(kinds.items()):
        source = {"srcFile": export.text("/src/heat.f90"), "lineNo": 41, "funcName": export.text("relax")} if domain == "OpenACC" else {}
        export.add(table, **span(place, (330, 340)), globalTid=THREAD, nameId=export.text(f"call of {domain}"), **source)
    export.add("UCP_SUBMIT_EVENTS", **span(7, (330, 340)), globalTid=THREAD, textId=export.text("ucp_tag_send_nbx"), packedSize=8192)
    export.add("UCP_PROGRESS_EVENTS", **span(7, (335, 990)), globalTid=THREAD, textId=export.text("ucp_tag_send_nbx"), packedSize=8192)
    for graph, original, executable in ((1, None, None), (2, 1, None), (1, None, 3)):
        export.add("CUDA_GRAPH_EVENTS", **span(8, (330, 330)), globalTid=THREAD, nameId=export.text("Graph Creation"), graphId=graph, originalGraphId=original, graphExecId=executable)
    file = export.write(tmp_path / "libraries.sqlite")
    assert Counter((row["name"], row["domain"], row.get("category"), row.get("payload"), "thread" in row) for row in tables_of(program, file)["range"]) == Counter([
        ("call of OpenACC (heat.f90:41)", "OpenACC", "relax", None, True), ("call of cuBLAS", "cuBLAS", None, None, True), ("call of cuDNN", "cuDNN", None, None, True),
        ("call of OpenMP", "OpenMP", None, None, True), ("call of CUDA host functions", "CUDA host functions", None, None, True),
        ("ucp_tag_send_nbx", "UCX", None, "8192.0", True), ("ucp_tag_send_nbx", "UCX", None, "8192.0", False),
        ("CUDA graph 1 created", "CUDA graphs", None, None, True), ("CUDA graph 2 cloned from 1", "CUDA graphs", None, None, True),
        ("CUDA graph 1 instantiated as 3", "CUDA graphs", None, None, True)])
    assert not [row for row in program.report(file, "losses")["losses"].rows if row["kind"] == "unread_table"]


def test_network_cards(program, export, tmp_path):
    export.add("TARGET_INFO_NIC_INFO", GUID=1, stateName="x", nicId=4, name="mlx5_0", deviceId=0, vendorId=0, linkLayer=0)
    export.add("NIC_ID_MAP", nicId=4, globalId=1234)
    for place, (name, unit) in enumerate([("IB: Bytes sent", "B"), ("IB: Packets", "")]):
        export.add("TARGET_INFO_NETWORK_METRICS", metricsListId=1, metricsIdx=place, name=name, description="", unit=unit)
        for step in range(STEPS):
            export.add("NET_NIC_METRIC", **span(step, (0, 1000)), globalId=1234, portId=1, metricsListId=1, metricsIdx=place, value=step * (place + 1))
    export.add("NET_NIC_METRIC", **span(0, (0, 1000)), globalId=1234, portId=1, metricsListId=9, metricsIdx=0, value=1)
    file = export.write(tmp_path / "network.sqlite")
    rows = {row["metric"]: row for row in program.report(file, "samples")["samples"].rows}
    sent = rows["NIC mlx5_0 port 1: IB: Bytes sent"]
    assert (sent["unit"], sent["count"], sent["max"], sent["device"]) == ("B", STEPS, STEPS - 1, None)
    assert rows["NIC mlx5_0 port 1: IB: Packets"]["max"] == 2 * (STEPS - 1)
    assert {row["kind"]: row["count"] for row in program.report(file, "losses")["losses"].rows} == {"missing_field": 1}
