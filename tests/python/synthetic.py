"""Generates small recordings that combine several devices, streams and threads, nested operators, collectives.

The same seed gives the same file on any machine. The recordings of `tests/fixtures` each come from one GPU and are well
formed; these cover the rest: overlapping streams, two devices, id collisions, overhead in odd places, times beyond 2^53
ns. Times are written as decimal text, never through a float. Kineto's rules hold: records with a link run on their
operator's thread, calls without one on the thread that stops the profiler.
"""

import json
import random
import re

NAMES = ("aten::add", "aten::mm", "aten::copy_", "aten::to", "MulBackward0", "block")
KERNELS = ("void add<float>(float*)", "gemm_128x128", "softmax", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "rcclGather")
COPIES = ("Memcpy HtoD (Pageable -> Device)", "Memcpy DtoH (Device -> Pinned)", "Memcpy DtoD (Device -> Device)")
PROCESS = 4100


def microseconds(ns):
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    return f"@{sign}{ns // 1000}.{ns % 1000:03d}@"


def dump(document):
    """Return JSON text with the marked numbers unchanged."""
    return re.sub(r'"@(-?[\d.]+)@"', r"\1", json.dumps(document))


def complete(category, name, pid, tid, start, dur, **args):
    args = {key.replace("_", " ") if key == "External_id" else key: value for key, value in args.items()}
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
            "ts": microseconds(start), "dur": microseconds(dur), "args": args}


class Recorder:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.origin = self.random.choice((0, 4_357_627_161_514_640, 1_695_835_542_481_129_007))
        self.devices = self.random.randint(1, 3)
        self.events = []
        self.ids = 0
        self.correlations = self.random.choice((0, 3, 1000))
        self.free = {}  # when the last work of a stream ends: it is done in order

    def record(self):
        for thread in range(self.random.randint(1, 3)):
            at = self.origin + self.random.randint(0, 50_000)
            for step in range(4):
                dur = self.random.randint(20_000, 400_000)
                if thread == 0:
                    self.step(step, at, dur)
                else:
                    self.operator(PROCESS + thread, at, dur, 0)
                at += dur + self.random.randint(0, 30_000)
        self.noise()
        return self.events

    def step(self, number, at, dur):
        self.ids += 1
        self.events.append(complete("user_annotation", f"ProfilerStep#{number}", PROCESS, PROCESS, at, dur,
                                    External_id=self.ids))
        self.fill(PROCESS, None, at, dur, 0)
        if self.random.random() < 0.5:
            start = self.random.randint(at, at + dur)
            self.events.append(complete("overhead", "Activity Buffer Request", -1, 0, start, self.random.randint(1, dur)))

    def operator(self, tid, at, dur, depth, name=None):
        self.ids += 1
        own = self.ids
        name = name or self.random.choice(NAMES)
        category = "user_annotation" if name == "block" and self.random.random() < 0.5 else "cpu_op"
        self.events.append(complete(category, name, PROCESS, tid, at, dur, External_id=own))
        if dur > 200 and depth < 5:
            wrapped = name if self.random.random() < 0.2 else None
            if wrapped:
                self.operator(tid, at + 20, dur - 60, depth + 1, wrapped)
            else:
                self.fill(tid, own if category == "cpu_op" else None, at, dur, depth + 1)

    def fill(self, tid, owner, at, dur, depth):
        """Add adjacent children: operators and API calls, with or without gaps."""
        cursor, end = at + 10, at + dur - 10
        while end - cursor > 100:
            size = self.random.randint(40, max(50, (end - cursor) // 2))
            if self.random.random() < 0.5 and depth < 5:
                self.operator(tid, cursor, size, depth)
            else:
                self.call(tid, owner, cursor, min(size, 9_000))
            cursor += size + self.random.choice((0, 1, 700))

    def call(self, tid, owner, at, dur):
        if owner is None and tid != PROCESS:
            return
        self.correlations += 1
        link = {} if owner is None else {"External_id": owner}
        kind = self.random.choice(("kernel", "kernel", "memcpy", "memset", "nothing"))
        name = {"kernel": "cudaLaunchKernel", "memcpy": "cudaMemcpyAsync", "memset": "cudaMemsetAsync"}.get(kind, "cudaEventRecord")
        self.events.append(complete("cuda_runtime", name, PROCESS, tid, at, dur, correlation=self.correlations, **link))
        if kind != "nothing":
            self.device_op(kind, at + self.random.randint(1, 20_000), self.correlations, link)

    def device_op(self, kind, start, correlation, link):
        r = self.random
        device, stream = r.randrange(self.devices), r.choice((7, 7, 20))
        dur = r.randint(1, 15_000)
        start = max(start, self.free.get((device, stream), start))
        self.free[device, stream] = start + dur
        where = {"device": device, "stream": stream, "context": 1, "correlation": correlation, **link}
        if kind == "kernel":
            name = r.choice(KERNELS)
            shape = {"grid": [r.choice((1, 132)), 1, 1] if name == KERNELS[0] else [64, 2, 1], "block": [256, 1, 1],
                     "registers per thread": 32, "shared memory": 0}
            self.events.append(complete("kernel", name, device, stream, start, dur, **where, **shape))
        elif kind == "memcpy":
            self.events.append(complete("gpu_memcpy", r.choice(COPIES), device, stream, start, dur, **where,
                                        bytes=r.randint(0, 1 << 33)))
        else:
            self.events.append(complete("gpu_memset", "Memset (Device)", device, stream, start, dur, **where,
                                        bytes=r.randint(1, 4096)))

    def noise(self):
        """Add records outside the compared tables, and records that only extend the window."""
        at = self.origin
        self.events.append(complete("gpu_user_annotation", "ProfilerStep#0", 0, 7, at, 90_000, External_id=1))
        self.events.append(complete("python_function", "train.py(3): step", PROCESS, PROCESS, at, 80_000))
        self.events.append(complete("Trace", "PyTorch Profiler (0)", "Spans", "PyTorch Profiler", at, 10**9))
        for _ in range(20):
            size = self.random.randint(-(1 << 20), 1 << 20)
            self.events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": PROCESS, "tid": PROCESS,
                                "ts": microseconds(at + self.random.randint(0, 10**6)),
                                "args": {"Bytes": size, "Device Type": self.random.choice((0, 1)), "Device Id": 0,
                                         "Addr": 4096, "Total Allocated": self.random.randint(0, 1 << 40), "Total Reserved": 1 << 41}})


def document(seed):
    """Return a Kineto trace with marked numbers, for `dump`."""
    recorder = Recorder(seed)
    events = recorder.record()
    if seed % 2:
        recorder.random.shuffle(events)
    properties = [{"id": d, "name": "NVIDIA H200", "computeMajor": 9, "computeMinor": 0, "numSms": 132, "warpSize": 32}
                  for d in range(recorder.devices)]
    return {"schemaVersion": 1, "deviceProperties": properties, "baseTimeNanoseconds": 0 if recorder.origin > 10**18 else 1_700_000_000_000_000_000,
            "traceEvents": events, "traceName": f"seed {seed}"}


def recording(seed):
    return dump(document(seed)).encode()
