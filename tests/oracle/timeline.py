"""What happened on the devices of a recording: kernels, copies, busy and idle time, gaps, streams, API calls.

Each function takes a `Trace` and returns plain dictionaries with the column names of the product's tables, times in integer
nanoseconds, fractions exact (`Fraction`). Unknown is None. The rules are in README.md; intervals come from intervals.py.
"""

import re
from collections import defaultdict
from fractions import Fraction
from itertools import combinations

from . import intervals
from .trace import DEVICE_MEMORY_TYPES, KERNEL, MEMCPY, MEMSET

COPY_NAME = re.compile(r"Memcpy (\w+) \((.+?) -> (.+?)\)")
SET_NAME = re.compile(r"Memset \((.+?)\)")


def window(trace):
    """(start, end) over all events: one for the whole recording."""
    return min(e.start for e in trace.events), max(e.end for e in trace.events)


def window_ns(trace):
    start, end = window(trace)
    return end - start


def is_comm(name):
    return name.lower().startswith(("nccl", "rccl"))


def by_device(trace):
    out = defaultdict(list)
    for op in trace.device_ops:
        out[op.device_id].append(op)
    return dict(out)


def spans(ops):
    return [(op.start, op.end) for op in ops]


def calls_by_correlation(trace):
    """Of several calls with one id, the first in the file."""
    return {e.correlation: e for e in reversed(trace.events) if e.is_call}


# Statistics -----------------------------------------------------------------------------------------------------


def percentile(values, percent):
    """Nearest rank: the smallest value with at least `percent` % of the values at or below it."""
    ordered = sorted(values)
    rank = -(-percent * len(ordered) // 100)
    return ordered[max(rank, 1) - 1]


def variance(values):
    """Of the population, exact."""
    n, total = len(values), sum(values)
    return Fraction(n * sum(value * value for value in values) - total * total, n * n)


def mean(values):
    return Fraction(sum(values), len(values))


def statistics(values):
    return {"count": len(values), "total_ns": sum(values), "mean_ns": mean(values),
            "min_ns": min(values), "p50_ns": percentile(values, 50), "p95_ns": percentile(values, 95),
            "max_ns": max(values), "variance": variance(values)}


def grouped(items, key):
    out = defaultdict(list)
    for item in items:
        out[key(item)].append(item)
    return dict(out)


# Tables ---------------------------------------------------------------------------------------------------------


def kernels(trace):
    """name -> row; the launch shape is there only when all launches of the name agree on it."""
    everything = trace.of(KERNEL)
    calls = calls_by_correlation(trace)
    total = sum(k.dur for k in everything)
    rows = {}
    for name, group in grouped(everything, lambda k: k.name).items():
        row = statistics([k.dur for k in group])
        row["share_pct"] = Fraction(100 * row["total_ns"], total) if total else None
        for column, field in (("grid", "grid"), ("block", "block"), ("registers", "registers per thread"),
                              ("shared_bytes", "shared memory")):
            row[column] = _constant([_own_or_call(k, field, field, calls) for k in group])
        rows[name] = row
    return rows


def memcpy(trace):
    """(kind, src, dst) -> row"""
    rows = {}
    calls = calls_by_correlation(trace)
    for key, group in grouped(trace.of(MEMCPY), copy_key).items():
        total = sum(c.dur for c in group)
        size = _sum_known(_own_or_call(c, "bytes", "size", calls) for c in group)
        rows[key] = {"count": len(group), "bytes": size, "total_ns": total,
                     "busy_ns": sum(intervals.length(spans(g)) for g in grouped(group, lambda c: c.device_id).values()),
                     "mean_bytes": None if size is None else Fraction(size, len(group)),
                     "gb_per_s": None if size is None or not total else Fraction(size, total)}
    return rows


def copy_key(copy):
    kind, source, destination = COPY_NAME.fullmatch(copy.name).groups()
    return kind, source.lower(), destination.lower()


def memset(trace):
    """memory kind -> row"""
    return {kind: {"count": len(group), "bytes": _sum_known(m.args.get("bytes") for m in group),
                   "total_ns": sum(m.dur for m in group)}
            for kind, group in grouped(trace.of(MEMSET), lambda m: SET_NAME.fullmatch(m.name)[1].lower()).items()}


def devices(trace):
    """device id -> row"""
    return {device: _device_row(trace, ops) for device, ops in by_device(trace).items()}


def streams(trace):
    """(device, stream) -> row; first and last are file times"""
    return {key: {"ops": len(ops), "busy_ns": intervals.length(spans(ops)),
                  "first_ns": min(op.start for op in ops), "last_ns": max(op.end for op in ops)}
            for key, ops in grouped(trace.device_ops, stream_key).items()}


def stream_key(op):
    return op.device_id, op.args.get("stream", op.tid)


def gaps(trace):
    """device id -> [(start, dur)] between the device's first and last busy moment; file times"""
    return {device: [(start, end - start) for start, end in intervals.holes(spans(ops))]
            for device, ops in by_device(trace).items()}


def edges(trace):
    """device id -> idle time before the device is first busy and after it is last; an op without length does not count"""
    first, last = window(trace)
    out = {}
    for device, ops in by_device(trace).items():
        busy = intervals.union(spans(ops))
        out[device] = (busy[0][0] - first, last - busy[-1][1]) if busy else (last - first, 0)
    return out


def overlap(a, b):
    """How two sets of device ops share time."""
    return {"a_ns": intervals.length(a), "b_ns": intervals.length(b), "both_ns": intervals.overlap(a, b),
            "a_exposed_ns": intervals.uncovered(a, b), "b_exposed_ns": intervals.uncovered(b, a)}


def overlaps(trace):
    """(device, a, b) -> row, for the recorded kinds of work and for every two streams"""
    rows = {}
    for device, ops in by_device(trace).items():
        comm = [op for op in ops if op.category == KERNEL and is_comm(op.name)]
        compute = [op for op in ops if op.category == KERNEL and not is_comm(op.name)]
        copies = [op for op in ops if op.category == MEMCPY]
        if copies:
            rows[(device, "kernel", "memcpy")] = overlap(spans(comm + compute), spans(copies))
        if comm:
            rows[(device, "kernel", "comm")] = overlap(spans(compute), spans(comm))
        per_stream = grouped(ops, lambda op: stream_key(op)[1])
        for a, b in combinations(sorted(per_stream), 2):
            rows[(device, f"stream {a}", f"stream {b}")] = overlap(spans(per_stream[a]), spans(per_stream[b]))
    return rows


def launches(trace):
    """kernel name -> row over the kernels whose launching call is in the recording; a call that launched many counts once"""
    calls = calls_by_correlation(trace)
    known = [k for k in trace.of(KERNEL) if k.correlation in calls]
    rows = {}
    for name, group in grouped(known, lambda k: k.name).items():
        submitted_by = {k.correlation: calls[k.correlation] for k in group}.values()
        queued = [k.start - calls[k.correlation].end for k in group]
        rows[name] = {"count": len(group), "api_mean_ns": mean([c.dur for c in submitted_by]), "queue_mean_ns": mean(queued),
                      "queue_p95_ns": percentile(queued, 95), "kernel_mean_ns": mean([k.dur for k in group])}
    return rows


def graphs(trace):
    """(process, graph id) -> row over the ops that a launch of a CUDA graph submitted"""
    calls = calls_by_correlation(trace)
    of_graphs = [op for op in trace.device_ops if "GraphLaunch" in getattr(calls.get(op.correlation), "name", "")]
    rows = {}
    for key, group in grouped(of_graphs, lambda op: (str(calls[op.correlation].pid), op.args.get("graph id") or None)).items():
        launches = grouped(group, lambda op: op.correlation)
        lasted = [max(op.end for op in ops) - min(op.start for op in ops) for ops in launches.values()]
        busy = [intervals.length(spans(ops)) for ops in launches.values()]
        kernels = grouped([op for op in group if op.category == KERNEL], lambda op: op.name)
        rows[key] = {"launches": len(launches), "kernels": sum(map(len, kernels.values())), "copies": len(group) - sum(map(len, kernels.values())),
                     "call_mean_ns": mean([calls[correlation].dur for correlation in launches]), "span_mean_ns": mean(lasted), "busy_mean_ns": mean(busy),
                     "idle_pct": Fraction(100 * (sum(lasted) - sum(busy)), sum(lasted)), "busy_ns": sum(busy),
                     "top_kernel": min(kernels, key=lambda name: (-sum(op.dur for op in kernels[name]), name))}
    return rows


def memory_peaks(trace):
    """device id -> the first moment at which the framework had most allocated there"""
    rows = {}
    for record in sorted((m for m in trace.memory if m.device_type in DEVICE_MEMORY_TYPES), key=lambda m: m.at):
        best = rows.get(record.device_id)
        if best is None or record.allocated > best["peak_bytes"]:
            rows[record.device_id] = {"peak_bytes": record.allocated, "at_ns": record.at}
    return rows


def api(trace):
    """API name -> row"""
    rows = {}
    for name, group in grouped([e for e in trace.events if e.is_call], lambda e: e.name).items():
        rows[name] = statistics([e.dur for e in group])
        rows[name]["threads"] = len({e.thread for e in group})
    return rows


def _device_row(trace, ops):
    kernel, memcpy_, memset_ = (spans(op for op in ops if op.category == c) for c in (KERNEL, MEMCPY, MEMSET))
    comm = spans(op for op in ops if op.category == KERNEL and is_comm(op.name))
    compute = spans(op for op in ops if op.category == KERNEL and not is_comm(op.name))
    total, busy = window_ns(trace), intervals.length(spans(ops))
    return {"window_ns": total, "busy_ns": busy, "busy_pct": Fraction(100 * busy, total) if total else None,
            "idle_ns": total - busy, "kernel_busy_ns": intervals.length(kernel),
            "memcpy_busy_ns": intervals.length(memcpy_), "memset_busy_ns": intervals.length(memset_),
            "comm_busy_ns": intervals.length(comm), "overlap_ns": intervals.overlap(kernel, memcpy_),
            "exposed_memcpy_ns": intervals.uncovered(memcpy_, kernel),
            "exposed_comm_ns": intervals.uncovered(comm, compute),
            "kernels": len(kernel), "memcpys": len(memcpy_), "memsets": len(memset_),
            "streams": len({stream_key(op) for op in ops})}


def _constant(values):
    return values[0] if all(value == values[0] for value in values) else None


def _own_or_call(op, field, call_field, calls):
    """What the record itself says, else what its API call was given (AMD records have sizes and shapes only there)."""
    if field in op.args:
        return op.args[field]
    call = calls.get(op.correlation)
    value = call.args.get(call_field) if call is not None else None
    return int(value) if isinstance(value, str) else value


def _sum_known(values):
    values = list(values)
    return None if None in values else sum(values)
