"""Reads a Chrome trace of the PyTorch profiler (Kineto) into plain records with integer nanoseconds.

One `Event` per complete event ("ph": "X") that is not the profiler's own span (category "Trace"), one `MemoryEvent`
per `[memory]` instant. Order is the order of the file. `device_id` follows `args.device`, else the `pid`.
Does not repair broken files: the fixtures are whole, broken input is tested through the command line.
Format: https://github.com/pytorch/kineto, libkineto/src/output_json.cpp.
"""

import gzip
import subprocess
import json
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

KERNEL = "kernel"
MEMCPY = "gpu_memcpy"
MEMSET = "gpu_memset"
DEVICE_CATEGORIES = (KERNEL, MEMCPY, MEMSET)
CALL_CATEGORIES = ("cuda_runtime", "cuda_driver", "hip_runtime", "hip_driver")
PROFILER_SPAN = "Trace"
# c10/core/DeviceType.h: CPU, MKLDNN, IDEEP; CUDA, HIP, XPU, PrivateUse1
HOST_MEMORY_TYPES = (0, 2, 5)
DEVICE_MEMORY_TYPES = (1, 6, 12, 20)


@dataclass(eq=False)
class Event:
    category: str
    name: str
    pid: object
    tid: object
    start: int
    dur: int
    args: dict = field(repr=False)

    @property
    def end(self):
        return self.start + self.dur

    @property
    def thread(self):
        return (self.pid, self.tid)

    @property
    def device_id(self):
        return self.args.get("device", self.pid)

    @property
    def correlation(self):
        return self.args.get("correlation")

    @property
    def external_id(self):
        return self.args.get("External id")

    @property
    def is_device_op(self):
        return self.category in DEVICE_CATEGORIES

    @property
    def is_call(self):
        return self.category in CALL_CATEGORIES


@dataclass
class MemoryEvent:
    at: int
    bytes: int
    device_type: int
    device_id: int
    allocated: int
    reserved: int


@dataclass
class Trace:
    path: Path
    events: list
    memory: list

    @property
    def device_ops(self):
        return [e for e in self.events if e.is_device_op]

    def of(self, *categories):
        return [e for e in self.events if e.category in categories]


def to_ns(microseconds):
    """Exact: a number of decimal microseconds that is no whole number of nanoseconds is an error here."""
    ns = Decimal(microseconds) * 1000
    if ns != ns.to_integral_value():
        raise ValueError(f"{microseconds} us is no whole number of nanoseconds")
    return int(ns)


def unpacked(path):
    """The bytes of a file that may be compressed."""
    raw = Path(path).read_bytes()
    if raw[:2] == b"\x1f\x8b":
        return gzip.decompress(raw)
    if raw[:4] == b"\x28\xb5\x2f\xfd":
        return subprocess.run(["zstd", "-dcq"], input=raw, capture_output=True, check=True).stdout
    return raw


def read_json(path):
    return json.loads(unpacked(path), parse_float=Decimal)


def read_trace(path):
    document = read_json(path)
    rows = document["traceEvents"] if isinstance(document, dict) else document
    events, memory = [], []
    for row in rows:
        args = row.get("args") or {}
        if row.get("ph") == "X" and row.get("cat") != PROFILER_SPAN:
            events.append(Event(row.get("cat", ""), row["name"], row["pid"], row["tid"],
                                to_ns(row["ts"]), to_ns(row["dur"]), args))
        elif row.get("ph") == "i" and row.get("name") == "[memory]":
            memory.append(MemoryEvent(to_ns(row["ts"]), args["Bytes"], args["Device Type"], args["Device Id"],
                                      args.get("Total Allocated"), args.get("Total Reserved")))
    return Trace(Path(path), events, memory)
