"""Part 2: the cost of recording and sampling, interleaved with torch.profiler and nsys (harness/turns.py)."""

import json

from harness import turns
from harness.check import Checks
from harness.recording import last_json, storm, workload

CHECKS = Checks("part2")
ROUNDS = 9  # from here on the interval is narrower than the whole range; --again adds rounds where there was no time

PARSED_STEPS = 10  # with torch.profiler, which parses four events per kernel after them; the figure is per step


def rounds(case):
    return 2 if case.machine.small else ROUNDS


def recorded(case, *options):
    """A command, recorded; its capture is thrown away."""
    return [case.machine.program, "record", "--quiet", "--force", "--sample", "0", "-o", case.folder / "thrown-away.gpuprof", *options, "--"]


def with_cupti(case):
    return {"GPUPROF_CUPTI": case.machine.cupti()} if case.machine.cupti() else {}


def last_number(done):
    """What steps.py prints; None when it did not."""
    for line in reversed(done.out.splitlines()):
        try:
            return float(line)
        except ValueError:
            continue
    return None


def way(case, prefix, command, figure=last_number, env=None):
    def run():
        done = case.run([*prefix, *command], env=env)
        (case.folder / "thrown-away.gpuprof").unlink(missing_ok=True)
        return figure(done) if done.ok else None

    return run


def nsys(case):
    if case.machine.missing(["nsys"]):
        case.measured("nsys is not installed")
        return {}
    return {"nsys": ["nsys", "profile", "--force-overwrite", "true", "-t", "cuda,nvtx", "-o", case.folder / "nsys"]}


def steps(case, name, count, bounds):
    command = workload(case, "steps.py", name, case.scaled(count))
    ways = {"nothing": way(case, [], command), "record": way(case, recorded(case), command), "api_all": way(case, recorded(case, "--api", "all"), command)}
    fewer = workload(case, "steps.py", name, min(case.scaled(count), PARSED_STEPS))
    ways["torch_profiler"] = way(case, [], [*fewer, "--profile", case.folder / "totals.json"])
    ways |= {other: way(case, prefix, command) for other, prefix in nsys(case).items()}
    turns.compare(case, name, "ms", turns.take(case, name, ways, rounds(case)), bounds)


@CHECKS.add("launch-bound step (1,200 tiny kernels): `record` at most x1.10", limit_s=120, needs=("gpu", "torch"))
def cost_launch_bound(case):
    steps(case, "launches", 100, {"record": 1.10})


@CHECKS.add("training step: `record` at most x1.03", limit_s=110, needs=("gpu", "torch"))
def cost_training_step(case):
    steps(case, "transformer", 40, {"record": 1.03})


def us_per(field):
    return lambda done: last_json(done).get(field)


@CHECKS.add("empty launches of a CUDA program, us each: with nothing, `record`, `--api all`", limit_s=40, needs=("gpu", "programs", "cupti"))
def cost_empty_launches(case):
    command, environment = storm(case, "launches", case.scaled(200000)), with_cupti(case)
    ways = {"nothing": [], "record": recorded(case), "api_all": recorded(case, "--api", "all")} | nsys(case)
    ways = {name: way(case, prefix, command, us_per("us_per_launch"), environment) for name, prefix in ways.items()}
    figures = turns.take(case, "empty", ways, rounds(case))
    turns.compare(case, "empty", "us", figures, {})
    for name, values in figures.items():
        if values:
            case.measured(f"{name}: {sorted(values)[len(values) // 2]:.2f} us a launch")


def beside_nothing(case, name, prefix, bound):
    """A launch-bound step and, if they can be had, empty launches: with a recorder that keeps no recording, and without."""
    programs = {name: (workload(case, "steps.py", "launches", case.scaled(100)), "ms", last_number, {name: bound})}
    if not case.machine.missing(["programs", "cupti"]):
        programs[f"{name}_empty"] = (storm(case, "launches", case.scaled(200000)), "us", us_per("us_per_launch"), {})
    for program, (command, unit, figure, bounds) in programs.items():
        ways = {way_of: way(case, before, command, figure, with_cupti(case)) for way_of, before in (("nothing", []), (name, prefix))}
        turns.compare(case, program, unit, turns.take(case, program, ways, rounds(case)), bounds)


@CHECKS.add("`record --standby` while nothing is recorded: a launch-bound step at most x1.02; empty launches, us each", limit_s=60, needs=("gpu", "torch"))
def cost_of_standby(case):
    standby = [case.machine.program, "record", "--quiet", "--standby", "--sample", "0", "-o", case.folder / "standby", "--"]
    beside_nothing(case, "standby", standby, 1.02)
    case.expect(not list((case.folder / "standby").glob("t*")), "something was recorded without a trigger")


@CHECKS.add("`record --aggregate`: a launch-bound step at most x1.10; empty launches, us each; the recorder's CPU time for each kernel", limit_s=60, needs=("gpu", "torch"))
def cost_of_totals(case):
    totals = case.folder / "totals"
    try:
        beside_nothing(case, "aggregate", [case.machine.program, "record", "--quiet", "--aggregate", "-o", totals, "--"], 1.10)
    finally:  # the totals are right however many rounds were made
        for file in totals.glob("*.totals"):
            said = json.loads(file.read_text())
            kernels = sum(each["count"] for of in said["ranks"] for each in of["kernels"])
            lost = {reason: count for of in said["ranks"] for reason, count in of["lost"].items()}
            if case.expect(kernels > 0 and "parts" not in lost, f"{kernels} kernels, lost: {lost}"):
                case.measured(f"{kernels:,} kernels, {said['recorder_cpu_ns'] / kernels:.0f} ns of the recorder's CPU time each, lost: {lost}")


@CHECKS.add("opening a capture window (4,094 names of calls): the first below 100 ms, later ones below 5 ms", limit_s=20, needs=("gpu", "programs", "cupti"))
def cost_of_windows(case):
    done = case.run([*recorded(case, "--capture-range", "cudaProfilerApi"), *storm(case, "windows", case.scaled(100))], env=with_cupti(case))
    said = last_json(done)
    if case.expect(done.ok and said, done.why()):
        case.measured(f"opening: first {said['first_open_us']:.0f} us, median {said['open_us']:.0f} us, longest {said['longest_open_us']:.0f} us; closing {said['close_us']:.0f} us", **said)
        case.expect(said["first_open_us"] < 100_000, f"the first opening took {said['first_open_us'] / 1e3:.1f} ms", of_times=True)
        case.expect(said["open_us"] < 5_000, f"an opening took {said['open_us'] / 1e3:.1f} ms (median)", of_times=True)


@CHECKS.add("graph launches: by node and by launch beside nothing", limit_s=30, needs=("gpu", "programs", "cupti"))
def cost_of_graphs(case):
    command, environment = storm(case, "graphs", case.scaled(20000)), with_cupti(case)
    ways = {"nothing": [], "node": recorded(case), "graph": recorded(case, "--graph", "graph")}
    ways = {name: way(case, prefix, command, us_per("us_per_graph"), environment) for name, prefix in ways.items()}
    turns.compare(case, "graphs", "us", turns.take(case, "graphs", ways, rounds(case)), {})


@CHECKS.add("counters over time at 1 kHz and 10 kHz: a launch-bound step at most x1.02", limit_s=70, needs=("gpu", "torch"))
def cost_of_counters(case):
    command = workload(case, "steps.py", "launches", case.scaled(100))
    without = recorded(case)
    ways = {"nothing": way(case, without, command)}
    for rate in (1000, 10000):
        prefix = [each if each != "0" else f"0,pm@{rate}" for each in without]
        ways[f"pm_{rate}"] = way(case, prefix, command)
    turns.compare(case, "counters", "ms", turns.take(case, "counters", ways, rounds(case)), {"pm_1000": 1.02, "pm_10000": 1.02})


@CHECKS.add("sampling every 0.1 s: a training step at most x1.01", limit_s=60, needs=("gpu", "torch"))
def cost_of_sampling(case):
    command = workload(case, "steps.py", "transformer", case.scaled(40))
    profile = [case.machine.program, "profile", "--interval", "0.1", "--"]
    ways = {"nothing": way(case, [], command), "profile": way(case, profile, command)}
    turns.compare(case, "sampling", "ms", turns.take(case, "sampling", ways, rounds(case)), {"profile": 1.01})
