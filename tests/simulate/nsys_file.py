"""The database of `nsys export --type sqlite` for a simulated run. Operators and Python frames are not in such files; calls of the
operating system and the scheduler's switches are, if they were recorded. Columns that no reader needs are omitted.
"""

import sqlite3
from contextlib import closing

from kineto import DEVICE, PROCESS

PID = 0x1000000000000 + (PROCESS << 24)
PINNED, PAGEABLE, ON_DEVICE = 1, 0, 2
TABLES = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER, cuDevice INTEGER, computeMajor INTEGER,
    computeMinor INTEGER, threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, maxThreadsPerBlock INTEGER, maxRegistersPerSm INTEGER,
    maxRegistersPerBlock INTEGER, maxShmemPerSm INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER,
    gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER,
    nameId INTEGER, returnValue INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER, domainId INTEGER);
CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER, nameId INTEGER);
CREATE TABLE SCHED_EVENTS (start INTEGER NOT NULL, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER, threadState INTEGER, threadBlock INTEGER);
"""


def write_nsys(path, recording, os_call=None, switches=False):
    """`os_call`: the call in which pauses are spent, if calls of the operating system were recorded. `switches`: the scheduler's were."""
    strings, threads = {}, {}
    string = lambda text: strings.setdefault(text, len(strings) + 1)  # noqa: E731
    thread = lambda name: PID + threads.setdefault(name, PROCESS + len(threads))  # noqa: E731
    kernels, copies = [], []
    for op in recording.ops:
        shared = (op.start, op.end, op.device, op.device + 1, op.stream, op.correlation, PID)
        node = None if op.node is None else (1 << 32) + op.node
        if op.kernel is not None:
            name = string(op.kernel.name)
            kernels.append((*shared, name, name, op.kernel.registers, *op.kernel.grid, *op.kernel.block, 0, op.kernel.shared, node))
        else:
            host, to_device = PINNED if op.pinned else PAGEABLE, op.engine == "HtoD"
            copies.append((*shared, op.bytes, 1 if to_device else 2, host if to_device else ON_DEVICE, ON_DEVICE if to_device else host, node))
    calls = [(span.start, span.end, 0, thread(span.thread), span.args["correlation"], string(span.name + "_v3020"), 0)
             for span in recording.spans if span.table == "call"]
    ranges = [(span.start, span.end, 59, span.name, thread(span.thread), 0) for span in recording.spans if span.table == "range"]
    waits = [(begin, end, 27, thread(name), string(os_call)) for name, begin, end in recording.pauses] if os_call else []
    pauses = [(at, 0, back, thread(name), 0, None) for name, begin, end in recording.pauses for at, back in ((begin, 0), (end, 1))] if switches else []
    devices = [(0x1000000000000, id, DEVICE["name"], DEVICE["totalGlobalMem"], DEVICE["numSms"], id, 9, 0, 32, 64, 32, 1024, 65536, 65536,
                DEVICE["sharedMemPerMultiprocessor"]) for id in sorted({0} | {op.device for op in recording.ops})]
    names = [(string(name), 10, PID + tid) for name, tid in threads.items()]
    rows = {"META_DATA_EXPORT": [("EXPORT_SCHEMA_VERSION", "3.13.2")], "ThreadNames": names, "TARGET_INFO_GPU": devices, "NVTX_EVENTS": ranges,
            "CUPTI_ACTIVITY_KIND_KERNEL": kernels, "CUPTI_ACTIVITY_KIND_MEMCPY": copies, "CUPTI_ACTIVITY_KIND_RUNTIME": calls, "OSRT_API": waits,
            "SCHED_EVENTS": sorted(pauses), "StringIds": [(number, text) for text, number in strings.items()]}
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.executescript(TABLES)
        for table, each in rows.items():
            if each:
                database.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(each[0]))})", each)
            elif table in ("OSRT_API", "SCHED_EVENTS", "NVTX_EVENTS"):
                database.execute(f"DROP TABLE {table}")
        database.commit()
