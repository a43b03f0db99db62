#!/usr/bin/env python3
"""A second opinion on stragglers: match, align, replay, and price what is unlike its peers, in numpy and from the definitions alone.

    python3 -m tests.ranks.reference JOB... [--seed N]      named jobs; ST, AR, SE; or folders that tests.ranks.generate wrote

For each job it prints what it would name with cost and alone, next to the truth. It reads what a recording shows (events.py), never the simulation. It
is written to be checked by eye, not to be fast; `gpu-profile ranks` is compared with it.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import events as event_tables
from . import from_files, host_edges, levels, public
from .align import align, corrected
from .clocks import Recorded
from .folder import read
from .jobs import named
from .levels import CAUSES, GAP, GPU, INPUT, LAUNCH, LINK, PAUSE, WORK
from .lost import with_lost
from .replay import Contradiction, graph, replay
from .simulate import simulate
from .truth import truth

TOLERANCE = 20_000  # ns between events of one rank, whose times are exact
LOOSE = 1_000_000  # for the public jobs
SLOW = 1.03  # of kernel time
SLOW_LINK = 1.2
SHARE = 0.01  # of the step: less is not named
MOST = 0.6  # of a host's ranks, or of an excess, that make it the host's
OFTEN = 3  # steps in which a rank must stand out
AT_ONCE = 12_000_000  # cells of a replay


@dataclass
class Unit:
    unit: tuple
    cause: str
    rows: tuple  # masks of rows whose time and whose gap is the unit's, and by row the part of the lead that is
    cost: float = 0.0  # ns per step: gained by making it like its peers
    alone: float = 0.0  # ns per step: what it costs once all other units are like their peers
    levelled: float = 0.0  # the same with everything else like its peers, also what is only jitter


class Analysis:
    def __init__(self, events, aligned=True, tolerance=TOLERANCE, separate=False, level=levels.peers):
        self.separate, self.clocks = separate, align(event_tables.subset(events, np.isfinite(events.end))) if aligned else None
        self.incomplete = bool(np.isnan(events.end).any())
        events = self.events = with_lost(corrected(events, self.clocks) if aligned else events)
        self.graph = graph(events, tolerance)
        self.first = events.start - self.graph.gap
        self.host, self.none = None, np.zeros(len(events))
        if separate:
            self.cut_steps()
        elif host_edges.recorded(events):
            self.host, self.graph.gap = host_edges.leads(events, self.graph.gap)
        self.level = level(events, self.graph)
        self.steps = int(events.step.max()) + 1
        self.late = sum(self.host.over.values()) if self.host else self.none

    def cut_steps(self):
        """Each step starts on its own, at its common start."""
        events, made = self.events, self.graph
        crossing = (made.before >= 0) & (events.step[made.before] != events.step[:, None])
        made.before[crossing] = -1
        ended = np.where(made.before >= 0, events.end[made.before], -np.inf).max(1)
        begins = events.begin[events.rank, events.step]
        made.gap = np.where(np.isfinite(ended), self.events.start - ended, self.events.start - begins)
        self.first = begins

    def step_times(self, gap, time, lead=None):
        """[step, variant], ns. `gap`, `time`, `lead`: [row, variant]."""
        ends = replay(self.graph, self.first, gap, time, self.host, lead)
        last = np.full((self.steps, gap.shape[1]), -np.inf)
        np.maximum.at(last, self.events.step, ends)
        if self.separate:
            begins = np.full(self.steps, np.inf)
            np.minimum.at(begins, self.events.step, self.first)
            return last - begins[:, None]
        begin = np.min(self.events.start)
        return np.diff(np.concatenate([np.full((1, gap.shape[1]), begin), last]), axis=0)

    def variants(self, choices):
        """Mean step of each choice. A choice is (rows whose time, rows whose gap is that of the peers, by row what is taken from the lead)."""
        found, width = [], max(1, AT_ONCE // len(self.events))
        for first in range(0, len(choices), width):
            part = choices[first:first + width]
            time = np.stack([np.where(mask, self.level.time, self.graph.time) for mask, _, _ in part], 1)
            gap = np.stack([np.where(mask, self.level.gap, self.graph.gap) for _, mask, _ in part], 1)
            lead = np.stack([self.host.lead - late for _, _, late in part], 1) if self.host else None
            found += list(self.step_times(gap, time, lead).mean(0))
        return found

    def totals(self):
        """(replayed step, step with everything like its peers), ns"""
        nothing = np.zeros(len(self.events), bool)
        return self.variants([(nothing, nothing, self.none), (~nothing, ~nothing, self.late)])

    def union(self, units):
        nothing = np.zeros(len(self.events), bool)
        masks = [np.any([nothing] + [unit.rows[part] for unit in units], axis=0) for part in (0, 1)]
        return (*masks, sum((unit.rows[2] for unit in units), self.none))

    def prices(self, units):
        """Fills in cost and alone; returns the step, and the step with all units like their peers."""
        step, ideal = self.totals()
        choices = [self.union(units)] + [unit.rows for unit in units]
        choices += [self.union([other for other in units if other is not unit]) for unit in units]
        choices += [(~unit.rows[0], ~unit.rows[1], self.late - unit.rows[2]) for unit in units]
        means = self.variants(choices)
        count = len(units)
        for i, unit in enumerate(units):
            unit.cost, unit.alone, unit.levelled = step - means[1 + i], means[1 + count + i] - means[0], means[1 + 2 * count + i] - ideal
        return step, means[0]


def by_rank(events, values, ranks):
    return np.bincount(events.rank, values, ranks)


def places(events, slow, hosts):
    """Units for a set of slow ranks: a host if most of its ranks are slow, else each rank."""
    found, taken = [], set()
    recorded = set(np.unique(events.rank).tolist())
    for host in sorted(set(hosts[list(slow)].tolist())):
        members = [rank for rank in np.flatnonzero(hosts == host).tolist() if rank in recorded]
        if len(members) > 1 and len(slow & set(members)) >= MOST * len(members):
            found.append((("host", host), slow & set(members)))
            taken |= set(members)
    return found + [(("rank", rank), {rank}) for rank in sorted(slow - taken)]


def spread_out(over, limit):
    """Whether an excess [rank, step] is not one rank's: none has most of it, or the one that has it has it in few steps."""
    total = over.sum(1)
    worst = over[total.argmax()]
    often = (worst > limit).sum() >= min(OFTEN, 0.2 * over.shape[1] + 1)
    return total.max() < MOST * total.sum() or not often


def per_step(events, over, steps, worst=False):
    """[rank, step]: the sum of an excess, or its largest value."""
    cells = np.zeros(len(events.host) * steps)
    (np.maximum if worst else np.add).at(cells, events.rank * steps + events.step, over)
    return np.maximum(0, cells).reshape(-1, steps)


def excesses(analysis):
    """(cause, rows that may have it, excess [rank, step])"""
    events, made, level, steps = analysis.events, analysis.graph, analysis.level, analysis.steps
    for cause in (GPU, WORK):
        mask = level.time_cause == cause
        yield cause, mask, per_step(events, np.where(mask, made.time - level.time, 0), steps)
    for cause in (LAUNCH, INPUT, PAUSE, GAP):
        if analysis.host and cause != GAP:
            yield cause, np.ones(len(events), bool), per_step(events, analysis.host.over[cause], steps, worst=True)
        else:
            mask = np.full(len(events), cause == GAP) if analysis.host else level.gap_cause == cause
            yield cause, mask, per_step(events, np.where(mask, made.gap - level.gap, 0), steps)


def rows_of(analysis, cause, mask, members):
    rows, nothing = mask & np.isin(analysis.events.rank, list(members)), np.zeros(len(mask), bool)
    if cause in (GPU, WORK):
        return rows, nothing, analysis.none
    if analysis.host and cause != GAP:
        return nothing, nothing, np.where(rows, analysis.host.over[cause], 0)
    return nothing, rows, analysis.none


def candidates(analysis):
    """What might be to blame: one unit per cause and place whose excess is large enough."""
    events, made, level = analysis.events, analysis.graph, analysis.level
    ranks = len(events.host)
    step = analysis.totals()[0]
    for cause, mask, over in excesses(analysis):
        total = over.mean(1)
        if cause == GPU:
            expected = by_rank(events, np.where(mask, level.time, 0), ranks)
            slow = set(np.flatnonzero(by_rank(events, np.where(mask, made.time, 0), ranks) > SLOW * np.maximum(1, expected)).tolist())
        else:
            slow = set(np.flatnonzero(total >= SHARE / 2 * step).tolist())
        shared = cause in (PAUSE, WORK) and total.sum() >= SHARE * step and spread_out(over, SHARE * step)
        for unit, members in [(("job",), set(range(ranks)))] if shared else places(events, slow, events.host):
            yield Unit(unit, CAUSES[cause], rows_of(analysis, cause, mask, members))
    yield from slow_links(analysis)


def slow_links(analysis):
    events, made, level = analysis.events, analysis.graph, analysis.level
    rows = made.matched & (level.time_cause == LINK)
    count = len(events.groups)
    spent = np.bincount(events.group[rows], made.time[rows], count)
    expected = np.bincount(events.group[rows], level.time[rows], count)
    indices = {}
    for group, (kind, _) in enumerate(events.groups):
        index = indices[kind] = indices.get(kind, -1) + 1
        if spent[group] > SLOW_LINK * max(1.0, expected[group]):
            yield Unit(("group", kind, index), CAUSES[LINK], (rows & (events.group == group), np.zeros(len(events), bool), analysis.none))


def stragglers(analysis):
    """(step, ideal, units that cost 1 % of the step now or alone)"""
    units = list(candidates(analysis))
    step, ideal = analysis.prices(units)
    if analysis.incomplete:  # what is lost may explain a gap
        units = [unit for unit in units if unit.cause != CAUSES[GAP]]
    return step, ideal, sorted((unit for unit in units if max(unit.cost, unit.alone) >= SHARE * step), key=lambda unit: -max(unit.cost, unit.alone))


def judge(found, told):
    """Errors against the truth: what must be named and was not, what was named and must not be; by unit and cause."""
    known = {(tuple(fault["unit"]), fault["cause"]): fault for fault in told["faults"]}
    missing = [key for key, fault in known.items() if fault["named"] == "must" and key not in {(unit.unit, unit.cause) for unit in found}]
    wrong = [(unit.unit, unit.cause) for unit in found if known.get((unit.unit, unit.cause), {"named": "must not"})["named"] == "must not"]
    return missing, wrong


def show(title, found, told, out):
    """What was found next to the truth; returns the errors."""
    step, ideal, units = found
    out(f"{title}: step {step / 1e6:.3f} ms (true {told['step_ns'] / 1e6:.3f}), S {step / ideal:.4f} (true {told['slowdown']:.4f})")
    left = {(unit.unit, unit.cause): unit for unit in units}
    for fault in told["faults"]:
        unit = left.pop((tuple(fault["unit"]), fault["cause"]), None)
        got = f"cost {unit.cost / 1e6:8.3f} alone {unit.alone / 1e6:8.3f} (levelled {unit.levelled / 1e6:8.3f})" if unit else "not named"
        out(f"  {fault['unit']!s:24} {fault['cause']:16} {got:53} true {fault['cost_ns'] / 1e6:8.3f} {fault['alone_ns'] / 1e6:8.3f}  {fault['named']}")
    for unit in left.values():
        out(f"  {unit.unit!s:24} {unit.cause:16} cost {unit.cost / 1e6:8.3f} alone {unit.alone / 1e6:8.3f}  WRONG")
    return judge(units, told)


def show_simulated(name, seed, out):
    run = simulate(named()[name][1](name), seed)
    return show(name, stragglers(Analysis(event_tables.of_run(run, Recorded(run.job, seed)))), truth(run, seed), out)


def show_folder(folder, out):
    return show(folder, stragglers(Analysis(from_files.of_folder(folder, read))), json.loads((Path(folder) / "truth.json").read_text()), out)


def public_slowdowns(name, steps=None):
    """(computed, published) slowdown per step by the publishers' definition, unexplained gaps at zero."""
    job = public.load(name, steps)
    analysis = Analysis(event_tables.of_public(job), aligned=False, tolerance=LOOSE, separate=True, level=levels.everything)
    events, made = analysis.events, analysis.graph
    closed = np.zeros((len(events), 1))
    now = analysis.step_times(closed, made.time[:, None])[:, 0]
    ideal = analysis.step_times(closed, analysis.level.time[:, None])[:, 0]
    kept = analysis.step_times(made.gap[:, None], made.time[:, None])[:, 0]
    published = np.array([row["slowdown"] for row in public.truth(job)["steps"]])
    return now / ideal, published, kept / ideal, analysis


def show_public(name, out):
    got, published, kept, _ = public_slowdowns(name)
    worst = np.abs(got / published - 1).max()
    out(f"{name}: S {got.min():.3f} to {got.max():.3f} (published {published.min():.3f} to {published.max():.3f}), at worst {100 * worst:.1f} % off; "
        f"with gaps {kept.mean():.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    for name in args.jobs:
        if name in public.SIZES:
            show_public(name, print)
        elif Path(name).is_dir():
            try:
                show_folder(name, print)
            except Contradiction as error:
                print(f"{name}: not replayed: {error}")
        else:
            show_simulated(name, args.seed, print)
    return 0


if __name__ == "__main__":
    sys.exit(main())
