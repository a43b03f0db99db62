#!/usr/bin/env python3
"""Turns a recording of CUPTI activity records into the script that the fake libcupti plays.

A recording is one JSON object a line, fields named as in cupti_activity.h, plain or .xz. Every record becomes the bytes
that the chosen version of CUPTI would write; pointers become places in the script's text, which the fake turns into
addresses. Kinds without a layout here are omitted and counted on stderr. Source of layouts and lengths:
cupti_activity.h and cupti_activity_deprecated.h of the packages nvidia-cuda-cupti 11.8, 12.1, 12.4, 12.8 and 13.0.

A script, little endian:
    8 bytes  "GPFAKE1" and a zero
    u32      what cuptiGetVersion answers
    u32      lanes (threads that deliver)
    u32      records
    u32      length of the text, a multiple of 8
    text     strings that end in a zero; the first is empty
    then for each record: u32 length, u32 lane, u64 bit i set when the 8 bytes at 8*i are a place in the text, the record

    script.py [--cupti 13.0] [--lanes N] RECORDING SCRIPT
    script.py --functions RECORDING... > functions.def
"""

import argparse
import json
import lzma
import struct
import sys
from pathlib import Path

LETTERS = {"B": 1, "H": 2, "I": 4, "i": 4, "Q": 8, "q": 8, "P": 8}
NO_PADDING = "<"

# Kind: number, then the fields in order, without gaps: letter of struct (P: pointer to a string) and the recording's name.
LAYOUTS = {
    "KERNEL": (10, "Ikind B_cache BsharedMemoryConfig HregistersPerThread I_ I_ Qstart Qend Qcompleted IdeviceId IcontextId "
               "IstreamId igridX igridY igridZ iblockX iblockY iblockZ istaticSharedMemory idynamicSharedMemory "
               "IlocalMemoryPerThread IlocalMemoryTotal IcorrelationId qgridId Pname Q_ Qqueued Qsubmitted BlaunchType B_ "
               "BsharedMemoryCarveoutRequested B_ IsharedMemoryExecuted QgraphNodeId IshmemLimitConfig IgraphId Q_ "
               "IchannelID IchannelType IclusterX IclusterY IclusterZ I_ QlocalMemoryTotal ImaxPotentialClusterSize "
               "ImaxActiveClusters Q_"),
    "MEMCPY": (1, "Ikind BcopyKind BsrcKind BdstKind Bflags Qbytes Qstart Qend IdeviceId IcontextId IstreamId "
               "IcorrelationId IruntimeCorrelationId I_ Q_ QgraphNodeId IgraphId IchannelID IchannelType I_ QcopyCount"),
    "MEMCPY2": (22, "Ikind BcopyKind BsrcKind BdstKind Bflags Qbytes Qstart Qend IdeviceId IcontextId IstreamId "
                "IsrcDeviceId IsrcContextId IdstDeviceId IdstContextId IcorrelationId Q_ QgraphNodeId IgraphId "
                "IchannelID IchannelType I_"),
    "MEMSET": (2, "Ikind Ivalue Qbytes Qstart Qend IdeviceId IcontextId IstreamId IcorrelationId Hflags HmemoryKind I_ Q_ "
               "QgraphNodeId IgraphId IchannelID IchannelType I_"),
    "DRIVER": (4, "Ikind Icbid Qstart Qend IprocessId IthreadId IcorrelationId IreturnValue"),
    "RUNTIME": (5, "Ikind Icbid Qstart Qend IprocessId IthreadId IcorrelationId IreturnValue"),
    "DEVICE": (8, "Ikind I_ QglobalMemoryBandwidth QglobalMemorySize IconstantMemorySize Il2CacheSize InumThreadsPerWarp "
               "IcoreClockRate InumMemcpyEngines InumMultiprocessors ImaxIPC ImaxWarpsPerMultiprocessor "
               "ImaxBlocksPerMultiprocessor ImaxSharedMemoryPerMultiprocessor ImaxRegistersPerMultiprocessor "
               "ImaxRegistersPerBlock ImaxSharedMemoryPerBlock ImaxThreadsPerBlock I_ I_ I_ I_ I_ I_ Icc_major Icc_minor "
               "Iid IeccEnabled Q_ Q_ Pname B_ BisMigEnabled B_ B_ B_ B_ B_ B_ I_ I_ Q_ Q_ I_ I_"),
    "CONTEXT": (9, "Ikind IcontextId IdeviceId H_ HnullStreamId IparentContextId BisGreenContext B_ H_ I_ I_"),
    "MARKER": (12, "Ikind Iflags Qtimestamp Iid IobjectKind IprocessId IthreadId I_ I_ Pname Pdomain"),
    "OVERHEAD": (17, "Ikind IoverheadKind IobjectKind IprocessId IthreadId I_ Qstart Qend IcorrelationId I_ Q_"),
    "CUDA_EVENT": (36, "Ikind IcorrelationId IcontextId IstreamId IeventId I_ IdeviceId I_ Q_ QdeviceTimestamp "
                   "QcudaEventSyncId"),
    "STREAM": (37, "Ikind IcontextId IstreamId Ipriority Iflag I_"),
    "SYNCHRONIZATION": (38, "Ikind Itype Qstart Qend IcorrelationId IcontextId IstreamId IcudaEventId Q_ IreturnValue I_"),
    "MEMORY2": (49, "Ikind Iop ImemoryKind IcorrelationId Qaddress Qbytes Qtimestamp Q_ IprocessId IdeviceId IcontextId "
                "IstreamId Pname IisAsync I_ I_ I_ QpoolAddress Q_ QpoolSize Qutilized Psource"),
    "GRAPH_HOST_NODE": (56, "Ikind IstreamId IcontextId IdeviceId IcorrelationId IgraphId QgraphNodeId IprocessId IthreadId Qstart Qend"),
    "HOST_LAUNCH": (58, "Ikind IstreamId IcontextId IdeviceId IcorrelationId IprocessId IthreadId I_ Qstart Qend"),
    "DEVICE_GRAPH_TRACE": (53, "Ikind IdeviceId Qstart Qend IgraphId IlauncherGraphId IdeviceLaunchMode IcontextId QstreamId Q_"),
    "GRAPH_TRACE": (51, "Ikind IcorrelationId Qstart Qend IdeviceId IgraphId IcontextId IstreamId Q_ I_ I_"),
    "JIT": (52, "Ikind IentryType IoperationType IdeviceId Qstart Qend IcorrelationId I_ Q_ QcacheSize PcachePath "
            "IprocessId IthreadId"),
}

# What cuptiGetVersion answers, and the kinds whose records are shorter than the newest.
VERSIONS = {
    "13.0": (130001, {}),
    "12.8": (26, {"KERNEL": 208}),
    "12.4": (22, {"KERNEL": 208, "MEMCPY": 88, "CONTEXT": 24, "SYNCHRONIZATION": 40, "MEMORY2": 120, "CUDA_EVENT": 24}),
    "12.1": (18, {"KERNEL": 208, "MEMCPY": 88, "CONTEXT": 16, "SYNCHRONIZATION": 40, "MEMORY2": 120, "CUDA_EVENT": 24,
                  "OVERHEAD": 40, "DEVICE": 176, "GRAPH_TRACE": 48, "JIT": 64}),
}
VERSIONS["11.8"] = (18, VERSIONS["12.1"][1] | {"KERNEL": 200})

# Functions that no recording calls but tests do.
MORE_FUNCTIONS = {(1, 119): "cuEventRecord", (1, 121): "cuEventSynchronize", (1, 126): "cuStreamSynchronize",
                  (1, 495): "cuStreamBeginCapture", (1, 497): "cuStreamEndCapture", (1, 846): "cuStreamBeginRecaptureToGraph",
                  (1, 477): "cuLaunchCooperativeKernel", (1, 514): "cuGraphLaunch",
                  (1, 527): "cuLaunchHostFunc", (2, 284): "cudaLaunchHostFunc_v10000",
                  (1, 295): "cuStreamWaitEvent", (1, 308): "cuProfilerStart", (1, 309): "cuProfilerStop",
                  (1, 436): "cuStreamWaitEvent_ptsz", (1, 441): "cuEventRecord_ptsz", (1, 587): "cuEventRecordWithFlags",
                  (2, 135): "cudaEventRecord_v3020", (2, 137): "cudaEventSynchronize_v3020",
                  (2, 562): "cudaStreamBeginRecaptureToGraph_v13030",
                  (2, 171): "cudaProfilerStart_v4000", (2, 172): "cudaProfilerStop_v4000"}


def read_recording(path):
    opened = lzma.open(path, "rt") if str(path).endswith(".xz") else open(path)
    with opened as lines:
        return [json.loads(line) for line in lines]


class Text:
    def __init__(self):
        self.bytes = bytearray(1)
        self.places = {"": 0}

    def place(self, text):
        if text not in self.places:
            self.places[text] = len(self.bytes)
            self.bytes += text.encode() + b"\0"
        return self.places[text]


def encode(record, version, text):
    """The record's bytes and which of its words are places in the text."""
    number, layout = LAYOUTS[record["kind"]]
    fields = dict(record, kind=number)
    if record["kind"] == "KERNEL":
        fields["_cache"] = record.get("cacheRequested", 0) | record.get("cacheExecuted", 0) << 4
    if record["kind"] == "DEVICE":
        fields["cc_major"], fields["cc_minor"] = map(int, record["cc"].split("."))
    packed, pointers = bytearray(), 0
    for field in layout.split():
        letter, name = field[0], field[1:]
        value = fields.get(name, "" if letter == "P" else 0)
        if letter == "P":
            pointers |= 1 << len(packed) // 8
            letter, value = "Q", text.place(value)
        packed += struct.pack(NO_PADDING + letter, value)
    length = VERSIONS[version][1].get(record["kind"], len(packed))
    return bytes(packed[:length]), pointers & (1 << length // 8) - 1


def threads_of(records):
    """Those that call come first."""
    callers = {r["threadId"] for r in records if r["kind"] in ("RUNTIME", "DRIVER")}
    return sorted(callers) + sorted({r["threadId"] for r in records if "threadId" in r} - callers)


def lane_of(record, lanes, threads):
    """Calls and overhead go out on a lane of their thread, or by turns when one thread made them all; the rest by stream."""
    if lanes == 1:
        return 0
    thread = record.get("threadId")
    if thread is None:
        return record.get("streamId", 0) % lanes
    if len(threads) > 1 or "correlationId" not in record:
        return threads.index(thread) % lanes
    return record["correlationId"] % lanes


def encode_script(records, version="13.0", lanes=1):
    text, body, left_out, count = Text(), bytearray(), {}, 0
    threads = threads_of(records)
    for record in records:
        if record["kind"] not in LAYOUTS:
            left_out[record["kind"]] = left_out.get(record["kind"], 0) + 1
            continue
        packed, pointers = encode(record, version, text)
        body += struct.pack("<IIQ", len(packed), lane_of(record, lanes, threads), pointers) + packed
        count += 1
    text.bytes += bytes(-len(text.bytes) % 8)
    head = struct.pack("<8sIIII", b"GPFAKE1", VERSIONS[version][0], lanes, count, len(text.bytes))
    return head + text.bytes + body, left_out


def write_script(recording, script, version="13.0", lanes=1):
    packed, left_out = encode_script(read_recording(recording), version, lanes)
    Path(script).write_bytes(packed)
    return left_out


def print_functions(recordings):
    functions = dict(MORE_FUNCTIONS)
    for path in recordings:
        for record in read_recording(path):
            if record["kind"] in ("DRIVER", "RUNTIME"):
                functions[1 if record["kind"] == "DRIVER" else 2, record["cbid"]] = record["name"]
    print("// The API functions that recordings call: FUNCTION(domain, callback id, name). Written by script.py --functions.")
    for (domain, cbid), name in sorted(functions.items()):
        print(f'FUNCTION({domain}, {cbid}, "{name}")')


def main():
    parser = argparse.ArgumentParser(description="Turns a recording of CUPTI records into a script for the fake libcupti.")
    parser.add_argument("--cupti", choices=VERSIONS, default="13.0", help="the version whose records are written")
    parser.add_argument("--lanes", type=int, default=1, help="threads that deliver")
    parser.add_argument("--functions", action="store_true", help="print the table of functions instead")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    if options.functions:
        return print_functions(options.files)
    recording, script = options.files
    for kind, count in write_script(recording, script, options.cupti, options.lanes).items():
        print(f"script.py: {recording}: {count} records of kind {kind} left out: no layout", file=sys.stderr)


if __name__ == "__main__":
    main()
