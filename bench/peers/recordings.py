"""The recordings that all tools get, each with its truth, written to a folder.

A truth is what the program does by construction (its limit, its straggler), or a sum over the events of the file that needs no analysis
(idle share, hidden communication, length of steps). Idle shares are ranges: from the first to the last device operation, in the steps or in
both, with copies as work or as idle time. Drawn programs are those of tests/simulate, and their files have what torch.profiler
writes beyond what our importer needs: flows between calls and kernels, ids of operators, and steps on the device.
"""

import gzip
import json
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests/fixtures"
sys.path.insert(0, str(ROOT / "tests/simulate"))

from families import FAMILIES  # noqa: E402
from kineto import trace_of  # noqa: E402
from nsys_file import write_nsys  # noqa: E402
from truth import truth_of  # noqa: E402

from tests.ranks import generate  # noqa: E402

KERNELS = ("compute-bound", "memory-bandwidth-bound", "underfilled", "healthy/near limit")
# File, what it is, the labels that are right by construction, and the step without a profiler (tests/fixtures/whatif_truth.json).
KINETO = (
    ("input_bound", "a small CNN fed by a DataLoader without workers", ("input-bound",), None),
    ("small_kernels", "1,200 elementwise kernels of 256x256 per step", ("launch-bound",), 14.8),
    ("memory_bound", "elementwise chains and layer norm on 1 GiB tensors", ("memory-bandwidth-bound",), None),
    ("transformer", "a GPT training step; kernels take 21.9 of its 22.7 ms without a profiler", (*KERNELS, "mixed"), 22.7),
    ("overlap", "fp32 GEMMs and pinned copies on two streams", ("compute-bound", "healthy/near limit"), None),
    ("graph", "a 20-layer MLP, replayed as a CUDA graph", (), 1.96),
)
RUN_AHEAD = ("memory_bound", "overlap", "graph")  # the host's ranges are not as long as the steps
NSYS = (("mfu_2gpu_before", "0.3 s of training on two H100"),)
JOBS = ((("gpu", 40), "8 generated ranks: the GPU of rank 5 is 20 % slower"), (("clean-8", 40), "8 generated ranks without a fault"),
        (("host", 20), "16 generated ranks: host 2 (ranks 4 and 5) launches late"))
STEP = "ProfilerStep#"
AHEAD = 0.1  # the host's ranges of steps are not those of the device if they end this much of the recording before it
ONCE_PER_STEP = "input_reduce_fusion"  # a kernel of mlp


@dataclass
class Recording:
    name: str
    kind: str  # kineto, nsys, xplane, ranks
    about: str
    path: Path
    truth: dict


def union(spans):
    merged = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def length(spans):
    return sum(end - begin for begin, end in union(spans))


def sums(kernels, others, steps, ms):
    """Truths that are sums over spans of one device; `ms` is the length of a millisecond in their unit."""
    comm = [(begin, end) for name, begin, end in kernels if "nccl" in name.lower()]
    compute = [(begin, end) for name, begin, end in kernels if "nccl" not in name.lower()]
    work = comm + compute
    windows = [(min(span[0] for span in work + others), max(span[1] for span in work + others))]
    if steps:
        begin, end = steps[0][0], max(windows[0][1], steps[-1][1])
        windows += [(begin, end), (min(windows[0][0], begin), end)]
        if steps[-1][1] > end - AHEAD * (end - begin):
            windows.append((begin, steps[-1][1]))
    idle = [100 * (1 - length((max(at, begin), min(to, end)) for at, to in busy if at < end and to > begin) / (end - begin))
            for busy in (work, work + others) for begin, end in windows]
    truth = {"idle_pct": [min(idle), max(idle)]}
    if steps:
        lengths = [(end - begin) / ms for begin, end in steps]
        truth["step_ms"] = sorted((mean(lengths), median(lengths)))
    if comm:
        truth["hidden_pct"] = [100 * (length(comm) + length(compute) - length(work)) / length(comm)] * 2
    return truth


def kineto_sums(events):
    span = lambda event: (event["ts"], event["ts"] + event["dur"])
    kernels = [(event["name"], *span(event)) for event in events if event.get("cat") == "kernel"]
    others = [span(event) for event in events if event.get("cat") in ("gpu_memcpy", "gpu_memset")]
    steps = sorted(span(event) for event in events if event.get("cat") == "user_annotation" and event["name"].startswith(STEP))
    return sums(kernels, others, steps, 1000)


def nsys_sums(path):
    """Of the first device."""
    with closing(sqlite3.connect(path)) as file:
        tables = {name for name, in file.execute("SELECT name FROM sqlite_master")}
        device, = file.execute("SELECT min(deviceId) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
        kernels = file.execute("SELECT s.value, k.start, k.end FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName WHERE deviceId = ?",
                               (device,)).fetchall()
        others = [row for table in ("MEMCPY", "MEMSET") if f"CUPTI_ACTIVITY_KIND_{table}" in tables
                  for row in file.execute(f"SELECT start, end FROM CUPTI_ACTIVITY_KIND_{table} WHERE deviceId = ?", (device,))]
        steps = sorted(file.execute("SELECT start, end FROM NVTX_EVENTS WHERE text LIKE 'ProfilerStep#%' AND end IS NOT NULL")) if "NVTX_EVENTS" in tables else []
    return sums(kernels, others, steps, 1e6)


def xplane_sums(events):
    on_device = [event for event in events if event.get("ph") == "X" and event["pid"] == 1]
    copies = {"MemcpyH2D", "MemcpyD2H", "Memset"}
    spans = [(event["name"], event["ts"], event["ts"] + event["dur"]) for event in on_device]
    starts = sorted(begin for name, begin, _ in spans if name == ONCE_PER_STEP)
    steps = [(end - begin) / 1000 for begin, end in zip(starts, starts[1:])]
    return sums([span for span in spans if span[0] not in copies], [span[1:] for span in spans if span[0] in copies], [], 1000) | {"step_ms": sorted((mean(steps), median(steps)))}


def unpacked(name):
    path = next(path for path in FIXTURES.glob(f"{name}.*") if path.suffix in (".gz", ".zst"))
    tool = "gzip" if path.suffix == ".gz" else "zstd"
    return subprocess.run([tool, "-dc"], stdin=path.open("rb"), stdout=subprocess.PIPE, check=True).stdout


def real(folder):
    """Recordings of real programs."""
    for name, about, limit, alone_ms in KINETO:
        text = unpacked(f"kineto/{name}.json")
        (folder / f"{name}.json").write_bytes(text)
        truth = {"limit": list(limit), **kineto_sums(json.loads(text)["traceEvents"])} | ({"alone_ms": [alone_ms] * 2} if alone_ms else {})
        if name in RUN_AHEAD:
            truth.pop("step_ms")
        yield Recording(name, "kineto", about, folder / f"{name}.json", truth)
    for name, about in NSYS:
        (folder / f"{name}.sqlite").write_bytes(unpacked(f"nsys/{name}.sqlite"))
        yield Recording(name, "nsys", about, folder / f"{name}.sqlite", nsys_sums(folder / f"{name}.sqlite"))
    (folder / "mlp.xplane.pb").write_bytes(unpacked("jax/mlp.xplane.pb"))
    yield Recording("mlp", "xplane", "ten steps of a small MLP in JAX", folder / "mlp.xplane.pb", xplane_sums(json.loads(unpacked("jax/mlp.trace.json"))["traceEvents"]))


def jobs(folder):
    """Jobs of many ranks whose stragglers are known, and a real one without a GPU."""
    for (name, steps), about in JOBS:
        generate.main([name, str(folder / name), "--steps", str(steps)])
        faults = json.loads((folder / name / "truth.json").read_text())["faults"]
        (folder / name / "truth.json").unlink()
        said = [f"{' '.join(map(str, fault['unit']))}: {fault['cause']}, costs {fault['cost_ns'] / 1e6:.1f} ms per step" for fault in faults if fault["named"] == "must"]
        yield Recording(name, "ranks", about, folder / name, {"straggler": "; ".join(said) or "no straggler"})
    target = folder / "gloo_late"
    target.mkdir()
    for rank in range(4):
        (target / f"rank{rank}.json.gz").write_bytes(gzip.compress(unpacked(f"gloo/late/rank{rank}.json"), 1))
    yield Recording("gloo_late", "ranks", "4 real processes without a GPU: batches of rank 1 are 30 ms late", target, {"straggler": "rank 1: late data"})


def as_torch_profiler(text):
    """Adds what torch.profiler also writes: flows, ids of operators, steps on the device, and the rank."""
    document = json.loads(text)
    events = document["traceEvents"]
    inside = lambda outer, event: outer["ts"] <= event["ts"] < outer["ts"] + outer["dur"]
    ops = [event for event in events if event.get("cat") == "cpu_op"]
    steps = [event for event in events if event.get("cat") == "user_annotation" and event["name"].startswith(STEP)]
    for number, event in enumerate(ops):
        event["args"] |= {"External id": number + 1, "Ev Idx": number, "Record function id": 0}
    calls = {event["args"]["correlation"]: event for event in events if event.get("cat") == "cuda_runtime"}
    added, on_device = [], {}
    for event in [event for event in events if event.get("cat") in ("kernel", "gpu_memcpy")]:
        correlation = event["args"]["correlation"]
        call = calls.get(correlation)
        if call is None:
            continue
        owner = [each for each in ops if each["tid"] == call["tid"] and inside(each, call)]
        for each in (call, event):
            each["args"]["External id"] = owner[-1]["args"]["External id"] if owner else 0
        flow = {"id": correlation, "cat": "ac2g", "name": "ac2g"}
        added += [{"ph": "s", "pid": call["pid"], "tid": call["tid"], "ts": call["ts"], **flow},
                  {"ph": "f", "pid": event["pid"], "tid": event["tid"], "ts": event["ts"], **flow, "bp": "e"}]
        for step in steps:
            if inside(step, call):
                on_device.setdefault((step["name"], event["pid"], event["tid"]), []).append(event)
    for (name, device, stream), work in on_device.items():
        begin, end = min(event["ts"] for event in work), max(event["ts"] + event["dur"] for event in work)
        added.append({"ph": "X", "cat": "gpu_user_annotation", "name": name, "pid": device, "tid": stream, "ts": begin, "dur": round(end - begin, 3), "args": {}})
    return json.dumps(document | {"distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1}, "traceEvents": events + added})


def drawn(folder, seed, each):
    """Programs of every family that has steps and one clear limit, `each` of a family, as both kinds of file."""
    chance = random.Random(seed)
    for family in FAMILIES:
        found = 0
        for _ in range(20):  # some seeds draw a program without a clear limit
            number = chance.randrange(10**6)
            run, truth = truth_of(family, number)
            if found == each or run.case.step_name is None or not truth.shares:
                break
            if truth.shares[truth.best()] < 0.5 or "mixed" in truth.acceptable():
                continue
            found += 1
            limit = sorted(truth.acceptable())
            name = f"{family}-{number}"
            text = as_torch_profiler(trace_of(run.machine))
            (folder / f"{name}.json").write_text(text)
            known = {"limit": limit, **kineto_sums(json.loads(text)["traceEvents"])}
            known.pop("step_ms")  # a host that runs ahead of the device has short ranges
            yield Recording(name, "kineto", family, folder / f"{name}.json", known)
            write_nsys(folder / f"{name}.sqlite", run.machine)
            yield Recording(name, "nsys", family, folder / f"{name}.sqlite", known)
