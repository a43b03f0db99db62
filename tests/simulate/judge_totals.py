#!/usr/bin/env python3
"""Are the totals of `record --aggregate` those of a recording of the same job? judge_totals.py BINARY [--jobs N] [--seed S]

A job is drawn: threads that launch kernels, collectives, copies and fills on streams of one or two devices, and wait for them; records
come late and out of order. The fake CUPTI plays it twice, for a capture and for totals. Both must equal what is counted here from the
records themselves, in the slowest and plainest way; the capture also by the tables of `report`. Prints a line for each difference, and
how the causes of idle time compare: totals name the gap by its launch, `report` by what most of it was.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))

from played import PLAY, fake_environment, record_played  # noqa: E402
from program import Program  # noqa: E402
from recordings_of_cupti import kernels_in, lines, quick_script, script_of_records  # noqa: E402

BASE = 1_700_000_000_000_000_000  # in the past of any clock: what lies in the future is dropped
NAMES = ["_Z5saxpyifPKfPf", "_Z10gemm_naiveiPKfS0_Pf", "softmax", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_SendRecv"]
COPIES = {1: "HtoD", 2: "DtoH", 8: "DtoD"}
CALLS = {"KERNEL": "cudaLaunchKernel_v7000", "MEMCPY": "cudaMemcpyAsync_v3020", "MEMSET": "cudaMemset_v3020",
         "wait": "cudaDeviceSynchronize_v3020", "other": "cudaMalloc_v3020"}
# Causes of `report` that a gap may have whose work was launched before it began. The others are the host's.
AFTER_LAUNCH = {"launch", "host memcpy", "compilation/module load", "graph", "unrecorded work", "unknown", "profiler"}
SLACK_NS = 20  # between a wait and the work around it, so that no clock seems wrong


def drawn_job(seed):
    """The records of a job, in the order in which they are delivered."""
    r = random.Random(seed)
    known = lines(graphs=True)
    template = {kind: next(x for x in known if x["kind"] == kind) for kind in ("KERNEL", "MEMCPY", "MEMSET", "DEVICE")}
    call_of = {what: next(x for x in known if x.get("name") == name) for what, name in CALLS.items()}
    devices, now = r.choice((1, 1, 2)), {thread: BASE + r.randrange(5000) for thread in range(1, r.choice((2, 3, 4)))}
    free, records, work = defaultdict(int), [], []
    for number in range(1, r.choice((20, 200, 800))):
        thread = min(now, key=now.get)  # the next call of all threads
        kind = r.choices(("KERNEL", "MEMCPY", "MEMSET", "wait", "other"), (60, 12, 5, 8, 15))[0]
        start = now[thread]
        end = start + r.randint(50, 3000)
        if kind == "wait":
            end = max([end] + [op["end"] + SLACK_NS for op in work])
        records.append({**call_of[kind], "start": start, "end": end, "threadId": thread, "correlationId": number})
        now[thread] = end + r.choice((10, 300, 300, 5000, 40_000))
        if kind not in template:
            continue
        device, stream = r.randrange(devices), r.choice((7, 7, 13))
        begin = max(start + r.choice((SLACK_NS, 800, 9000)), free[device, stream] + 1)
        length = r.choice((0, 1, 700, 5000, 5000, 80_000))
        free[device, stream] = begin + length
        op = {**template[kind], "start": begin, "end": begin + length, "deviceId": device, "streamId": stream, "correlationId": number}
        if kind == "KERNEL":
            op |= {"name": r.choice(NAMES), "completed": op["end"]}
        elif kind == "MEMCPY":
            op |= {"copyKind": r.choice(list(COPIES)), "bytes": r.randrange(1 << 33)}
        else:
            op["bytes"] = r.randrange(1 << 20)
        if r.random() < 0.02:
            op["correlationId"] = 1_000_000 + number  # its launch was not recorded
        work.append(op)
    late = sorted(work, key=lambda op: op["end"] + r.choice((0, 0, 50_000, 400_000)))
    return records + late + [{**template["DEVICE"], "id": device} for device in range(devices)]


def union(spans):
    out = []
    for start, end in sorted(span for span in spans if span[1] > span[0]):
        if out and start <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([start, end])
    return out


def length(spans):
    return sum(end - start for start, end in spans)


def is_collective(op):
    return op["kind"] == "KERNEL" and "nccl" in op.get("name", "").lower()


def truth(records):
    """What must be counted of these records."""
    calls = {x["correlationId"]: x for x in records if x["kind"] == "RUNTIME"}
    waits = [x for x in records if x["kind"] == "RUNTIME" and "Synchronize" in x["name"]]
    kernels, copies, devices = defaultdict(lambda: [0, 0]), defaultdict(lambda: [0, 0, 0]), {}
    work = [x for x in records if x["kind"] in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")]
    for op in work:
        took, device = op["end"] - op["start"], op["deviceId"]
        if op["kind"] in ("KERNEL", "GRAPH_TRACE"):
            entry = kernels[op.get("name") or f"CUDA graph {op['graphId']}", device]
        else:
            entry = copies[COPIES[op["copyKind"]] if op["kind"] == "MEMCPY" else "memset", device]
            entry[2] += op["bytes"]
        entry[0] += 1
        entry[1] += took
    for device in {op["deviceId"] for op in work}:
        own = [op for op in work if op["deviceId"] == device and op["end"] > op["start"]]
        span = lambda ops: union((op["start"], op["end"]) for op in ops)  # noqa: E731
        busy, collective = span(own), span(filter(is_collective, own))
        compute = span(op for op in own if op["kind"] in ("KERNEL", "GRAPH_TRACE") and not is_collective(op))
        idle, gaps = dict.fromkeys(("host late", "host waited", "queued", "unknown"), 0), []
        for (_, begin), (end, _) in zip(busy, busy[1:]):
            ending = {cause_of(op, calls, waits, begin) for op in own if op["start"] == end}
            gaps.append((end - begin, frozenset(ending)))
            if len(ending) == 1:
                idle[ending.pop()] += end - begin
            else:
                idle["any"] = idle.get("any", 0) + end - begin  # two ops end the gap at once
        devices[device] = {"busy_ns": length(busy), "collective_ns": length(collective),
                           "exposed_collective_ns": length(union([*collective, *compute])) - length(compute), "idle_ns": idle, "gaps": gaps}
    return {name: tuple(value) for name, value in kernels.items()}, {kind: tuple(value) for kind, value in copies.items()}, devices


def cause_of(op, calls, waits, begin):
    call = calls.get(op["correlationId"])
    if call is None:
        return "unknown"
    if call["start"] <= begin:
        return "queued"
    waited = max((w["end"] for w in waits if w["threadId"] == call["threadId"] and w["end"] <= call["start"]), default=0)
    return "host waited" if waited > begin else "host late"


def bounded(name):
    """The name in a snapshot: at most 1024 bytes; what is cut off is a hash (FNV-1a)."""
    if len(name) <= 1024:
        return name
    number = 14695981039346656037
    for byte in name.encode():
        number = (number ^ byte) * 1099511628211 % (1 << 64)
    return f"{name[:1000]}... #{number:016x}"


def differences_of_causes(rows, gaps, threads, idle):
    """How gaps of the report differ from those of the truth. Adds their time to `idle`, by both causes."""
    rows = [row for row in sorted(rows, key=lambda row: row["start_ns"]) if row["before"] and row["after"]]
    if [row["dur_ns"] for row in rows] != [ns for ns, _ in gaps]:
        yield f"{len(rows)} gaps of the report, not {len(gaps)}, or of other lengths"
        return
    for row, (ns, causes) in zip(rows, gaps, strict=True):
        idle["/".join(sorted(causes)), row["cause"]] += ns
        if causes == {"queued"} and row["cause"] not in AFTER_LAUNCH:
            yield f"a gap of {ns} ns before work that was launched: {row['cause']} in the report"
        if causes == {"host late"} and row["cause"] == "synchronisation" and threads == 1:
            yield f"a gap of {ns} ns whose host waited, by the report; host late in totals"


def differences(program, records, folder, demangle=lambda name: name, idle_by_causes=None):
    """Play the records twice; return how totals and capture differ from the truth."""
    kernels, copies, devices = truth(records)
    script, found = script_of_records(records, folder), []

    def expect(what, got, wanted):
        if got != wanted:
            found.append(f"{what}: {got}, not {wanted}")

    done = record_played(program, script, folder / "totals", "--aggregate", "--graph", "graph", play="inline")
    assert done.status == 0, done.errors
    (file,) = (folder / "totals").glob("*.totals")
    (of,) = json.loads(file.read_text())["ranks"]
    expect("lost", of["lost"], {})
    got = {(each["name"], each["device"]): (each["count"], each["total_ns"]) for each in of["kernels"]}
    expect("kernels", got, {(bounded(demangle(name)), device): value for (name, device), value in kernels.items()})
    expect("histograms", [sum(count for _, count in each["durations"]) for each in of["kernels"]], [each["count"] for each in of["kernels"]])
    expect("copies", {(each["kind"], each["device"]): (each["count"], each["total_ns"], each["bytes"]) for each in of["copies"]}, copies)
    expect("late", [each["late"] for each in of["devices"]], [0] * len(devices))
    for each in of["devices"]:
        wanted = devices[each["device"]]
        for key in ("busy_ns", "collective_ns", "exposed_collective_ns"):
            expect(f"{key} of device {each['device']}", each[key], wanted[key])
        either = wanted["idle_ns"].pop("any", 0)
        expect("idle time", sum(each["idle_ns"].values()), sum(wanted["idle_ns"].values()) + either)
        for cause, ns in wanted["idle_ns"].items():
            if not ns <= each["idle_ns"][cause] <= ns + either:
                found.append(f"idle time, {cause}: {each['idle_ns'][cause]}, not {ns}")
    capture = folder / "capture.gpuprof"
    done = record_played(program, script, capture, "--quiet", "--sample", "0", "--graph", "graph", play="inline")
    assert done.status == 0, done.errors
    report = program.report(capture, "devices", "kernels", "memcpy", "memset", "gaps", "--gap-min-ns", "0")
    for row in report["devices"].rows:
        each = next(each for each in of["devices"] if each["device"] == row["device"])
        for column, key in (("busy_ns", "busy_ns"), ("comm_busy_ns", "collective_ns"), ("exposed_comm_ns", "exposed_collective_ns")):
            expect(f"{column} of the report", row[column], each[key])
    threads = len({x["threadId"] for x in records if x["kind"] == "RUNTIME"})
    for device, wanted in devices.items():
        own = [row for row in report["gaps"].rows if row["device"] == device]
        found += differences_of_causes(own, wanted["gaps"], threads, Counter() if idle_by_causes is None else idle_by_causes)
    by_name, by_kind = defaultdict(int), defaultdict(int)
    for each in of["kernels"]:
        by_name[each["name"]] += each["total_ns"]
    for row in report["kernels"].rows:
        expect(f"{row['name']} of the report", row["total_ns"], by_name[bounded(row["name"])])
    for each in of["copies"]:
        by_kind[each["kind"]] += each["bytes"]
    for row in report["memcpy"].rows:
        by_kind[row["kind"]] -= row["bytes"]
    by_kind["memset"] -= sum(row["bytes"] for row in report["memset"].rows)
    expect("bytes left by the report", {kind: left for kind, left in by_kind.items() if left}, {})
    return found


# Replays what was drawn: ["push", NAME], ["pop"] and ["play"], in turn on two threads.
ANNOTATED = PLAY + """
import itertools, json, nvtx, threading, gpu_profile
turns = itertools.count()
def run(acts):
    open_ranges = []
    for act, *name in acts:
        if act == "push":
            open_ranges.append(nvtx.annotate(name[0], domain=name[1]))
            open_ranges[-1].__enter__()
        elif act == "pop":
            open_ranges.pop().__exit__(None, None, None)
        elif act == "step":
            with nvtx.annotate("step"): pass
        else:
            play(next(turns))
for acts in json.loads(open(sys.argv[2]).read()):
    thread = threading.Thread(target=run, args=(acts,))
    thread.start()
    thread.join()
"""
MOST_PHASES = 16


def drawn_ranges(r):
    """Acts of a thread: nested ranges of few or many names, with numbers at their ends, and work in some of them."""
    names = [f"phase{chr(97 + i)}" for i in range(r.choice((2, 6, 30)))]
    acts, depth = [], 0
    for _ in range(r.choice((5, 60))):
        act = r.choices(("push", "pop", "play", "step"), (4, 3 if depth else 0, 3, 1))[0]
        depth += {"push": 1, "pop": -1}.get(act, 0)
        acts.append([act, r.choice(names) + r.choice(("", " 1", "#22", " 3")), r.choice((None, "mine"))] if act == "push" else [act])
    return acts + [["play"]] + [["pop"]] * depth


def phases_of(threads):
    """In which phase each play is, and how many are below each path of ranges, by the text of the guide."""
    known, counts, paths = [], Counter(), Counter()
    for acts in threads:
        open_ranges = []
        for act, *name in acts:
            if act == "push":
                open_ranges.append(name[0])
            elif act == "pop":
                open_ranges.pop()
            elif act == "play":
                paths["/".join(open_ranges)] += 1
                inner = [name.rstrip("0123456789 #") for name in reversed(open_ranges)]
                if inner and inner[0] not in known and len(known) < MOST_PHASES:
                    known.append(inner[0])
                counts[next((name for name in inner if name in known), "(other)" if inner else "(none)")] += 1
    return counts, paths


def differences_of_phases(program, script, once, folder, seed):
    """Run a program with drawn ranges for totals and for a recording; return how phases differ from the plan, and the plan from `report`."""
    r, found = random.Random(seed), []
    threads = [drawn_ranges(r), drawn_ranges(r)]
    (folder / "acts").write_text(json.dumps(threads))
    counts, paths = phases_of(threads)
    command = [sys.executable, "-c", ANNOTATED, script, folder / "acts"]
    environment = fake_environment(program, PYTHONPATH=os.pathsep.join(filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH")])))
    for options in (["--aggregate", "-o", folder / "totals"], ["--quiet", "--sample", "0", "-o", folder / "ranges.gpuprof"]):
        done = subprocess.run(list(map(str, [program.path, "record", *options, "--", *command])), env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    (file,) = (folder / "totals").glob("*.totals")
    (of,) = json.loads(file.read_text())["ranks"]
    got, time_of_phases, kernels = Counter(), 0, 0
    for each in of["kernels"]:
        kernels += each["total_ns"]
        for phase, count, ns in each["phases"]:
            got[of["phases"][phase]] += count
            time_of_phases += ns
    if got != Counter({phase: count * once for phase, count in counts.items()}):
        found.append(f"kernels by phase: {dict(got)}, not {dict(counts)} times {once}")
    if time_of_phases != kernels:
        found.append(f"{time_of_phases} ns in phases, {kernels} ns in kernels")
    if of["steps"]["count"] != (steps := sum(acts.count(["step"]) for acts in threads)):
        found.append(f"{of['steps']['count']} steps, not {steps}")
    by_path = {row["path"]: row["kernels"] for row in program.report(folder / "ranges.gpuprof", "ranges")["ranges"].rows}
    for path, kernels in by_path.items():
        own = kernels - sum(below for other, below in by_path.items() if other.startswith(path + "/") and "/" not in other[len(path) + 1:])
        if own != paths[path] * once:
            found.append(f"{own} kernels in {path} by the report, not {paths[path]} times {once}")
    return found


def moved(records):
    """Records with their times in the past of any clock."""
    first = min(x["start"] for x in records if x.get("start"))
    return [{**x, **{key: BASE + x[key] - first for key in ("start", "end", "completed") if x.get(key)}} for x in records]


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("binary")
    asked.add_argument("--jobs", type=int, default=100)
    asked.add_argument("--seed", default="1", help="ANY draws another one each time")
    arguments = asked.parse_args()
    seed = random.SystemRandom().randrange(1 << 30) if arguments.seed == "ANY" else int(arguments.seed)
    program, wrong, idle = Program(arguments.binary), 0, Counter()
    for number in range(arguments.jobs):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "phases").mkdir()
            script = quick_script(Path(folder) / "phases")
            for line in [*differences(program, drawn_job(seed + number), Path(folder), demangled, idle),
                         *differences_of_phases(program, script, len(kernels_in(lines())), Path(folder) / "phases", seed + number)]:
                wrong += 1
                print(f"seed {seed + number}: {line}")
    for (coarse, fine), ns in idle.most_common():
        print(f"{100 * ns / idle.total():6.2f} % of idle time: {coarse}; {fine} by the report")
    print(f"{arguments.jobs} jobs from seed {seed}: {wrong} differences")
    return 1 if wrong else 0


def demangled(name):
    return {"_Z5saxpyifPKfPf": "saxpy(int, float, float const*, float*)",
            "_Z10gemm_naiveiPKfS0_Pf": "gemm_naive(int, float const*, float const*, float*)"}.get(name, name)


if __name__ == "__main__":
    sys.exit(main())
