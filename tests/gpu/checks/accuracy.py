"""Part 3: are the figures correct? Each is compared with an independent clock or tool."""

import json

from harness.check import Checks
from harness.recording import last_json, record, storm, workload

CHECKS = Checks("part3")


def by_name(rows):
    """{name: (count, ns)}; tools differ in spaces and in the return type."""
    found = {}
    for name, count, ns in rows:
        key = name.replace(" ", "").removeprefix("void")
        before = found.get(key, (0, 0))
        found[key] = (before[0] + count, before[1] + ns)
    return found


@CHECKS.add("time of each of the 20 longest kernels within 1 % of torch.profiler's in the same run", limit_s=100, needs=("gpu", "torch"))
def kernel_times(case):
    totals, trace = case.folder / "totals.json", case.folder / "kineto.json.gz"
    capture = record(case, workload(case, "steps.py", "transformer", case.scaled(10), "--profile", totals, "--trace", trace, "--window"), "--capture-range", "start-stop")
    if not case.expect(totals.exists(), "the program wrote no totals"):
        return
    case.evidence(totals), case.evidence(trace)
    theirs = by_name((name, *found) for name, found in json.loads(totals.read_text())["names"].items())
    ours = by_name((row["name"], row["count"], row["total_ns"]) for row in capture.rows("kernels"))
    worst, compared = 0.0, 0
    for name, (count, ns) in sorted(theirs.items(), key=lambda item: -item[1][1])[:20]:
        if name not in ours:
            continue  # spelled in another way: the sum of all has it
        compared += 1
        worst = max(worst, abs(ours[name][1] / ns - 1))
        case.expect(ours[name][0] == count, f"{name[:60]}: {ours[name][0]} and {count} times")
        case.expect(abs(ours[name][1] / ns - 1) <= 0.01, f"{name[:60]}: {ours[name][1]} and {ns} ns")
    total = sum(ns for _, ns in ours.values()) / max(sum(ns for _, ns in theirs.values()), 1) - 1
    case.measured(f"{compared} of the 20 longest compared by name, at most {100 * worst:.3f} % apart; all kernels {100 * total:+.3f} %", worst=worst, total=total)
    case.expect(abs(total) <= 0.01, f"all kernels: {100 * total:+.2f} % away, more than 1 %")


@CHECKS.add("time of long kernels back to back within 2 % of what CUDA events say", needs=("gpu", "programs", "cupti"))
def kernel_times_by_events(case):
    capture = record(case, storm(case, "busy", case.seconds(4)), keep=False)
    said = last_json(capture.done)
    rows = [row for row in capture.rows("kernels") if "spin" in row["name"]] or capture.rows("kernels")
    if case.expect(rows and said, "nothing was recorded or said"):
        share = said["timed_kernels"] / sum(row["count"] for row in rows)  # a few ran before the events
        ours = sum(row["total_ns"] for row in rows) * share / 1e6
        apart = ours / said["events_ms"] - 1
        case.measured(f"{ours:.2f} ms of kernels, {said['events_ms']:.2f} ms between events: {100 * apart:+.2f} %", apart=apart)
        case.expect(abs(apart) <= 0.02, f"{100 * apart:+.2f} %, more than 2 %")


@CHECKS.add("energy of 5 s within 10 % of mean power x time; of 0.05 and 0.1 s absent, or within a factor of 2", limit_s=60, needs=("gpu", "torch"))
def energy(case):
    done = case.run(workload(case, "regions.py", 0.05, 0.1, *map(case.seconds, (0.3, 1, 5))))
    said = last_json(done)
    if not case.expect(done.ok and said, done.why()):
        return
    (case.folder / "regions.json").write_text(json.dumps(said, indent=1))
    case.evidence(case.folder / "regions.json")
    reference = said["regions"][-1]["summary"]
    watts = reference["power_mean_w"]
    if watts is None or reference["energy_j"] is None:
        case.expect(False, f"5 s of a busy GPU have no power or no energy: {'; '.join(reference['notes'])[:200]}", of_times=True)
        return
    for region in said["regions"]:
        summary = region["summary"]
        joule, seconds = summary["energy_j"], summary["duration_s"]
        by_power = watts * seconds
        case.measured(f"{region['asked_s']} s: {'absent' if joule is None else f'{joule:.2f} J'}, by power {by_power:.2f} J", **{f"energy_{region['asked_s']}_j": joule})
        if joule is not None:
            bound = 0.10 if seconds >= 4 else 0.30 if seconds >= 1 else 1.0
            case.expect(by_power / (1 + bound) <= joule <= by_power * (1 + bound), f"{region['asked_s']} s: {joule:.2f} J, by power {by_power:.2f} J", of_times=True)
