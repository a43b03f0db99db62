"""Part 1, first: ten experiments of about one minute each, which decide what reading CUPTI's headers and manuals cannot.

Each says "yes" or "no" with its figures in one line. A "no" fails the check only where it means that the recorder is at fault.
"""

import json

from harness.check import Checks
from harness.recording import last_json, record, storm, workload

CHECKS = Checks("part1")
WITH_PROGRAM = ("gpu", "programs", "cupti")
CONCURRENT = 0.9  # of the overlap without samples: a change of clocks explains a tenth
QUICK_OPENING_US = 50_000  # a wait for another thread inside a callback would take 100,000


def selected(case, capture, query):
    """The rows of a query of a capture; a query that fails is a failure of the check."""
    done = case.run([case.machine.program, "query", capture.path, query, "--format", "json"])
    return json.loads(done.out)["tables"][0]["rows"] if case.expect(done.ok, done.why()) else []


def all_losses(capture):
    return {row["kind"]: row["count"] for row in capture.rows("losses")} or "nothing"


@CHECKS.add("stalls with tracing: `record --stalls` has every kernel and samples, and two streams still run at once", needs=WITH_PROGRAM)
def stalls_with_tracing(case):
    count = case.scaled(300)
    plain, sampled = (record(case, storm(case, "overlap", count), *options, name=name) for name, options in (("plain", ()), ("stalls", ("--stalls",))))
    alone, beside = (last_json(capture.done).get("overlap", 0.0) for capture in (plain, sampled))
    samples = sum(row[0] or 0 for row in selected(case, sampled, "select sum(value) from instruction_counter where metric like 'samples.%' and metric not like '%_not_issued'"))
    kernels, launched = sampled.kernels(), last_json(sampled.done).get("kernels", -1)
    case.answer(kernels == launched and samples > 0 and beside >= CONCURRENT * alone,
                f"{kernels:,} of {launched:,} kernels, {samples:,.0f} samples; two streams overlap x{beside:.2f}, x{alone:.2f} without samples; lost: {all_losses(sampled)}",
                kernels=kernels, samples=samples, overlap=beside, overlap_without=alone)


@CHECKS.add("V2 with PC sampling: a process that subscribed by the second interface may sample", needs=("gpu", "cupti"))
def v2_with_pc_sampling(case):
    said = {}
    for interface in ("v1", "v2"):
        done = case.run([*workload(case, "cupti_sampling.py", interface), case.machine.cupti()])
        said[interface] = last_json(done)
        case.expect(said[interface], f"{interface}: {done.why()}")
    if all(said.values()):
        codes = "; ".join(f"{name}: " + ", ".join(f"{call} {code}" for call, code in calls.items()) for name, calls in said.items())
        case.answer(not any(code for call, code in said["v2"].items() if call != "version"), f"codes {codes}", **said)


@CHECKS.add("lock in callbacks: a window opens far below 5,000 us in a callback, not after a wait of about 100,000 us", needs=WITH_PROGRAM)
def lock_in_callbacks(case):
    capture = record(case, storm(case, "windows", case.scaled(50)), "--capture-range", "cudaProfilerApi")
    said = last_json(capture.done)
    if case.expect(said, capture.done.why()):
        case.answer(said["open_us"] < QUICK_OPENING_US,
                    f"open_us {said['open_us']:,.0f} (median), first {said['first_open_us']:,.0f}, longest {said['longest_open_us']:,.0f}", must=True, of_times=True, **said)


@CHECKS.add("first opening: steps 2 and 3 of a program with all modules loaded have all kernels, no window is late", limit_s=90, needs=("gpu", "torch"))
def first_opening(case):
    capture = record(case, workload(case, "steps.py", "launches", 4), "--steps", "2:3")
    steps, a_step = 2, 12 if case.machine.small else 1200
    kernels, losses = capture.kernels(), all_losses(capture)
    case.answer(kernels == steps * a_step and losses == "nothing", f"{kernels / steps:,.0f} of {a_step:,} kernels a step; late windows and other losses: {losses}",
                must=True, kernels=kernels, losses=losses)


@CHECKS.add("DEVICE after --delay: a recording that begins later counts the GPU's multiprocessors", needs=WITH_PROGRAM)
def device_after_delay(case):
    capture = record(case, storm(case, "busy", case.seconds(3, small=1)), "--delay", str(case.seconds(1, small=0.2)))
    rows = selected(case, capture, "select name, sms from device")
    kernels = capture.kernels()
    case.answer(kernels > 0 and rows and all(row[1] for row in rows), f"{kernels:,} kernels; devices and multiprocessors: {rows}", must=True, devices=rows)


@CHECKS.add("exit order: a program that annotates before CUDA starts and just returns loses nothing and ends well", needs=WITH_PROGRAM)
def exit_order(case):
    count, found = case.scaled(300), []
    for number in range(3):
        capture = record(case, storm(case, "annotated", count), name=f"run{number}", keep=number == 0)
        found.append(capture.kernels())
    case.answer(found == [count] * 3, f"{found} of {count} kernels in three runs; exit status {capture.done.status}; lost: {all_losses(capture)}", must=True, kernels=found)


@CHECKS.add("range profiler in a launch callback: three launches are measured, and a reset image does not add them up", needs=WITH_PROGRAM)
def range_profiler(case):
    capture = record(case, storm(case, "launches", case.scaled(1000)), "--counters", "triage")
    launches = selected(case, capture, "select name, count(*) from profiled_kernel group by name")
    spread = selected(case, capture, "select metric, min(value), max(value), count(*) from kernel_counter where metric like '%.sum' or metric like '%inst_executed%' group by metric")
    grown = [row for row in spread if row[1] and row[2] > 1.5 * row[1]]  # of the same kernel; a sum of launches would be 1, 2, 3
    case.answer(launches and not grown, f"measured {launches}; counters least and most: {spread[:4]}; not the same in all launches: {[row[0] for row in grown] or 'none'}; "
                f"lost: {all_losses(capture)}", launches=launches, counters=spread)


@CHECKS.add("SASS patch of lazily loaded kernels: instructions are counted of a kernel that was not loaded before its launch", needs=WITH_PROGRAM)
def sass_of_lazy_kernels(case):
    found = {}
    for loading in ("LAZY", "EAGER"):
        capture = record(case, storm(case, "launches", case.scaled(1000)), "--counters", "source", name=loading.lower(), env={"CUDA_MODULE_LOADING": loading})
        query = "select function, count(distinct offset), sum(value) from instruction_counter where metric like 'smsp__sass_inst_executed' group by function"
        found[loading] = selected(case, capture, query)
    case.answer(found["LAZY"] and sorted(found["LAZY"]) == sorted(found["EAGER"]), f"functions, instructions and executions with lazy loading: {found['LAZY']}, with eager: {found['EAGER']}; "
                f"lost: {all_losses(capture)}", **found)


@CHECKS.add("driver records: each runtime launch is accompanied by one of the driver when functions are chosen by name", needs=WITH_PROGRAM)
def driver_records(case):
    capture = record(case, storm(case, "launches", case.scaled(1000)))
    calls = {row["name"]: row["count"] for row in capture.rows("api") if "Launch" in row["name"]}
    runtime, driver = (sum(count for name, count in calls.items() if name.startswith(prefix)) for prefix in ("cuda", "cuL"))
    driver += sum(count for name, count in calls.items() if name.startswith("cuG"))
    case.answer(driver >= runtime > 0, f"{runtime:,} launches by the runtime, {driver:,} by the driver: {calls}", calls=calls)


@CHECKS.add("Kineto over V2: torch.profiler has as many kernels beside ours as alone, and nothing of ours is lost", limit_s=120, needs=("gpu", "torch"))
def subscribers_torch(case):
    steps, alone, beside = case.scaled(5), case.folder / "alone.json", case.folder / "beside.json"
    done = case.run(workload(case, "steps.py", "launches", steps, "--profile", alone))
    case.expect(done.ok, done.why())
    capture = record(case, workload(case, "steps.py", "launches", steps, "--profile", beside))
    said = dict(selected(case, capture, "select key, value from meta"))
    if case.expect(alone.exists() and beside.exists(), "torch.profiler wrote no totals"):
        counts = [{kind: value[0] for kind, value in json.loads(path.read_text()).items() if kind != "names"} for path in (alone, beside)]
        case.answer(counts[0] == counts[1] and not capture.lost(), f"torch.profiler alone {counts[0]}, beside ours {counts[1]}; ours {capture.kernels():,} kernels, CUPTI "
                    f"{said.get('cupti_version')}, interface {said.get('cupti_interface')}; lost: {all_losses(capture)}", must=True, alone=counts[0], beside=counts[1])
