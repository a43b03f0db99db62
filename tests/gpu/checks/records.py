"""Part 1: the content of recordings, compared with the program's own counts and with torch.profiler in the same run."""

import json

from harness.check import Checks
from harness.recording import last_json, record, storm, workload

CHECKS = Checks("part1")


@CHECKS.add("driver, GPUs, libcuda, NVML and CUPTI are ok", limit_s=60)
def doctor(case):
    done = case.run([case.machine.program, "doctor", "--format", "json"])
    if not case.expect(done.ok, done.why()):
        return
    (case.folder / "doctor.json").write_text(done.out)
    case.evidence(case.folder / "doctor.json")
    case.run(["nvidia-smi", "-q"])  # into the log
    rows = {row[0]: row[1:] for row in json.loads(done.out)["tables"][0]["rows"]}
    case.measured("; ".join(f"{name} {health[0]}" for name, health in rows.items()))
    for name in ("NVIDIA kernel driver", "GPUs", "CUDA driver library", "NVML", "CUPTI"):
        health = rows.get(name, ["absent", "", None])
        case.expect(health[0] == "ok", f"{name} is {health[0]}: {health[1]}")


def compare_counts(case, capture, expected):
    """Kernels and copies next to what the program said; a loss is shown and fails too."""
    totals, lost = capture.totals(), capture.lost()
    found = {"kernels": totals["kernel"][0], "copies": totals["memcpy"][0]}
    said = ", ".join(f"{found[kind]:,} of {expected[kind]:,} {kind}" for kind in found if kind in expected)
    case.measured(said + (f"; lost: {lost}" if lost else "; nothing lost"), found=found, lost=lost)
    for kind, count in found.items():
        case.expect(kind not in expected or count == expected[kind], f"{kind}: {count:,} recorded, {expected.get(kind)} made")
    case.expect(not lost, f"losses of a program that ended well: {lost}")


@CHECKS.add("50,000 kernels, 500 copies and 50 graphs of a CUDA program: each recorded once", needs=("gpu", "programs", "cupti"))
def record_cuda_program(case):
    capture = record(case, storm(case, "launches", case.scaled(50000)))
    compare_counts(case, capture, last_json(capture.done))
    summary = capture.report()
    (case.folder / "answer.json").write_text(json.dumps(summary, indent=1))
    case.evidence(case.folder / "answer.json")


def beside_torch_profiler(case, name, steps):
    """torch.profiler alone, then with us: the same counts; ours in its window: the same counts, the kernels' time within 1 %."""
    alone, shared = case.folder / "alone.json", case.folder / "shared.json"
    done = case.run(workload(case, "steps.py", name, case.scaled(steps), "--profile", alone))
    if not case.expect(done.ok, f"without us: {done.why()}"):
        return
    capture = record(case, workload(case, "steps.py", name, case.scaled(steps), "--profile", shared, "--window"), "--capture-range", "start-stop")
    if not shared.exists():
        return
    case.evidence(alone), case.evidence(shared)
    before, beside = (json.loads(file.read_text()) for file in (alone, shared))
    names, ours, lost = beside.pop("names"), capture.totals(), capture.lost()
    before.pop("names")
    for kind, (count, _) in before.items():
        case.expect(beside.get(kind, [0])[0] == count, f"torch.profiler's {kind}: {count:,} alone, {beside.get(kind, [0])[0]:,} beside us")
    for kind, (count, _) in beside.items():
        case.expect(ours[kind][0] == count, f"{kind}: {ours[kind][0]:,} recorded, {count:,} by torch.profiler")
    case.expect(not lost, f"losses: {lost}")
    theirs = beside.get("kernel", [0, 0])
    apart = ours["kernel"][1] / theirs[1] - 1 if theirs[1] else 0.0
    case.measured(f"kernels {ours['kernel'][0]:,} and {theirs[0]:,}, of {len(names)} names; kernel time {100 * apart:+.3f} %",
                  ours=ours, torch_profiler=beside, alone=before, kernel_time_apart=apart)
    case.expect(abs(apart) <= 0.01, f"kernel time is {100 * apart:+.2f} % away from torch.profiler's, more than 1 %")


@CHECKS.add("the same counts as torch.profiler in the same run, and its own trace as without us (launch-bound)", limit_s=90, needs=("gpu", "torch"))
def beside_torch_profiler_launches(case):
    beside_torch_profiler(case, "launches", 20)


@CHECKS.add("the same, of a training step", limit_s=90, needs=("gpu", "torch"))
def beside_torch_profiler_transformer(case):
    beside_torch_profiler(case, "transformer", 10)


@CHECKS.add("--capture-range nvtx:NAME holds the kernels of that range: the same as torch.profiler has", limit_s=60, needs=("gpu", "torch"))
def window_by_nvtx(case):
    totals = case.folder / "totals.json"
    capture = record(case, workload(case, "steps.py", "launches", case.scaled(20), "--profile", totals), "--capture-range", "nvtx:profiled")
    theirs = json.loads(totals.read_text()).get("kernel", [0, 0])[0] if totals.exists() else 0
    case.measured(f"{capture.kernels():,} kernels recorded, {theirs:,} by torch.profiler; lost: {capture.lost() or 'nothing'}")
    case.expect(capture.kernels() == theirs > 0, f"{capture.kernels():,} kernels recorded, {theirs:,} by torch.profiler")


@CHECKS.add("--keep-slow keeps the slowest of 300 steps, the one before it, and every kernel of both; --trigger too", limit_s=90, needs=("gpu", "torch"))
def slow_steps(case):
    steps = 60 if case.machine.small else 300
    slow = 2 * steps // 3
    for name, options in {"keep": ("--keep-slow", "1"), "trigger": ("--trigger", "step>3x", "--keep-slow", "1")}.items():
        capture = record(case, workload(case, "slow_steps.py", steps, slow), *options, name=name)
        said, lost = last_json(capture.done), capture.lost()
        sentence = next((line for line in capture.done.err.splitlines() if "kept 1 of" in line or "kept the 1 slowest" in line), "nothing about steps")
        kernels, wanted = capture.kernels(), said.get("slow", 0) + said.get("other", 0)
        case.measured(f"{sentence}: {kernels:,} kernels, {wanted:,} products; lost: {lost or 'nothing'}")
        if not case.expect(f"of {steps} steps" in sentence and f"step {slow} (" in sentence, f"step {slow} of {steps} is the slowest: {sentence}", of_times=True):
            continue
        case.expect(kernels >= wanted > 0 and kernels % wanted == 0, f"{kernels:,} kernels for {wanted:,} products")
        case.expect(not lost, f"losses: {lost}")


@CHECKS.add("each kernel of 500 launches of a graph of ten is recorded", needs=("gpu", "programs", "cupti"))
def graphs_by_node(case):
    capture = record(case, storm(case, "graphs", case.scaled(500)))
    compare_counts(case, capture, {"kernels": last_json(capture.done).get("kernels", -1)})


@CHECKS.add("--graph graph: as many calls as graphs were launched, no kernel per node, no loss", needs=("gpu", "programs", "cupti"))
def graphs_by_launch(case):
    capture = record(case, storm(case, "graphs", case.scaled(500)), "--graph", "graph")
    launched, lost = last_json(capture.done).get("graphs", 0), capture.lost()
    calls = sum(row["count"] for row in capture.rows("api") if "GraphLaunch" in row["name"])
    kernels = capture.kernels()
    case.measured(f"{launched:,} graphs launched, {calls:,} calls recorded, {kernels:,} rows of device work; lost: {lost or 'nothing'}", calls=calls, kernels=kernels)
    case.expect(calls == launched, f"{launched} graphs were launched, {calls} calls recorded")
    case.expect(kernels <= launched, f"{kernels} kernels for {launched} graphs: nodes were recorded")
    case.expect(not lost, f"losses: {lost}")


@CHECKS.add("50 capture windows that wait at both ends hold exactly what was launched inside", needs=("gpu", "programs", "cupti"))
def windows(case):
    capture = record(case, storm(case, "windows", case.scaled(50)), "--capture-range", "cudaProfilerApi")
    said = last_json(capture.done)
    compare_counts(case, capture, {"kernels": said.get("inside", -1)})
    case.measured(f"opening: first {said.get('first_open_us')} us, median {said.get('open_us')} us", **said)


@CHECKS.add("100 windows opened and closed while kernels are in flight: no hang, no crash, nothing counted twice", limit_s=90, needs=("gpu", "programs", "cupti"))
def windows_under_load(case):
    capture = record(case, storm(case, "loaded", case.scaled(100)), "--capture-range", "cudaProfilerApi")
    said, kernels, lost = last_json(capture.done), capture.totals()["kernel"][0], capture.lost()
    case.measured(f"{kernels:,} kernels recorded, {said.get('inside', 0):,} launched inside by the thread with the windows, {said.get('kernels', 0):,} in all; lost: {lost}",
                  recorded=kernels, lost=lost, **said)
    case.expect(0 < kernels <= said.get("kernels", 0), f"{kernels} kernels recorded of {said.get('kernels')}")


@CHECKS.add("--api all holds at least the calls of --api selected, and the same kernels", needs=("gpu", "programs", "cupti"))
def api_all(case):
    counts = {}
    for which in ("selected", "all"):
        capture = record(case, storm(case, "launches", case.scaled(5000)), "--api", which, name=which, keep=which == "all")
        counts[which] = (sum(row["count"] for row in capture.rows("api")), capture.totals()["kernel"][0])
    case.measured(f"calls and kernels: {counts}", **counts)
    case.expect(counts["all"][0] >= counts["selected"][0] > 0, f"calls: {counts}")
    case.expect(counts["all"][1] == counts["selected"][1], f"kernels differ: {counts}")


@CHECKS.add("waits between two streams: each with both streams, as the program made them; their cost", limit_s=90, needs=("gpu", "torch"))
def waits_between_streams(case):
    command = workload(case, "order_streams.py", case.scaled(500))
    alone, capture = case.run(command), record(case, command)
    said, lost = last_json(capture.done), capture.lost()
    query = "select stream, wait_on_stream, count(*) from sync where kind = 'Stream Wait Event' group by stream, wait_on_stream"
    done = case.run([case.machine.program, "query", capture.path, query, "--format", "json"])
    if not case.expect(done.ok, done.why()):
        return
    rows = json.loads(done.out)["tables"][0]["rows"]
    before, beside = last_json(alone).get("ns", 0.0), said.get("ns", 0.0)
    case.measured(f"waits by stream and stream waited for: {rows}; Event.record and wait_event together: {before:.0f} ns alone, {beside:.0f} ns recorded; "
                  f"lost: {lost or 'nothing'}; {capture.trust()[:200]}", waits=rows, ns_alone=before, ns_recorded=beside)
    counts = sorted(count for stream, other, count in rows if stream is not None and other is not None and stream != other)
    case.expect(counts == sorted([said.get("side", 0), said.get("main", 0) + said.get("timed", 0)]), f"waits: {rows}, of {said}")
    case.expect(not lost, f"losses: {lost}")


@CHECKS.add("--memory records allocations and their releases", needs=("gpu", "programs", "cupti"))
def memory(case):
    capture = record(case, storm(case, "launches", case.scaled(1000)), "--memory")
    rows = capture.rows("memory")
    case.measured(f"{len(rows)} rows about memory", rows=len(rows))
    case.expect(rows, "no allocation was recorded; the program makes one of 4 KiB")


@CHECKS.add("what the collector wrote, raw: a fixture of real CUPTI records", needs=("gpu", "programs", "cupti"))
def raw_recording(case):
    library = case.machine.program.parent / "libgpuprof_inject.so"
    parts = case.folder / "parts"
    parts.mkdir(exist_ok=True)
    environment = {"CUDA_INJECTION64_PATH": library, "NVTX_INJECTION64_PATH": library, "GPUPROF_RECORD_DIR": parts, "GPUPROF_RECORD": ""}
    if case.machine.cupti():
        environment["GPUPROF_CUPTI"] = case.machine.cupti()
    done = case.run(storm(case, "launches", case.scaled(3000)), env={name: str(value) for name, value in environment.items()})
    case.expect(done.ok, done.why())
    files = [case.evidence(path) for path in sorted(parts.glob("*.gpuprof"))]
    case.measured(f"{len(files)} files of {sum(path.stat().st_size for path in files):,} bytes")
    case.expect(files, "the library inside the program wrote nothing")
