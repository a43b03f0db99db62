#!/usr/bin/env python3
"""Compares our offsets of CUPTI's fields (core/format/cupti_records.h) with the headers of CUPTI 11.8 to 13.5,
and the structures of its second interface (collect/inject/cupti/cupti_v2.h) with those of the versions that have it.

    tools/check_cupti_layout.py [--cache FOLDER]

Downloads the packages from pip's index (about 120 MB, cached). For each version it compiles one static_assert per field:
the newest structure of the record must have it at the same offset, with the same size. Older headers may lack newer
fields. Run it when cupti_records.h changes or a new CUPTI appears. It needs a network, so ./test does not run it.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "core/format/cupti_records.h"
CUPTI = ["nvidia-cuda-cupti-cu11==11.8.87", "nvidia-cuda-cupti-cu12==12.1.105", "nvidia-cuda-cupti-cu12==12.4.127",
         "nvidia-cuda-cupti-cu12==12.8.90", "nvidia-cuda-cupti==13.0.85", "nvidia-cuda-cupti==13.1.115", "nvidia-cuda-cupti==13.2.86",
         "nvidia-cuda-cupti==13.3.75", "nvidia-cuda-cupti==13.4.92", "nvidia-cuda-cupti==13.5.25"]
# cuda.h and its includes; one version works with all headers of CUPTI.
CUDA = ["nvidia-cuda-runtime==13.5.37", "nvidia-cuda-crt==13.5.37"]

SAME = {name: name for name in ("start", "end", "completed", "queued", "submitted", "bytes", "kind", "name", "id", "cbid", "type", "address")}
PLACE = {"device": "deviceId", "context": "contextId", "stream": "streamId", "correlation": "correlationId", "graph": "graphId",
         "graph_node": "graphNodeId"}
# Namespace in cupti_records.h: CUPTI's structure without its number, and the field names that differ.
STRUCTURES = {
    "kernel": ("Kernel", {"registers": "registersPerThread", "grid_x": "gridX", "grid_y": "gridY", "grid_z": "gridZ",
                          "block_x": "blockX", "block_y": "blockY", "block_z": "blockZ", "static_shared": "staticSharedMemory",
                          "dynamic_shared": "dynamicSharedMemory", "local_per_thread": "localMemoryPerThread",
                          "cluster_x": "clusterX", "cluster_y": "clusterY", "cluster_z": "clusterZ"}),
    "memcpy": ("Memcpy", {"copy_kind": "copyKind", "src": "srcKind", "dst": "dstKind"}),
    "memcpy_p2p": ("MemcpyPtoP", {}),
    "memset": ("Memset", {"memory_kind": "memoryKind"}),
    "api": ("API", {"process": "processId", "thread": "threadId", "error": "returnValue"}),
    "overhead": ("Overhead", {"what": "overheadKind", "object": "objectKind", "thread": "objectId.pt.threadId", "data": "overheadData"}),
    "device": ("Device", {"memory": "globalMemorySize", "warp": "numThreadsPerWarp", "sms": "numMultiprocessors",
                          "warps_per_sm": "maxWarpsPerMultiprocessor", "shared_per_sm": "maxSharedMemoryPerMultiprocessor",
                          "registers_per_sm": "maxRegistersPerMultiprocessor", "registers_per_block": "maxRegistersPerBlock",
                          "shared_per_block": "maxSharedMemoryPerBlock", "threads_per_block": "maxThreadsPerBlock",
                          "cc_major": "computeCapabilityMajor", "cc_minor": "computeCapabilityMinor", "uuid": "uuid"}),
    "external_correlation": ("ExternalCorrelation", {"kind": "externalKind", "id": "externalId"}),
    "memory2": ("Memory", {"operation": "memoryOperationType", "memory_kind": "memoryKind", "time": "timestamp"}),
    "jit": ("Jit", {"operation": "jitOperationType"}),
    "marker": ("Marker", {"time": "timestamp"}),
    "graph_trace": ("GraphTrace", {}),
    "synchronization": ("Synchronization", {}),
    "device_graph_trace": ("DeviceGraphTrace", {}),
    "graph_host_node": ("GraphHostNode", {"thread": "threadId"}),
    "host_launch": ("HostLaunch", {"thread": "threadId"}),
}


def fields_of_records():
    """(namespace, our name) of every field in cupti_records.h."""
    text = re.sub(r"//.*", "", RECORDS.read_text())
    found = []
    for namespace, body in re.findall(r"^namespace (\w+) \{\n(.*?)^\}", text, re.M | re.S):
        for declared in re.findall(r"inline constexpr (?:Field<[\w:]+>|std::uint32_t) ([^;]*);", body):
            found += [(namespace, name) for name in re.findall(r"(\w+)(?:\{| = )", declared)]
    return found


def newest(header, base):
    """The structure with the highest number. Memory1 is a different record from Memory2 and later."""
    numbers = [int(number or 1) for number in re.findall(rf"^\}} CUpti_Activity{base}(\d*);", header, re.M)]
    if not numbers or (base == "Memory" and max(numbers) < 2):
        return None
    number = max(numbers)
    return f"CUpti_Activity{base}{number if number > 1 else ''}"


def body_of(header, structure):
    """The text between the braces of a structure."""
    end = header.index(f"}} {structure};")
    at, depth = end, 1
    while depth > 0:
        at -= 1
        depth += {"}": 1, "{": -1}.get(header[at], 0)
    return header[at:end]


def download(package, cache):
    folder = cache / package.replace("==", "-")
    if not folder.exists():
        with tempfile.TemporaryDirectory() as wheels:
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                            "--only-binary", ":all:", "--dest", wheels, package], check=True)
            (wheel,) = Path(wheels).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder, [name for name in archive.namelist() if name.endswith((".h", ".hpp"))])
    return folder


def include_folder(folder, header):
    return min((path.parent for path in folder.rglob(header)), key=lambda path: len(path.parts))


# Of the second interface: our names, CUPTI's.
PARAMETERS = {"bytes": "structSize", "name": "subscriberName", "old_name": "oldSubscriberName", "old_name_bytes": "oldSubscriberSize",
              "allow_others": "allowMultipleSubscribers"}
ATTRIBUTES = {"kHardwareTrace": "ENABLE_HES", "kAllocationSource": "ENABLE_ALLOCATION_SOURCE_TRACKING",
              "kLatencyTimestamps": "ENABLE_KERNEL_LATENCY_TIMESTAMPS", "kAllSyncRecords": "ENABLE_ALL_SYNC_RECORDS",
              "kEventDeviceTimestamps": "ENABLE_CUDA_EVENT_DEVICE_TIMESTAMPS", "kLaunchAttributes": "ENABLE_KERNEL_LAUNCH_ATTRIBUTES",
              "kDeviceGraph": "ENABLE_DEVICE_GRAPH_TRACE", "kWholeGraphs": "ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE",
              "kThreadIdType": "THREAD_ID_TYPE", "kTimestampCallback": "TIMESTAMP_CALLBACK"}


def second_interface(header):
    """Assertions about V2, for versions that have several subscribers."""
    if "cuptiGetTimestamp_v2" not in header:
        return
    yield '#include "collect/inject/cupti/cupti_v2.h"'
    yield "static_assert(sizeof(inject::SubscriberParams) == sizeof(CUpti_SubscriberParams));"
    for ours, theirs in PARAMETERS.items():
        yield f"static_assert(offsetof(inject::SubscriberParams, {ours}) == offsetof(CUpti_SubscriberParams, {theirs}));"
    for ours, theirs in ATTRIBUTES.items():
        yield f"static_assert(int{{inject::{ours}}} == CUPTI_ACTIVITY_ATTR_{theirs});"


# Of callbacks about graphs: our names, CUPTI's.
GRAPH_DATA = {"graph": "graph", "original_graph": "originalGraph", "node": "node", "original_node": "originalNode", "node_type": "nodeType",
              "dependency": "dependency", "executable": "graphExec"}
GRAPH_CALLBACKS = {"kGraphCreated": "GRAPH_CREATED", "kNodeCreated": "GRAPHNODE_CREATED", "kDependencyCreated": "GRAPHNODE_DEPENDENCY_CREATED",
                   "kDependencyDestroyed": "GRAPHNODE_DEPENDENCY_DESTROY_STARTING", "kExecutableStarting": "GRAPHEXEC_CREATE_STARTING",
                   "kExecutableCreated": "GRAPHEXEC_CREATED", "kNodeCloned": "GRAPHNODE_CLONED", "kNodeUpdated": "GRAPH_NODE_UPDATED"}


def graph_callbacks(callbacks):
    for ours, theirs in GRAPH_DATA.items():
        yield f"static_assert(offsetof(cupti::GraphData, {ours}) == offsetof(CUpti_GraphData, {theirs}));"
    for ours, theirs in GRAPH_CALLBACKS.items():
        if f"CUPTI_CBID_RESOURCE_{theirs} " in callbacks:
            yield f"static_assert(int{{cupti::{ours}}} == CUPTI_CBID_RESOURCE_{theirs});"


def source_for(header, callbacks):
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    lines = ["#include <cstddef>", "#include <cupti.h>", '#include "core/format/cupti_records.h"', "using namespace gpuprof;"]
    lines += second_interface(header)
    lines += graph_callbacks(callbacks)
    checked, absent = 0, []
    for namespace, name in fields_of_records():
        base, others = STRUCTURES[namespace]
        theirs = others.get(name) or PLACE.get(name) or SAME[name]
        structure = newest(header, base)
        if not structure or not re.search(rf"\b{theirs.split('.')[0]}\b", body_of(header, structure)):
            absent.append(f"{namespace}.{name}")
            continue
        ours = f"cupti::{namespace}::{name}"
        offset = ours if name == "uuid" else f"{ours}.offset"
        lines.append(f'static_assert(offsetof({structure}, {theirs}) == {offset}, "{structure}.{theirs}");')
        if name != "uuid":
            lines.append(f'static_assert(sizeof(decltype({structure}::{theirs.split(".")[0]})) >= sizeof(decltype({ours})::type), '
                         f'"size of {structure}.{theirs}");')
        checked += 1
    return "\n".join(lines) + "\n", checked, absent


def main():
    parser = argparse.ArgumentParser(description="Compares core/format/cupti_records.h with CUPTI's headers.")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "cupti-headers")
    cache = parser.parse_args().cache
    runtime, compiler = (download(package, cache) for package in CUDA)
    cuda = [include_folder(runtime, "cuda.h"), include_folder(compiler, "host_config.h").parent]
    failed = False
    for package in CUPTI:
        folder = include_folder(download(package, cache), "cupti_activity.h")
        source, checked, absent = source_for(*((folder / name).read_text(errors="replace") for name in ("cupti_activity.h", "cupti_callbacks.h")))
        command = ["g++", "-std=c++20", "-w", "-fsyntax-only", "-x", "c++", f"-I{folder}", *[f"-I{place}" for place in cuda],
                   f"-I{ROOT}", "-"]
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        wrong = re.findall(r"error: (.*)", done.stderr)
        failed |= bool(wrong) or done.returncode != 0
        print(f"{package}: {checked} fields, {'all as expected' if not wrong else '; '.join(wrong)}"
              f"{'; not in this version: ' + ', '.join(absent) if absent else ''}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
