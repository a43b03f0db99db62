#!/usr/bin/env python3
"""A program whose memory is known, recorded over the fakes: what NVML, CUDA calls and a framework's allocator each say.

    memory_recordings.py PROGRAM FOLDER     writes FOLDER/run.gpuprof and FOLDER/trace.json (tests/fixtures/memory/account)

The program takes four segments for a framework and a workspace for a library, releases a segment later, and has a context
that no recorder sees. NVML lists it, and a process that is not recorded, with sizes that do not change: the program's are right
from LAST_CHANGE_S to RELEASE_S.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from patience import HANGS_S
from program import Program
from recordings_of_cupti import lines, script_of_records

MIB = 1 << 20
SEGMENTS = {0x700000000000: (0.10, 64), 0x710000000000: (0.15, 256), 0x720000000000: (0.20, 512), 0x730000000000: (0.25, 128)}  # s, MiB
WORKSPACE = (0x740000000000, 0.30, 96)
LAST_CHANGE_S, RELEASED, RELEASE_S, END_S = 0.35, 0x730000000000, 2.4, 3.2
CONTEXT_MIB, OTHER_MIB, DRIVER_MIB = 512, 700, 84
PROCESS_MIB = CONTEXT_MIB + 96 + sum(size for _, size in SEGMENTS.values())
# Blocks of the framework: s, address, MiB.
BLOCKS = [(0.11, 0x700000000000, 48), (0.16, 0x710000000000, 250), (0.21, 0x720000000000, 320), (0.26, 0x730000000000, 100),
          (0.31, 0x720000000000 + 320 * MIB, 128), (1.90, 0x720000000000 + 320 * MIB, -128), (2.30, 0x730000000000, -100)]


def records(start_s=0.0):
    """The activity records of the program's CUDA calls; those before `start_s` are not recorded."""
    recorded = lines()
    kernel = next(record for record in recorded if record["kind"] == "KERNEL" and not record["graphId"])
    launch = next(record for record in recorded if record["kind"] == "RUNTIME" and record["correlationId"] == kernel["correlationId"])
    taken = next(record for record in recorded if record["kind"] == "MEMORY2" and record["memoryKind"] == 3)
    malloc = next(record for record in recorded if record["kind"] == "RUNTIME" and record["name"].startswith("cudaMalloc_"))
    free = {**malloc, "cbid": 22, "name": "cudaFree_v3020"}
    base = 1795214496000000000
    made = [record for record in recorded if record["kind"] in ("DEVICE", "CONTEXT")]
    number = 0

    def at(seconds):
        return base + round(seconds * 1e9)

    def call(record, seconds):
        nonlocal number
        number += 1
        made.append({**record, "start": at(seconds), "end": at(seconds) + 90_000, "correlationId": number})

    for seconds in (0.0, END_S):
        call(launch, seconds)
        made.append({**kernel, "start": at(seconds) + 100_000, "end": at(seconds) + 200_000, "completed": at(seconds) + 200_000, "correlationId": number})
    changes = [(seconds, address, size, 1) for address, (seconds, size) in [*SEGMENTS.items(), (WORKSPACE[0], WORKSPACE[1:])]]
    for seconds, address, size, operation in [*changes, (RELEASE_S, RELEASED, SEGMENTS[RELEASED][1], 2)]:
        if seconds >= start_s:
            call(malloc if operation == 1 else free, seconds)
            made.append({**taken, "op": operation, "address": address, "bytes": size * MIB, "timestamp": at(seconds) + 50_000, "correlationId": number})
    return made


def driver(pid_file):
    """What the fake NVML plays."""
    used = PROCESS_MIB + OTHER_MIB + DRIVER_MIB
    return (f"device name=NVIDIA_H200 uuid=GPU-one memory_mib=143771\nset 0 mem_used_mb {used}\n"
            f"process 0 @{pid_file} {PROCESS_MIB}\nprocess 0 4194000 {OTHER_MIB}\n")


def record_program(program, folder, made, script=None, options=()):
    """Records the fake program playing `made`; returns the capture."""
    folder = Path(folder)
    capture, pid_file, rules = folder / "run.gpuprof", folder / "pid", folder / "driver.txt"
    rules.write_text(script if script is not None else driver(pid_file))
    fakes = Path(program).parent / "fakes"
    play = f"echo $$ > {pid_file}; exec {fakes}/fake_program --script {script_of_records(made, folder)} --play 'time=paced live inline'"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(fakes), "GPUPROF_NVML": str(fakes / "libnvidia-ml.so.1"), "GPUPROF_FAKE_NVML": str(rules)}
    command = [program, "record", "--quiet", "-o", capture, "--memory", "--sample", "0.1", *options, "--", "sh", "-c", play]
    subprocess.run(command, env=environment, check=True, timeout=HANGS_S)
    return capture


def framework_trace(program, capture, path):
    """A trace of torch.profiler of the same process: its allocator's events, on the clock of the recording."""
    tables = {name: Program(program).stored(capture, name) for name in ("memory_event", "process")}
    pid = next(int(row["pid"]) for row in tables["process"] if row["pid"])
    start = min(int(row["time"]) for row in tables["memory_event"]) - round(min(seconds for seconds, _ in SEGMENTS.values()) * 1e9) - 50_000
    events, allocated = [], 0
    name = {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": "python3"}}
    for seconds, address, size in BLOCKS:
        allocated += size * MIB
        reserved = sum(of for when, of in SEGMENTS.values() if when <= seconds) * MIB
        values = {"Total Reserved": reserved, "Total Allocated": allocated, "Bytes": size * MIB, "Device Id": 0, "Device Type": 1, "Addr": address}
        events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": pid, "tid": pid, "ts": seconds * 1e6, "args": values})
    spans = [("aten::empty", 0.05, 0.14), ("aten::linear", 0.15, 0.29), ("aten::mm", 0.295, 0.33), ("aten::relu", 0.34, END_S - 0.05)]
    for op, begin, end in spans:
        events.append({"ph": "X", "cat": "cpu_op", "name": op, "pid": pid, "tid": pid, "ts": begin * 1e6, "dur": (end - begin) * 1e6, "args": {}})
    device = {"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0, "numSms": 132}
    document = {"schemaVersion": 1, "deviceProperties": [device], "displayTimeUnit": "ms", "baseTimeNanoseconds": start, "traceEvents": [name, *events]}
    path.write_text(json.dumps(document, indent=1) + "\n")
    return path


def main():
    program, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    capture = record_program(program, folder, records())
    framework_trace(program, capture, folder / "trace.json")
    for name in ("pid", "driver.txt", "made.jsonl", "made.script"):
        (folder / name).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
