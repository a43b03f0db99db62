#!/usr/bin/env python3
"""Compares the product's stragglers and prices with drawn jobs whose truth is known (drawn.py).

    python3 -m tests.ranks.judge BINARY [--jobs 100] [--seed ANY] [--kind plain|overlapped|damaged|clean]... [--show]

For each kind of job: who was named wrongly, and of the named units how many prices are within 5 % of the truth. The truth of a unit is the difference to a
simulation in which its ranks or links have no fault, over the steps that the program based its prices on. An answer with low confidence, or that it cannot tell, is
counted apart. A job whose fault costs 2 % of a step and that is said to have no straggler with more confidence is wrong.
"""

import argparse
import collections
import concurrent.futures
import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from . import clean
from .clocks import Recorded
from .drawn import Drawn, drawn_job
from .folder import write_rank
from .kineto import Writer
from .simulate import simulate

CLOSE = 0.05  # of the true price
CLEAR = 0.02  # of the step: a fault that costs this much must be named
KINDS = ("plain", "overlapped", "damaged", "clean")


def without(job, ranks, groups):
    """The job as it is without faults on these ranks and links."""
    kept = []
    for fault in job.faults:
        left = tuple(rank for rank in fault.ranks if rank not in ranks)
        if fault.group and fault.group[1] in groups:
            continue
        if left or fault.group:
            kept.append(replace(fault, ranks=left))
    return replace(job, faults=tuple(kept))


def unit_of(job, row):
    """(ranks, indices of groups) of a named unit."""
    words = row["unit"].split()
    if words[0] == "rank":
        return (int(words[1]),), ()
    if words[0] == "host":
        if row["unit"].startswith("host of"):
            first, _, last = words[-1].partition("-")
            return tuple(range(int(first), int(last or first) + 1)), ()
        return job.host_ranks(int("".join(c for c in words[1] if c.isdigit()))), ()
    if words[0] == "group":
        return (), tuple(i for i, group in enumerate(job.groups("dp")) if words[-1] == text_of(group))
    return tuple(range(job.world)), ()


def text_of(ranks):
    step = ranks[1] - ranks[0] if len(ranks) > 1 else 1
    return f"{ranks[0]}-{ranks[-1]}" + (f"/{step}" if step > 1 else "")


def answer(binary, drawn, seed, folder):
    job = drawn.job
    run = simulate(job, seed)
    writer = Writer(run, Recorded(job, seed), seed, drawn.options)
    (folder / "job").mkdir()
    for rank in range(job.world):
        write_rank(writer, folder / "job", rank, f"rank{rank:05d}.json.gz", drawn.damaged, 1)
    told = asked(binary, folder)
    priced = [row["step"] - job.first_step for row in rows_of(asked(binary, folder, "job_steps"), "job_steps") if row["dur_ns"] is not None]
    return run, told["verdict"], rows_of(told, "stragglers"), priced


def asked(binary, folder, *tables):
    done = subprocess.run([binary, "ranks", folder / "job", *tables, "--format", "json", "--limit", "0", "--cache", folder / "cache", "--quiet"],
                          capture_output=True, check=True)
    return json.loads(done.stdout)


def rows_of(document, name):
    table = next(table for table in document["tables"] if table["name"] == name)
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in table["rows"]]


def judged(binary, drawn, seed):
    """(kind of answer, text, [relative errors of prices])"""
    with tempfile.TemporaryDirectory() as folder:
        run, verdict, rows, priced = answer(binary, drawn, seed, Path(folder))
    job, at = drawn.job, priced or list(range(drawn.job.steps))
    step = run.step_times()[at].mean()

    def cost(ranks, groups):
        return (run.step_times() - simulate(without(job, ranks, groups), seed).step_times())[at].mean()

    whole = cost(tuple(range(job.world)), tuple(range(len(job.groups("dp"))))) if job.faults else 0.0
    named = [row for row in rows if row["named"]]
    errors, notes = [], [f"{whole / step:.1%} of {step / 1e6:.0f} ms"]
    wrong = False
    for row in named:
        ranks, groups = unit_of(job, row)
        faulty = {rank for fault in job.faults for rank in fault.ranks}
        links = {fault.group[1] for fault in job.faults if fault.group}
        wrong |= not (set(ranks) & faulty if ranks else set(groups) & links)
        if row["unit"].startswith(("rank", "host")):
            wrong |= bool(set(ranks) - faulty) and len(set(ranks) & faulty) * 2 <= len(ranks)
        true = cost(ranks, groups)
        errors.append((row["cost_ns"] - true) / max(true, 1.0))
        notes.append(f"{row['unit']} ({row['cause']}) {row['cost_ns'] / 1e6:.2f} for {true / 1e6:.2f} ms")
    sure = verdict["confidence"] not in ("low", None) and verdict["name"] != "cannot tell"
    notes.append(f"[{verdict['name']}, {verdict['confidence']}]")
    if wrong:
        kind = "wrong name"
    elif not sure:
        kind = "not sure"
    elif not named:
        kind = "absolved" if whole >= CLEAR * step else "nothing to name"
    else:
        kind = "close" if all(abs(error) <= CLOSE for error in errors) else "mispriced"
    return kind, "; ".join(notes), errors


def drawn_of(kind, seed, number):
    if kind == "clean":
        job, options = clean.clean_job(f"{seed} {number} clean", ((8, 1, 1), (16, 1, 1), (4, 2, 1), (8, 2, 1), (4, 1, 2), (8, 1, 2)))
        return Drawn(job, options, "none")
    return drawn_job(seed, number, overlap=kind == "overlapped", damage=kind == "damaged")


def one(binary, kind, seed, number):
    drawn = drawn_of(kind, seed, number)
    told = judged(binary, drawn, number)
    job = drawn.job
    layout = f"{job.dp}x{job.pp}x{job.tp} {job.sync}{f' overlap {job.buckets}' if job.overlap else ''}, {job.steps} steps, {drawn.fault}"
    return told[0], f"{kind} {number}: {layout}{', ' + drawn.damage if drawn.damage else ''}: {told[1]}", told[2]


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="tests.ranks.judge", description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--show", action="store_true", help="print each job")
    args = parser.parse_args(arguments)
    failed = False
    for kind in args.kind or KINDS:
        counts, shown = collections.Counter(), []
        with concurrent.futures.ProcessPoolExecutor(2) as executor:
            told = executor.map(one, *zip(*((args.binary, kind, args.seed, n) for n in range(args.first, args.first + args.jobs)), strict=True))
            for what, text, errors in told:
                counts[what] += 1
                if args.show or what in ("wrong name", "absolved", "mispriced"):
                    print(f"{what:16} {text}", flush=True)
                shown += [abs(error) for error in errors if what in ("close", "mispriced")]
        print(f"{kind}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())) +
              (f"; prices off by {np.median(shown):.1%} (median), {np.quantile(shown, 0.95):.1%} (95 of 100)" if shown else ""), flush=True)
        failed |= counts["wrong name"] > 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
