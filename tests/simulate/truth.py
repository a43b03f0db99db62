"""The truth about a simulated program: the length of its steps, their length without each cause, and the device's activity."""

import random
from dataclasses import dataclass, field

from families import MS, Case
from machine import PINNED, Machine, Recorder
from near_ties import NEAR_TIES
from peer_programs import PEERS
from phase_programs import PHASES
from waiting_programs import PROGRAMS as WAITING

PROGRAMS = WAITING | PHASES

BUSY = {"compute": "compute-bound", "memory": "memory-bandwidth-bound", "underfilled": "underfilled"}


@dataclass
class Run:
    machine: Machine
    case: Case
    ends: list  # of each step, when its last work was done

    def per_step(self):
        return (self.ends[-1] - self.ends[0]) / (len(self.ends) - 1)


def simulate(family, seed, without=(), noise=0.05, recorder=None, kernel_factor=1.0, turns=None, pinned=PINNED, steps=None):
    size = random.Random(f"{family}/{seed}/size")
    case = Case(seed, size, frozenset(without))
    case.steps = size.randint(5, 12)
    machine = Machine(random.Random(f"{family}/{seed}/noise"), recorder or Recorder(), noise, kernel_factor, turns, pinned)
    step = (PROGRAMS | PEERS | NEAR_TIES)[family](case)
    case.steps = steps or case.steps
    marks = []

    def main(host):
        if case.startup:
            yield from host.work(case.between(200 * MS, 2000 * MS))
            yield from host.allocate(50 * MS)
        if case.before_run:
            yield from case.before_run(host)
        if case.whole:
            marks.append((host.now, []))
        for number in range(case.steps):
            if case.before_step:
                yield from case.before_step(host)
            yield from host.span("range", case.step_name.format(number), step(host, number)) if case.step_name else step(host, number)
            marks.append((host.now, list(machine.last.values())))
            if case.after_step:
                yield from case.after_step(host, number)
        if case.after_run:
            yield from case.after_run(host)
            marks.append((host.now, list(machine.last.values())))
        yield from host.synchronise_device()

    machine.thread("main", main)
    machine.run()
    ends = [max([host_end, *(op.end for op in last)]) for host_end, last in marks]
    return Run(machine, case, ends)


def busy_by(run):
    """Parts of the steps in which the device works, by what limits it: kernels before copies and collectives, which are exposed alone."""
    first, last = run.ends[0], run.ends[-1]
    edges = []
    for op in run.machine.ops:
        begin, end = max(op.start, first), min(op.end, last)
        if begin < end:
            what = "transfer" if op.kernel is None else op.kernel.bound
            edges += [(begin, 1, what, op.kernel.fill if op.kernel else 0), (end, -1, what, op.kernel.fill if op.kernel else 0)]
    edges.sort(key=lambda edge: edge[0])
    now, fill, sums = first, 0.0, {}
    active = {"compute": 0, "memory": 0, "underfilled": 0, "communication": 0, "transfer": 0}
    for time, change, what, part in edges:
        if time > now:
            working = [bound for bound in ("compute", "memory", "underfilled") if active[bound]]
            told = working[0] if working else "communication" if active["communication"] else "transfer" if active["transfer"] else None
            if told:
                sums[told] = sums.get(told, 0) + time - now
        now = time
        active[what] += change
        fill += change * part
    return {what: ns / (last - first) for what, ns in sums.items()}


@dataclass
class Truth:
    shares: dict  # verdict -> part of a step
    gains: dict  # cause -> (verdict, part of a step that is won without it)
    only: frozenset = frozenset()
    unnamed: bool = False
    together: dict = field(default_factory=dict)  # id of a finding -> part of a step that is won without all its causes

    def best(self):
        return min(self.only) if self.only else max(self.shares, key=self.shares.get)

    def acceptable(self):
        """Labels that a careful person could defend: those near the largest, and `mixed` where none stands out."""
        if self.only:
            return set(self.only)
        order = sorted(self.shares.values(), reverse=True)
        most = order[0]
        found = {label for label, share in self.shares.items() if share >= 0.7 * most}
        if most < 0.35 or (len(order) > 1 and order[1] >= 0.7 * most):
            found.add("mixed")
        if self.unnamed:
            found.add("cannot tell")
        if found & {"compute-bound", "memory-bandwidth-bound"} and most > 0.6:
            found.add("healthy/near limit")
        return found


def truth_of(family, seed):
    run = simulate(family, seed)
    if run.case.only:
        return run, Truth({}, {}, run.case.only)
    recorder = Recorder(0, 0, 0, 0)  # the truth is what the program does without a recorder
    true_run = simulate(family, seed, recorder=recorder)
    step = true_run.per_step()
    shares = {BUSY[what]: part for what, part in busy_by(true_run).items() if what in BUSY}
    gains = {}
    for cause, verdict in dict(run.case.causes).items():
        won = 1 - simulate(family, seed, (cause,), recorder=recorder).per_step() / step
        gains[cause] = (verdict, won)
        if verdict:
            shares[verdict] = max(shares.get(verdict, 0), won)
    together = {finding: 1 - simulate(family, seed, causes, recorder=recorder).per_step() / step for finding, causes in run.case.together.items()}
    return run, Truth(shares, gains, unnamed=run.case.unnamed, together=together)
