"""The output of torch.profiler for a simulated run, and the parts that a recording may lack."""

import json

PROCESS, BASE_US = 4711, 1_000_000
HOST = {"op": "cpu_op", "range": "user_annotation", "python": "python_function", "call": "cuda_runtime"}
DEVICE = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_017_624_576, "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
          "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132,
          "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472}


def us(ns):
    return round(BASE_US + ns / 1000, 3)


def host_event(span, threads):
    event = {"ph": "X", "cat": HOST[span.table], "name": span.name, "pid": PROCESS, "tid": threads.setdefault(span.thread, PROCESS + len(threads)),
             "ts": us(span.start), "dur": round((span.end - span.start) / 1000, 3), "args": dict(span.args)}
    return event


def device_event(op):
    event = {"ph": "X", "cat": "kernel", "pid": op.device, "tid": op.stream, "ts": us(op.start), "dur": round((op.end - op.start) / 1000, 3),
             "args": {"correlation": op.correlation, "device": op.device, "context": op.device + 1, "stream": op.stream}}
    if op.kernel is not None:
        kernel = op.kernel
        event["name"] = kernel.name
        event["args"] |= {"grid": list(kernel.grid), "block": list(kernel.block), "registers per thread": kernel.registers, "shared memory": kernel.shared,
                          "queued": 0} | (kernel.message or {})
    else:
        host = "Pinned" if op.pinned else "Pageable"
        ends = f"{host} -> Device" if op.engine == "HtoD" else f"Device -> {host}"
        event |= {"cat": "gpu_memcpy", "name": f"Memcpy {op.engine} ({ends})"}
        event["args"] |= {"bytes": op.bytes, "memory bandwidth (GB/s)": round(op.bytes / max(1, op.end - op.start), 3)}
    return event


# GPUs, their multiprocessors and compute capability, and bytes per ns that copies of pinned memory reach through the links that they come with.
CHIPS = (("Tesla V100-SXM2-16GB", 80, (7, 0), (12.3,)), ("Tesla T4", 40, (7, 5), (12.3, 6.2)), ("NVIDIA A100-SXM4-80GB", 108, (8, 0), (25.0,)),
         ("NVIDIA GeForce RTX 3090", 82, (8, 6), (25.0, 12.5)), ("NVIDIA L4", 58, (8, 9), (25.0, 12.8)), ("NVIDIA GeForce RTX 4090", 128, (8, 9), (25.5,)),
         ("NVIDIA H100 80GB HBM3", 132, (9, 0), (55.0, 26.0)), ("NVIDIA B200", 148, (10, 0), (56.0,)))


def device_of(chip):
    name, sms, (major, minor), _ = chip
    return DEVICE | {"name": name, "numSms": sms, "computeMajor": major, "computeMinor": minor}


def trace_of(machine, lacks=(), lost=0.0, random=None, device=None):
    """`lacks`: categories that were not recorded (op, call, range, python). `lost`: the part of the kernels that is missing."""
    threads = {}
    events = [host_event(span, threads) for span in machine.spans if span.table not in lacks]
    for op in machine.ops:
        if op.kernel is None or not lost or random.random() >= lost:
            events.append(device_event(op))
    names = [{"ph": "M", "name": "thread_name", "pid": PROCESS, "tid": tid, "args": {"name": name}} for name, tid in threads.items()]
    devices = [(device or DEVICE) | {"id": number} for number in sorted({0} | {op.device for op in machine.ops})]
    return json.dumps({"schemaVersion": 1, "deviceProperties": devices, "traceEvents": names + events})
