"""The Chrome traces of PyTorch's CUPTI profiler (Cuspy): no call, operator or copy is dropped, kinds of copies and counters are in arguments of their own."""

import json

from exported import tables_of

DEVICE = {"device": 0, "context": 1, "stream": 7}


def trace(*more):
    def span(cat, name, ts, dur, pid, tid, **args):
        return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}

    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "H200"}], "displayTimeUnit": "ms", "baseTimeNanoseconds": 1_700_000_000_000_000_000, "traceEvents": [
        {"ph": "M", "name": "process_labels", "ts": 0.0, "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}},
        span("cpu_op", "aten::mm", 1.0, 20.0, 44, 45, **{"External id": 3}), span("cuda_runtime", "cudaLaunchKernel", 2.0, 1.5, 44, 45, cbid=211, correlation=9),
        span("cuda_driver", "cuLaunchKernelEx", 4.0, 1.5, 44, 45, cbid=652, correlation=10), {"ph": "s", "id": 9, "pid": 44, "tid": 45, "ts": 2.0, "cat": "ac2g", "name": "ac2g"},
        span("kernel", "gemm", 10.125, 5.25, 0, 7, **DEVICE, correlation=9), {"ph": "f", "id": 9, "pid": 0, "tid": 7, "ts": 10.125, "cat": "ac2g", "name": "ac2g", "bp": "e"},
        span("gpu_memcpy", "Memcpy", 20.0, 2.0, 0, 7, **DEVICE, correlation=11, bytes=4096, flags=0, **{"copy kind": "HtoD", "src kind": "pageable", "dst kind": "device_static"}),
        span("gpu_memcpy", "Memcpy", 23.0, 2.0, 0, 7, **DEVICE, correlation=12, bytes=64, flags=0, **{"copy kind": 9, "src kind": 0, "dst kind": 3}),
        span("gpu_memset", "Memset", 26.0, 1.0, 0, 7, **DEVICE, correlation=13, bytes=64, value=0, **{"memory kind": 3}),
        span("gpu_user_annotation", "step", 10.124, 17.0, 0, 7, **{"External id": 2}), span("overhead", "Activity Buffer Request", 30.0, 1.0, -1, 0),
        span("graph_host_node", "callback", 31.0, 1.0, 0, 7), {"ph": "C", "name": "Power (W)", "pid": "GPU 0", "tid": 0, "ts": 5.0, "args": {"": 512.5}},
        {"ph": "C", "name": "Cycles (Current Kernel)", "pid": "GPU 0", "tid": 0, "ts": 5.0, "args": {"": 7}}, {"ph": "C", "name": "HBM Read", "pid": 1000, "tid": 0, "ts": 6.0, "args": {"": 12}},
        *more], "traceName": "t"}


def numbers(rows, *columns):
    return [tuple(int(row[c]) if row.get(c) and row[c].isdigit() else row.get(c) for c in columns) for row in rows]


def test_every_row(program, tmp_path):
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(trace()))
    tables = tables_of(program, file)
    assert numbers(tables["kernel"], "dur", "name", "device", "context", "stream", "correlation") == [(5_250, "gemm", 0, 1, 7, 9)]
    assert numbers(tables["memcpy"], "kind", "src", "dst", "bytes", "correlation") == [("HtoD", "pageable", "device static", 4096, 11), (None, None, "device", 64, 12)]
    assert numbers(tables["memset"], "kind", "bytes") == [("device", 64)]
    assert numbers(tables["api_call"], "name", "api", "correlation") == [("cudaLaunchKernel", "runtime", 9), ("cuLaunchKernelEx", "driver", 10)]
    assert len(tables["op"]) == len(tables["device_range"]) == len(tables["overhead"]) == 1
    assert [(row["metric"], row.get("unit"), row.get("device"), float(row["value"])) for row in tables["sample"]] == [("power", "W", "0", 512.5), ("HBM Read", None, None, 12.0)]
    (loss,) = [row for row in program.report(file, "losses")["losses"].rows if row["kind"] == "unknown_event"]
    assert loss["count"] == 2


def test_scopes_of_proton_are_ranges(program, tmp_path):
    """Proton's timeline has the same form, and reads metrics by a kernel of its own."""
    scope = {"ph": "X", "cat": "scope", "name": "forward", "pid": 0, "tid": 12, "ts": 0.0, "dur": 120.5}
    own = {"ph": "X", "cat": "kernel", "name": "<metric>", "pid": 0, "tid": 7, "ts": 60.0, "dur": 0.5}
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(trace(scope, own)))
    tables = tables_of(program, file)
    assert numbers(tables["range"], "name", "dur") == [("forward", 120_500)] and len(tables["kernel"]) == 1
    assert {row["kind"]: row["count"] for row in program.report(file, "losses")["losses"].rows}["recorder_work"] == 1
