"""The truth of a simulated job: what each fault costs, by simulating the job again without it, and alone without the others."""

from dataclasses import asdict, replace

from .clocks import Recorded
from .simulate import simulate

CAUSES = {"slow_gpu": "slow GPU", "slow_host": "slow host", "late_data": "late data", "pause": "pause", "slow_link": "slow link", "more_work": "more work",
          "hidden_wait": "unexplained gap"}
NAMED = 0.01  # of the step: what a unit must cost, now or alone, to be named
CLEAR = 0.02  # a unit that costs this much must be named; between the two both answers are right


def without(job, faults):
    return replace(job, faults=tuple(fault for fault in job.faults if fault not in faults))


def only(job, faults):
    return replace(job, faults=tuple(faults))


def units(job):
    """The faults of each unit, in the order of their first one."""
    found = {}
    for fault in job.faults:
        found.setdefault(fault.unit, []).append(fault)
    return found


def verdict(step, cost, alone):
    share = max(cost, alone) / step
    return "must" if share >= CLEAR else "may" if share >= NAMED / 2 else "must not"


def fault_rows(job, seed, step, ideal):
    for unit, faults in units(job).items():
        cost = step - simulate(without(job, faults), seed).mean_step()
        alone = simulate(only(job, faults), seed).mean_step() - ideal
        yield {"unit": list(unit), "cause": CAUSES[faults[0].kind], "kind": faults[0].kind, "ranks": sorted({r for f in faults for r in f.ranks}),
               "group": list(faults[0].group), "steps": sorted({job.first_step + s for f in faults for s in (f.steps or range(job.steps))}),
               "cost_ns": round(cost), "alone_ns": round(alone), "named": verdict(step, cost, alone)}


def truth(run, seed, costs=True):
    """A JSON object. Costs are ns per step, means over all steps. Without `costs`, only what this simulation tells."""
    job, step = run.job, run.mean_step()
    told = {
        "job": {key: value for key, value in asdict(job).items() if key != "faults"}, "seed": seed, "world": job.world, "hosts": job.hosts,
        "steps": [{"step": job.first_step + i, "ns": round(ns)} for i, ns in enumerate(run.step_times())],
        "step_ns": round(step), "clocks": Recorded(job, seed).truth(run), "ranks_of_hosts": [list(job.host_ranks(host)) for host in range(job.hosts)],
        "stages": [{"stage": p, "ranks": [job.rank(p, 0, 0), job.rank(p, job.dp - 1, job.tp - 1)]} for p in range(job.pp)],
        "groups": {kind: [list(group) for group in job.groups(kind)] for kind in sorted({op.group for ops in run.programs for op in ops if op.group})},
    }
    if not costs:
        return told
    ideal = simulate(only(job, ()), seed).mean_step() if job.faults else step
    even = simulate(replace(only(job, ()), kernel_jitter=0.0, gpu_spread=0.0), seed).mean_step()
    return told | {"ideal_step_ns": round(ideal), "even_step_ns": round(even), "slowdown": step / ideal, "slowdown_by_jitter": ideal / even,
                   "faults": list(fault_rows(job, seed, step, ideal))}
