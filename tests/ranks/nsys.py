"""The file of one rank as `nsys export --type sqlite` writes it (schema 3.25), with NCCL's ranges and their payloads.

Tables and columns are those of real exports; columns that no reader needs are left absent. NCCL's domain has a range around each call of its API, whose
payload names the communicator, the bytes and the peer. Schema ids are 2^24 plus the ids of NCCL's nvtx.h. A payload has a header of 32 bytes:

    byte 0 domain | 4 zero | 8 schema | 12 zero | 16 payload bytes (64 bit) | 24 total bytes (64 bit) | 32 payload

No real file with NCCL payloads was at hand: the header follows a public decoder that was checked on exports of Nsight Systems 2026.2. NCCL has no
sequence numbers here; ranks of a communicator are matched by order.
"""

import hashlib
import sqlite3
import struct
from contextlib import closing

import numpy as np

from .groups import group_names, kinds
from .kineto import CALLS, LOADER, NCCL_CALL, host_name, process_id
from .program import NAMES
from .trace_text import BASE_NS, START_NS, nccl_kernel

SESSION_NS = START_NS - 1_000_000_000  # start of the session, after BASE_NS
DOMAIN = 1
SCHEMA = 1 << 24
UINT32, COMMUNICATOR, SIZE = 5, 18, 22  # types of payload entries
PUSH_POP, DOMAIN_CREATE = 59, 75  # event types
API = {"all_reduce": ("ncclAllReduce", 5), "all_gather": ("ncclAllGather", 4), "reduce_scatter": ("ncclReduceScatter", 7), "all_to_all": ("ncclAlltoAll", 16),
       "send": ("ncclSend", 9), "recv": ("ncclRecv", 10), "init": ("ncclCommInitRank", 0)}
ENTRIES = {"init": [("NCCL communicator ID", COMMUNICATOR, 0), ("No. of ranks", UINT32, 8), ("Rank", UINT32, 12), ("CUDA device", UINT32, 16)],
           "p2p": [("NCCL communicator ID", COMMUNICATOR, 0), ("Message size [bytes]", SIZE, 8), ("Peer rank", UINT32, 16)],
           "collective": [("NCCL communicator ID", COMMUNICATOR, 0), ("Message size [bytes]", SIZE, 8)]}
BYTES = {"init": 24, "p2p": 24, "collective": 16}
ELEMENT = {"BFloat16": 2, "Float": 4}
TABLES = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT, systemClockNs INTEGER);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL, nameEnum INTEGER NOT NULL, value TEXT NOT
    NULL);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER, uuid TEXT, computeMajor INTEGER, computeMinor
    INTEGER, threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, maxThreadsPerBlock INTEGER);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT
    NULL, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY
    INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER
    NOT NULL, gridId INTEGER NOT NULL, graphNodeId INTEGER, graphId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL,
    srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId
    INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER, text
    TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL,
    uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT);
CREATE TABLE NVTX_PAYLOAD_SCHEMAS (domainId INTEGER, schemaId INTEGER, name TEXT, type INTEGER, flags INTEGER, numEntries INTEGER, payloadSize
    INTEGER, alignTo INTEGER);
CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER NOT NULL, schemaId INTEGER NOT NULL, idx INTEGER NOT NULL, flags INTEGER, type INTEGER,
    name TEXT, description TEXT, arrayOrUnionDetail INTEGER, offset INTEGER);
"""


def communicator(name, ranks):
    """The id that all members of a communicator have."""
    return int.from_bytes(hashlib.blake2b(f"{name}/{ranks}".encode(), digest_size=8).digest(), "little")


def shape(operation):
    return operation if operation == "init" else "p2p" if operation in ("send", "recv") else "collective"


def payload(operation, *values):
    """The binary data of a range: its header and the values of its schema."""
    fields = {"init": "<QIIII", "p2p": "<QQII", "collective": "<QQ"}[shape(operation)]
    body = struct.pack(fields, *values, *([0] if shape(operation) != "collective" else []))
    return struct.pack("<IIIIQQ", DOMAIN, 0, SCHEMA + API[operation][1], 0, len(body), 32 + len(body)) + body


class RankDatabase:
    def __init__(self, run, clocks, rank, base):
        self.run, self.job, self.rank, self.base = run, run.job, rank, base
        self.stage, self.replica, self.shard = self.job.place(rank)
        self.clocks, self.span = clocks, clocks.span(run)
        self.pid = process_id(self.job, rank)
        self.global_pid = (1 << 48) + (self.pid << 24)
        self.global_tid = self.global_pid + self.pid
        names = group_names(self.job, False)
        self.groups = {}
        for kind in kinds(self.job):
            index = self.job.group_index(kind, rank)
            members = self.job.groups(kind)[index]
            self.groups[kind] = communicator(names[kind, index], members), members
        self.strings, self.correlation = {}, 0

    def times(self, values, device):
        clock = self.clocks.device_times if device else self.clocks.host_times
        recorded = clock(self.rank, values[self.stage][..., self.replica, self.shard], self.span)
        return (np.rint(recorded) + START_NS - SESSION_NS).astype(np.int64).tolist()

    def string(self, text):
        return self.strings.setdefault(text, len(self.strings) + 1)

    def range(self, start, end, text, domain=0, data=None):
        row = (start, end, PUSH_POP, None, None, None, text, self.global_tid, None, None, domain, *[None] * 8, data)
        self.base.execute(f"INSERT INTO NVTX_EVENTS VALUES ({','.join('?' * 20)})", row)

    def insert(self, table, *row):
        self.base.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)

    def head(self):
        self.base.executescript(TABLES)
        product = {"EXPORT_PRODUCT_NAME": "NVIDIA Nsight Systems", "EXPORT_PRODUCT_VERSION": "2026.2.1.210", "EXPORT_SCHEMA_VERSION": "3.25.0"}
        for name, value in product.items():
            self.insert("META_DATA_EXPORT", name, value)
        local = self.rank % self.job.per_host
        for name, value in (("RANK", self.rank), ("LOCAL_RANK", local), ("WORLD_SIZE", self.job.world), ("LOCAL_WORLD_SIZE", self.job.per_host)):
            self.insert("META_DATA_CAPTURE", "PROCESS_0:ENVIRONMENT_VARIABLE", f'{name}="{value}"')
        self.insert("TARGET_INFO_SESSION_START_TIME", BASE_NS + SESSION_NS, None, None, 0)
        self.insert("TARGET_INFO_SYSTEM_ENV", 1 << 48, "Local (CLI)", "Hostname", 619, host_name(self.job, self.rank))
        self.insert("TARGET_INFO_GPU", 1 << 48, 0, "NVIDIA H100 80GB HBM3", 85_017_624_576, 132, None, 9, 0, 32, 64, 1024)
        self.insert("PROCESSES", self.global_pid, self.pid, "python3")
        self.insert("ThreadNames", self.string("python3"), 20, self.global_tid)
        self.insert("NVTX_EVENTS", 0, None, DOMAIN_CREATE, None, None, None, "NCCL", self.global_tid, None, None, DOMAIN, *[None] * 9)
        for operation, (_, number) in API.items():
            kind = shape(operation)
            self.insert("NVTX_PAYLOAD_SCHEMAS", DOMAIN, SCHEMA + number, None, 1, None, len(ENTRIES[kind]), BYTES[kind], None)
            for i, (name, of, offset) in enumerate(ENTRIES[kind]):
                self.insert("NVTX_PAYLOAD_SCHEMA_ENTRIES", DOMAIN, SCHEMA + number, i, None, of, name, None, None, offset or None)

    def communicators(self):
        """The creation of each communicator, before the job begins: who this rank is in it."""
        for i, (number, members) in enumerate(self.groups.values()):
            start = 100_000_000 + i * 1_000_000
            data = payload("init", number, len(members), members.index(self.rank), self.rank % self.job.per_host)
            self.range(start, start + 500_000, "ncclCommInitRank", DOMAIN, data)

    def operation(self, op, step, host, call, start, end, after):
        self.correlation += 1
        api, _ = CALLS.get(op.kind, NCCL_CALL)
        self.insert("CUPTI_ACTIVITY_KIND_RUNTIME", call, min(call + 6_000, after), 1, self.global_tid, self.correlation, self.string(api), 0, None)
        place = (start, end, 0, 1, None, op.stream, self.correlation, self.global_pid)
        if op.kind in ("copy_in", "copy_out"):
            kinds_of_copy = (1, 1, 2) if op.kind == "copy_in" else (2, 2, 0)
            self.insert("CUPTI_ACTIVITY_KIND_MEMCPY", *place, op.elements, *kinds_of_copy, None)
            return
        if op.group:
            name, (grid, block, registers) = nccl_kernel(op.name, op.dtype), ((24, 1, 1), (544, 1, 1), 96)
            number, _ = self.groups[op.group]
            size = max(op.elements, op.outputs) * ELEMENT[op.dtype]
            values = (number, size, self.stage + op.peer) if op.peer else (number, size)
            self.range(host, after, API[op.name][0], DOMAIN, payload(op.name, *values))
        else:
            name, grid, block = NAMES[op.name]
            grid = (round(grid[0] * self.run.effects.grid[self.stage][step, self.replica, self.shard]), *grid[1:])
            registers = 64
        self.insert("CUPTI_ACTIVITY_KIND_KERNEL", *place, self.string(name), self.string(name.split("(")[0].split("<")[0]), registers, *grid, *block, 0, 0, 0,
                    self.correlation, None, None)

    def pause(self, step, end):
        length = round(self.run.effects.pause[self.stage][step, self.replica, self.shard])
        if length:
            self.range(end - length, end, self.run.effects.ranges[step, self.rank])

    def write(self):
        self.head()
        self.communicators()
        run = self.run
        host, call, begin, fetched, done = (self.times(values, False) for values in (run.host, run.launch, run.begin, run.fetched, run.done))
        start, end = self.times(run.start, True), self.times(run.end, True)
        for step in range(self.job.steps):
            self.range(begin[step], done[step], f"step {self.job.first_step + step}")
            self.range(begin[step] + 2_000, fetched[step] - 1_000, LOADER)
            self.pause(step, host[step][run.pause_at[self.stage]])
            for i, op in enumerate(run.programs[self.stage]):
                after = host[step][i + 1] if i + 1 < len(host[step]) else call[step][i] + 10_000
                self.operation(op, step, host[step][i], call[step][i], start[step][i], end[step][i], after)
        self.base.executemany("INSERT INTO StringIds VALUES (?, ?)", [(number, text) for text, number in self.strings.items()])


def write(run, clocks, rank, path):
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as base, base:
        RankDatabase(run, clocks, rank, base).write()
