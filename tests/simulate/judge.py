#!/usr/bin/env python3
"""Compares the product's verdicts and gains with simulated programs whose truth is known.

    tests/simulate/judge.py BINARY [--seeds 50] [--family NAME]... [--first 0] [--jobs 2] [--show wrong]

Each family runs with SEEDS seeds; sizes, noise and the missing parts of the recording are random. For each family it prints how
often the verdict is right (the largest share), acceptable (a careful person could defend it), `cannot tell`, wrong, or
confidently wrong (wrong with a share of 30 % or more and no warning), and how many of the claimed gains are within a quarter of
the true gain.
"""

import argparse
import collections
import concurrent.futures
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from families import FAMILIES as STEADY  # noqa: E402
from kineto import trace_of  # noqa: E402
from near_ties import NEAR_TIES  # noqa: E402
from phase_programs import PHASES  # noqa: E402
from truth import truth_of  # noqa: E402

FAMILIES = STEADY | PHASES
FINDINGS = {"input-pipeline": "input-bound", "small-kernels": "launch-bound", "synchronisation": "synchronisation-bound", "idle-gaps": "host-bound (other)",
            "memory-transfers": "transfer-bound", "between-steps": "", "allocation-churn": "allocation-bound", "exposed-communication": "communication-bound"}
KINDS = ("right", "acceptable", "abstains", "wrong", "confidently wrong")
CONFIDENT_PCT = 30
CLOSE = 0.25  # of the true gain


def recording(run, seed):
    """The trace as a person would get it: mostly whole, sometimes without operators, calls, ranges, or with kernels lost."""
    chance = random.Random(f"{seed}/recording")
    kind = chance.choices(["whole", "op", "range", "call", "lost"], (60, 15, 10, 5, 10))[0]
    if kind == "lost":
        return kind, trace_of(run.machine, lost=chance.uniform(0.2, 0.9), random=chance)
    return kind, trace_of(run.machine, lacks=() if kind == "whole" else (kind,))


# What a recording without a category cannot show: the verdicts that are then as good as the true one.
BLIND = {"range": {"input-bound": {"host-bound (other)"}}, "call": {}, "op": {}}


def judged(verdict, trust, truth, lacks):
    name = verdict["name"]
    if lacks == "lost":  # most of what seems idle was busy
        return "right" if name == "cannot tell" else "acceptable" if name in truth.acceptable() else "wrong"
    if name == truth.best():
        return "right"
    if lacks == "range" and truth.only:  # the pause before the kernel is not recorded, so a kernel is all there is
        return "acceptable"
    if name in truth.acceptable() or name in BLIND.get(lacks, {}).get(truth.best(), ()):
        return "acceptable"
    if name == "cannot tell":
        return "abstains"
    warned = any(line.get("warning") for line in trust)
    confident = (verdict.get("share_pct") or 0) >= CONFIDENT_PCT and not warned
    return "confidently wrong" if confident else "wrong"


def claims(document, truth, lacks):
    """(claimed, true) part of a step for each finding that names one of the causes."""
    of_verdict = {verdict: gain for verdict, gain in truth.gains.values()}
    if lacks == "range" and "input-bound" in of_verdict:  # nothing says that the host code is a loader
        of_verdict.setdefault("host-bound (other)", of_verdict["input-bound"])
    # The recorder's own cost is in the window and not in the program: shares of the window are of what remains. Predictions are without it.
    recorder = sum(each["share_pct"] for each in document["verdict"]["alternatives"] if each["name"] == "the profiler")
    found = []
    for finding in document["findings"]:
        verdict = FINDINGS.get(finding["id"])
        if finding.get("share_pct") is None or (finding["cost_ns"] == 0 and not finding.get("predicted")):
            continue  # it says what happens, and not what that costs
        whole = 100 if finding.get("predicted") else 100 - recorder
        if finding["id"] in truth.together:
            found.append((finding["id"], finding["share_pct"] / whole, truth.together[finding["id"]]))
        elif verdict is not None:
            found.append((finding["id"], finding["share_pct"] / whole, of_verdict.get(verdict, 0.0)))
    return found


def one(binary, family, seed):
    run, truth = truth_of(family, seed)
    lacks, text = recording(run, f"{family}/{seed}")
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(text.encode())
        file.flush()
        done = subprocess.run([binary, "report", file.name, "--format", "json"], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        return family, seed, lacks, "wrong", [], f"status {done.returncode}: {done.stderr[-200:]}"
    document = json.loads(done.stdout)
    kind = judged(document["verdict"], document["trust"], truth, lacks)
    told = f"{document['verdict']['name']} {document['verdict'].get('share_pct')} %, true " + ", ".join(
        f"{label} {100 * share:.0f} %" for label, share in sorted(truth.shares.items(), key=lambda each: -each[1])[:3])
    return family, seed, lacks, kind, claims(document, truth, lacks), told


def main():
    parser = argparse.ArgumentParser(description="Holds verdicts and gains against simulated programs.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--family", action="append", choices=sorted(FAMILIES | NEAR_TIES))
    parser.add_argument("--claims", action="store_true", help="print each claimed gain that is off")
    parser.add_argument("--show", action="append", choices=KINDS, default=[])
    options = parser.parse_args()
    families = options.family or list(FAMILIES)
    tasks = [(str(options.binary.resolve()), family, seed) for family in families for seed in range(options.first, options.first + options.seeds)]
    table, gains = collections.defaultdict(collections.Counter), collections.defaultdict(list)
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for family, seed, lacks, kind, found, told in pool.map(one, *zip(*tasks), chunksize=4):
            table[family][kind] += 1
            gains[family] += [abs(claimed - true) <= CLOSE * true for _, claimed, true in found]
            for name, claimed, true in found:
                if options.claims and abs(claimed - true) > CLOSE * true:
                    print(f"{family} {seed} ({lacks}): {name}: claimed {100 * claimed:.1f} %, true {100 * true:.1f} %; {told}")
            if kind in options.show:
                print(f"{family} {seed} ({lacks}): {kind}: {told}")
    print(f"{'family':22}" + "".join(f"{kind:>19}" for kind in KINDS) + f"{'gains within 25 %':>20}")
    total, close = collections.Counter(), []
    for family in families:
        total.update(table[family])
        close += gains[family]
        print(row(family, table[family], gains[family]))
    print(row("all", total, close))
    return 0


def row(name, counts, close):
    all_of = sum(counts.values())
    return f"{name:22}" + "".join(f"{100 * counts[kind] / all_of:17.1f} %" for kind in KINDS) + (
        f"{100 * sum(close) / len(close):13.0f} % of {len(close)}" if close else f"{'–':>20}")


if __name__ == "__main__":
    sys.exit(main())
