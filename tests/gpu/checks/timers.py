"""Part 3: times of `bench` compared with nvbench and Triton, and across processes."""

import json

from harness.check import Checks
from harness.recording import last_json, workload

CHECKS = Checks("part3")


def timings(case, way, limit_s, name=None):
    """The JSON of a way of timing, in a file; {} and why not otherwise. With NVML every result waits for the counter of energy, of which times of
    stand-ins have none."""
    path, environment = case.folder / f"{name or way}.json", {"GPUPROF_NVML": "none"} if case.machine.small else {}
    done = case.run(workload(case, "timings.py", way), limit_s, environment)
    said = last_json(done)
    path.write_text(json.dumps(said) if done.ok else "")
    case.evidence(path)
    return path, (None if done.ok and said else done.why())


@CHECKS.add("`bench` within 1 % of nvbench and 2 % of Triton's do_bench; spread over processes below 1 %", limit_s=170, needs=("gpu", "torch"))
def bench_agreement(case):
    ours, problem = timings(case, "ours", 80)
    if not case.expect(problem is None, f"ours: {problem}"):
        return
    files = [ours]
    for other, needs in (("nvbench", ["nvbench"]), ("triton", ["triton"])):
        reason = case.machine.missing(needs)
        if reason:
            (case.folder / f"{other}.json").write_text("")
            case.measured(f"{other} left out: {reason}")
        else:
            _, problem = timings(case, other, 60)
            if problem:
                case.measured(f"{other} failed: {problem}")
        files.append(case.folder / f"{other}.json")
    for number in range(2 if case.machine.small else 3):
        if case.left() > 25:
            path, problem = timings(case, "processes", 40, f"process{number}")
            if problem is None:
                files.append(path)
    done = case.run(workload(case, "agreement.py", *files))
    (case.folder / "agreement.md").write_text(done.out)
    case.evidence(case.folder / "agreement.md")
    case.measured("; ".join(line for line in done.out.splitlines() if line.startswith("ok: ")))
    for line in done.err.splitlines():
        if line.startswith("FAILED: "):
            case.expect(False, line.removeprefix("FAILED: "), of_times=True)
    case.expect(done.status in (0, 1), f"agreement.py: {done.why()}")
