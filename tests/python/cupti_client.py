"""A minimal client of the fake libcupti: one JSON object of settings in, the received records out.

It provides buffers, takes them back and reads them with cuptiActivityGetNextRecord, without using the converter.
"""

import ctypes
import json
import os
import struct
import sys
import time
from pathlib import Path

U8 = ctypes.POINTER(ctypes.c_uint8)
REQUEST = ctypes.CFUNCTYPE(None, ctypes.POINTER(U8), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t))
COMPLETE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, U8, ctypes.c_size_t, ctypes.c_size_t)
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)
CLOCK = ctypes.CFUNCTYPE(ctypes.c_uint64)

# Kind: field, offset, letter of struct; s: a pointer to a string.
FIELDS = {
    1: "copyKind 4 B srcKind 5 B dstKind 6 B bytes 8 Q start 16 Q end 24 Q deviceId 32 I contextId 36 I streamId 40 I "
       "correlationId 44 I graphNodeId 64 Q graphId 72 I",
    2: "value 4 I bytes 8 Q start 16 Q end 24 Q deviceId 32 I contextId 36 I streamId 40 I correlationId 44 I memoryKind 50 H",
    4: "cbid 4 I start 8 Q end 16 Q processId 24 I threadId 28 I correlationId 32 I returnValue 36 I",
    8: "globalMemorySize 16 Q l2CacheSize 28 I numThreadsPerWarp 32 I coreClockRate 36 I numMultiprocessors 44 I id 112 I "
       "name 136 s",
    9: "contextId 4 I deviceId 8 I nullStreamId 14 H",
    10: "registersPerThread 6 H start 16 Q end 24 Q completed 32 Q deviceId 40 I contextId 44 I streamId 48 I gridX 52 i "
        "gridY 56 i gridZ 60 i blockX 64 i blockY 68 i blockZ 72 i staticSharedMemory 76 i dynamicSharedMemory 80 i "
        "correlationId 92 I name 104 s graphNodeId 144 Q graphId 156 I",
    17: "overheadKind 4 I objectKind 8 I processId 12 I threadId 16 I start 24 Q end 32 Q",
    36: "correlationId 4 I contextId 8 I streamId 12 I eventId 16 I",
    37: "contextId 4 I streamId 8 I priority 12 I flag 16 I",
    38: "type 4 I start 8 Q end 16 Q correlationId 24 I contextId 28 I streamId 32 I cudaEventId 36 I",
    39: "externalKind 4 I externalId 8 Q correlationId 16 I",
    49: "op 4 I memoryKind 8 I correlationId 12 I address 16 Q bytes 24 Q timestamp 32 Q processId 48 I deviceId 52 I "
        "contextId 56 I streamId 60 I name 64 s",
    51: "correlationId 4 I start 8 Q end 16 Q deviceId 24 I graphId 28 I contextId 32 I streamId 36 I",
}
FIELDS[5] = FIELDS[4]
FIELDS = {kind: list(zip(*[iter(text.split())] * 3)) for kind, text in FIELDS.items()}


def decode(address, kind):
    record = {"kind": kind}
    for name, offset, letter in FIELDS[kind]:
        raw = ctypes.string_at(address + int(offset), struct.calcsize("Q" if letter == "s" else letter))
        if letter == "s":
            pointer, = struct.unpack("<Q", raw)
            record[name] = ctypes.string_at(pointer).decode()
        else:
            record[name], = struct.unpack("<" + letter, raw)
    return record


class Client:
    def __init__(self, cupti, wishes):
        self.cupti, self.wishes = cupti, wishes
        self.bytes = wishes.get("buffer_bytes", 1 << 20)
        self.most = wishes.get("most_buffers")
        self.given, self.records, self.lengths, self.callbacks = [], [], {}, []
        self.buffers = 0
        self.pointers = REQUEST(self.request), COMPLETE(self.complete), CALLBACK(self.called)

    def request(self, buffer, size, most_records):
        most_records[0] = 0
        if self.most is not None and len(self.given) >= self.most:
            buffer[0] = ctypes.cast(None, U8)
            size[0] = 0
            return
        memory = (ctypes.c_uint64 * (self.bytes // 8))()
        self.given.append(memory)
        buffer[0] = ctypes.cast(memory, U8)
        size[0] = self.bytes

    def complete(self, context, stream, buffer, size, valid):
        record, before = ctypes.c_void_p(), None
        end = ctypes.addressof(buffer.contents) + valid
        while (code := self.cupti.cuptiActivityGetNextRecord(buffer, ctypes.c_size_t(valid), ctypes.byref(record))) == 0:
            kind, = struct.unpack("<I", ctypes.string_at(record.value, 4))
            self.records.append(decode(record.value, kind))
            if before:
                self.lengths[before[0]] = record.value - before[1]
            before = kind, record.value
        assert code == 12, code
        if before:
            self.lengths[before[0]] = end - before[1]
        self.buffers += 1

    def called(self, data, domain, cbid, about):
        if domain in (1, 2):
            site, = struct.unpack("<I", ctypes.string_at(about, 4))
            name, = struct.unpack("<Q", ctypes.string_at(about + 8, 8))
            correlation, = struct.unpack("<I", ctypes.string_at(about + 64, 4))
            self.callbacks.append([site, ctypes.string_at(name).decode(), correlation])


def find_function(cupti, wanted):
    name = ctypes.c_char_p()
    for domain in (1, 2):
        for cbid in range(1, 1000):
            if cupti.cuptiGetCallbackName(domain, cbid, ctypes.byref(name)) == 0 and name.value.decode() == wanted:
                return domain, cbid
    raise SystemExit(f"no function {wanted}")


def subscribe(cupti, client):
    subscriber, old = ctypes.c_void_p(), ctypes.create_string_buffer(64)
    parameters = struct.pack("<QQQQ", 32, 0, ctypes.addressof(old), len(old))
    code = cupti.cuptiSubscribe_v2(ctypes.byref(subscriber), client.pointers[2], None, parameters)
    return subscriber, [code, old.value.decode()]


def main():
    wishes = json.loads(sys.argv[1])
    fakes = Path(wishes["fakes"])
    cupti = ctypes.CDLL(str(fakes / "libcupti.so.13"))
    cuda = ctypes.CDLL(str(fakes / "libcuda.so.1"))
    client = Client(cupti, wishes)
    answer, version = {}, ctypes.c_uint32()
    cupti.cuptiGetVersion(ctypes.byref(version))
    subscriber, answer["subscribed"] = subscribe(cupti, client)
    clock = CLOCK(lambda: time.time_ns() // 2)
    if wishes.get("slow_clock"):
        cupti.cuptiActivityRegisterTimestampCallback(clock)
    assert cupti.cuptiActivityRegisterCallbacks(*client.pointers[:2]) == 0
    answer["enabled"] = [cupti.cuptiActivityEnable(kind) for kind in wishes["kinds"]]
    for name in wishes.get("functions", []):
        domain, cbid = find_function(cupti, name)
        enable = cupti.cuptiActivityEnableDriverApi if domain == 1 else cupti.cuptiActivityEnableRuntimeApi
        assert enable(cbid, ctypes.c_uint8(1)) == 0
    for name in wishes.get("callbacks", []):
        assert cupti.cuptiEnableCallback(1, subscriber, *find_function(cupti, name)) == 0
    if "external" in wishes:
        kind, number = wishes["external"]
        assert cupti.cuptiActivityEnable(39) == 0
        assert cupti.cuptiActivityPushExternalCorrelationId(kind, ctypes.c_uint64(number)) == 0
    assert cuda.cuInit(0) == 0
    played = cuda.fake_cuda_play(None, wishes.get("play", "").encode())
    assert played == 0, played
    answer["flushed"] = cupti.cuptiActivityFlushAll(wishes.get("flush", 0))
    answer["before_finalize"] = len(client.records)
    if wishes.get("finalize"):
        assert cupti.cuptiFinalize() == 0
    # Wait for late completions until all buffers have been returned.
    until = time.monotonic() + (5 if wishes.get("finalize") else wishes.get("wait_ms", 0) / 1000)
    while time.monotonic() < until and client.buffers < len(client.given):
        time.sleep(0.01)
    dropped = ctypes.c_size_t()
    cupti.cuptiActivityGetNumDroppedRecords(None, 0, ctypes.byref(dropped))
    external = [[r["externalKind"], r["externalId"], r["correlationId"]] for r in client.records if r["kind"] == 39]
    answer |= {"version": version.value, "dropped": dropped.value, "buffers": client.buffers, "external": external,
               "records": [r for r in client.records if r["kind"] != 39], "lengths": client.lengths,
               "callbacks": client.callbacks, "breaches": cuda.fake_cuda_breaches()}
    print(json.dumps(answer), flush=True)
    os._exit(0)  # exit before the interpreter frees buffers and functions that the fakes still use


if __name__ == "__main__":
    main()
