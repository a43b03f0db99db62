"""Part 1: frameworks, and other profilers in the same process."""

from harness.check import Checks
from harness.recording import last_json, record, workload

CHECKS = Checks("part1")


@CHECKS.add("JAX: at least the 200 products that the program launched, nothing lost", limit_s=90, needs=("gpu", "jax"))
def jax(case):
    capture = record(case, workload(case, "multiply_jax.py"))
    kernels, lost = capture.kernels(), capture.lost()
    case.measured(f"{kernels:,} kernels; lost: {lost or 'nothing'}", kernels=kernels)
    case.expect(kernels >= 200, f"{kernels} kernels for 200 launches")
    case.expect(not lost, f"losses: {lost}")


def with_other_profiler(case, command, least):
    """Ours is whole, or says what it lost to the other; the program itself is unharmed."""
    capture = record(case, command)
    kernels, lost = capture.kernels(), capture.lost()
    trust = capture.trust()
    case.measured(f"{kernels:,} kernels of at least {least}; lost: {lost or 'nothing'}; {trust[:200]}", kernels=kernels, lost=lost)
    case.expect(last_json(capture.done).get("launches") == 200, "the program did not get to its end")
    case.expect(kernels >= least or lost, f"{kernels} kernels for {least} launches, and no loss says so")


@CHECKS.add("JAX with its own profiler on: ours whole, or the loss counted", limit_s=90, needs=("gpu", "jax"))
def jax_profiler(case):
    with_other_profiler(case, workload(case, "multiply_jax.py", "--profile", case.folder / "jax"), 200)
    written = [path for path in (case.folder / "jax").rglob("*.xplane.pb")]
    for path in written:
        case.evidence(path)
    case.measured(f"JAX wrote {len(written)} profiles")


@CHECKS.add("Triton: the kernel `add` exactly 200 times", limit_s=90, needs=("gpu", "triton"))
def triton(case):
    capture = record(case, workload(case, "add_triton.py"))
    kernels = capture.kernels("add")
    case.measured(f"{kernels} kernels with `add` in their name; lost: {capture.lost() or 'nothing'}", kernels=kernels)
    case.expect(kernels >= 200, f"`add` was launched 200 times, {kernels} are recorded")
    case.expect(not capture.lost(), f"losses: {capture.lost()}")


@CHECKS.add("Triton with Proton on: ours whole, or the loss counted", limit_s=90, needs=("gpu", "triton", "proton"))
def proton(case):
    with_other_profiler(case, workload(case, "add_triton.py", "--proton", case.folder / "proton"), 200)
    for path in case.folder.glob("proton*.hatchet"):
        case.evidence(path)


def policy(case, which):
    """(kernels recorded, kernels launched at least): the program has three steps before those that torch.profiler records."""
    steps, totals = case.scaled(5), case.folder / "totals.json"
    capture = record(case, workload(case, "steps.py", "launches", steps, "--profile", totals), "--cupti", which, name=which)
    kernels, lost = capture.kernels(), capture.lost()
    case.measured(f"{kernels:,} kernels; lost: {lost or 'nothing'}; {capture.trust()[:200]}", kernels=kernels)
    return kernels, (steps + 3) * 4 * (3 if case.machine.small else 300)


@CHECKS.add("--cupti own: ours has every kernel, PyTorch's program ends well", limit_s=90, needs=("gpu", "torch"))
def cupti_own(case):
    kernels, launched = policy(case, "own")
    case.expect(kernels >= launched, f"{kernels:,} kernels of at least {launched:,}")


@CHECKS.add("--cupti yield: the program ends well, ours has at most what was launched", limit_s=90, needs=("gpu", "torch"))
def cupti_yield(case):
    kernels, launched = policy(case, "yield")
    case.expect(kernels <= 2 * launched, f"{kernels:,} kernels of about {launched:,}")


@CHECKS.add("--python 100: stacks of a PyTorch program, named by file and function", limit_s=60, needs=("gpu", "torch"))
def python_stacks(case):
    capture = record(case, workload(case, "steps.py", "launches", case.scaled(50)), "--python", "100")
    rows = capture.rows("stacks")
    case.measured(f"{len(rows)} stacks; lost: {capture.lost() or 'nothing'}", stacks=len(rows))
    case.expect(rows, "no stack was sampled", of_times=True)


def rows_by_table(answer):
    return {table["name"]: [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]] for table in answer.get("tables", ())}


@CHECKS.add("--os-calls: the program ends well, its kernels are whole, calls have rows and short ones are counted", limit_s=90, needs=("gpu", "torch"))
def os_calls(case):
    steps = case.scaled(50)
    without = record(case, workload(case, "steps.py", "launches", steps), name="without").kernels()
    capture = record(case, workload(case, "steps.py", "launches", steps), "--os-calls", "0.1", name="with")
    kernels, tables = capture.kernels(), rows_by_table(capture.report("os_calls", "gaps"))
    rows = tables.get("os_calls", [])
    longest = max(rows, key=lambda row: row["total_ns"], default=None)
    named = {row["host_what"] for row in tables.get("gaps", []) if row["host_what"] and "(in " in row["host_what"]}
    case.measured(f"{kernels:,} kernels, {without:,} without; {len(rows)} functions with calls of 0.1 ms or more, longest "
                  f"{longest['name'] if longest else 'none'}; gaps: {sorted(named)[:3] or 'no call in a range'}; lost: {capture.lost() or 'nothing'}",
                  kernels=kernels, functions=len(rows))
    case.expect(kernels == without, f"{kernels:,} kernels with --os-calls, {without:,} without")
    case.expect(rows, "no call took 0.1 ms, though the program starts threads and reads files")


@CHECKS.add("--launch-stacks: every kernel's launch has a stack, named by Python and native functions; what a step costs", limit_s=120, needs=("gpu", "torch"))
def launch_stacks(case):
    steps = case.scaled(50)
    without = record(case, workload(case, "steps.py", "launches", steps), name="without")
    capture = record(case, workload(case, "steps.py", "launches", steps), "--launch-stacks", name="with")
    kernels, tables = capture.kernels(), rows_by_table(capture.report("launch_stacks", "steps"))
    before = rows_by_table(without.report("steps")).get("steps", [])
    rows = tables.get("launch_stacks", [])
    named = sum(row["kernels"] for row in rows)
    native = [row for row in rows if "libtorch" in row["stack"]]
    case.measured(f"{kernels:,} kernels, {without.kernels():,} without; {len(rows)} stacks, of {named:,} kernels, {len(native)} with functions of libtorch; most device "
                  f"time: {rows[0]['stack'][-300:] if rows else 'none'}; steps: {tables.get('steps', [])[:1]} with, {before[:1]} without; lost: {capture.lost() or 'nothing'}",
                  kernels=kernels, stacks=len(rows))
    case.expect(kernels == without.kernels(), f"{kernels:,} kernels with --launch-stacks, {without.kernels():,} without")
    case.expect(named == kernels, f"{named:,} of {kernels:,} kernels have a stack")
    case.expect(all("steps.py:" in row["stack"] or native for row in rows), "a stack names neither the program nor PyTorch")


@CHECKS.add("--scheduling: the program ends well, its kernels are whole, its main thread has slices; or one sentence says why not", limit_s=90, needs=("gpu", "torch"))
def scheduling(case):
    steps = case.scaled(50)
    without = record(case, workload(case, "steps.py", "launches", steps), name="without").kernels()
    capture = record(case, workload(case, "steps.py", "launches", steps), "--scheduling", name="with")
    kernels, tables = capture.kernels(), rows_by_table(capture.report("scheduling", "gaps", "cpu"))
    rows = tables.get("scheduling", [])
    refused = [line for line in capture.done.err.splitlines() if "scheduling is not recorded" in line]
    busiest = max(rows, key=lambda row: row["cpu_ns"], default=None)
    waiting = sum("waiting for a CPU" in (row["host_what"] or "") for row in tables.get("gaps", []))
    ready = [row["ready_ns"] for row in tables.get("cpu", []) if row["ready_ns"] is not None]
    case.measured(f"{kernels:,} kernels, {without:,} without; {len(rows)} threads, busiest {busiest['slices'] if busiest else 0:,} slices, preempted "
                  f"{(busiest['preempted_ns'] or 0) / 1e6 if busiest else 0:.1f} ms; {waiting} gaps wait for a CPU; ready_ns of {len(ready)} threads; "
                  f"lost: {capture.lost() or 'nothing'}; {refused[0] if refused else 'permitted'}", kernels=kernels, threads=len(rows))
    case.expect(kernels == without, f"{kernels:,} kernels with --scheduling, {without:,} without")
    case.expect(rows or refused, "no thread has slices, and no sentence says why")


@CHECKS.add("GpuMonitor and @gpu_profile around PyTorch: figures, and the function's own value", limit_s=60, needs=("gpu", "torch"))
def monitor(case):
    done = case.run(workload(case, "regions.py", case.seconds(2)))
    said = last_json(done)
    if case.expect(done.ok and said, done.why()):
        summary = said["regions"][0]["summary"]
        case.measured(f"util.gpu {summary['util_gpu_mean']} %, {summary['power_mean_w']} W, {summary['energy_j']} J in {summary['duration_s']:.2f} s")
        case.expect(said["decorated"], "@gpu_profile did not return what the function did, or did not report once")
        case.expect(summary["n_samples"] >= 5 * summary["duration_s"] - 1, f"{summary['n_samples']} samples in {summary['duration_s']:.1f} s, one each 0.1 s", of_times=True)
