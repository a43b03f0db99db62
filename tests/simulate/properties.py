#!/usr/bin/env python3
"""Properties that predictions and verdicts have on every recording: fixtures, and simulated programs.

    tests/simulate/properties.py BINARY [--programs 500] [--seed any] [--fixtures] [--show]

1. No prediction is below its floor: the kernels of the busiest stream, as fast as the change makes them.
2. No plan is against its verdict. A cause that takes a part of the critical path can be removed by a change that gains at least half of it, or the
   verdict has low confidence. Above a verdict that the GPU is near its limit, no plan gains more than 35 %.
3. Changes come in the order of gain and effort: an option before a rewrite that gains less than twice as much; so do findings.
4. Ranges hold the truth as often as the documentation says: 90 % of all, and of those called good. Only for simulated programs, which are run again with
   the change made; programs of few steps, of several GPUs, and with late ranks are among them.

Prints what was looked at, and each recording that breaks the first two. Ends with status 1 if there is one, or if too few ranges hold.
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

from families import FAMILIES  # noqa: E402
from kineto import CHIPS, device_of, trace_of  # noqa: E402
from near_ties import NEAR_TIES  # noqa: E402
from peer_programs import PEERS  # noqa: E402
from truth import simulate  # noqa: E402
from whatif import truths  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
HELD = 0.90
CHANGES_OF = {"input-bound": ("input",), "launch-bound": ("cuda-graph", "host-code"), "synchronisation-bound": ("waits",),
              "transfer-bound": ("pinned-copies", "copy-stream", "copies"), "communication-bound": ("late-ranks", "communication"),
              "allocation-bound": ("allocation",), "host-bound (other)": ("long-host-code", "host-code")}
# The truth of copies on a stream of their own leaves out that kernels wait for them there.
UNTRUE = {("input_bound", "copy-stream")}


def asked(binary, *words):
    done = subprocess.run([binary, *words, "--format", "json"], capture_output=True, text=True, timeout=300, check=False)
    return json.loads(done.stdout) if done.returncode == 0 and done.stdout else None


def rows_of(document):
    table = next(table for table in document["tables"] if table["name"] == "whatif")
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, cells)) for cells in table["rows"]]


WEIGHTS = {"option": 1, "edit": 0.6, "rewrite": 0.5}
MARGIN = 2  # percent of a step; of changes that gain nearly the same, the one that asks less comes first


def out_of_order(rows, findings):
    """What comes before something that is worth more for its effort."""
    worth = [row["gain_pct"] * WEIGHTS[row["effort"]] for row in rows if row["kind"] == "single"]
    wrong = ["single changes are not in the order of gain and effort"] if worth != sorted(worth, reverse=True) else []
    plan = next((row for row in rows if row["kind"] == "plan"), None)
    options = [row["gain_pct"] for row in rows if row["kind"] == "single" and row["effort"] == "option"]
    if plan and options and max(options) > plan["gain_pct"] * WEIGHTS[plan["effort"]] + MARGIN:
        wrong.append(f"the plan starts with {plan['change']}, and an option gains {max(options):.0f} %")
    costs = [each["cost_ns"] * WEIGHTS[each["effort"]] for each in findings if each["id"] != "profiler-cost"]
    return wrong + (["findings are not in the order of cost and effort"] if costs != sorted(costs, reverse=True) else [])


def broken(binary, file):
    """What is wrong with the answer about this file, and the number of predictions."""
    report, whatif = asked(binary, "report", file), asked(binary, "whatif", file)
    rows = rows_of(whatif) if whatif else []
    wrong, made = [], [row for row in rows if row["kind"] in ("baseline", "single", "plan")]
    floors = [row["step_ns"] for row in rows if row["kind"] == "floor"]
    for row in made:
        for name in ("step_ns", "low_ns", "high_ns"):
            if row[name] < row["floor_ns"] or any(row[name] < floor for floor in floors):
                wrong.append(f"{row['kind']} {row['change']}: {name} {row[name]} is below the floor {row['floor_ns']}, {floors}")
    verdict = report["verdict"] if report else {}
    if verdict.get("share_of") == "critical_path" or verdict.get("share_of") == "the critical path":
        gains = {row["change"]: row["gain_pct"] for row in rows if row["kind"] == "single"}
        wanted = CHANGES_OF.get(verdict["name"], ())
        best = max((gains.get(change, 0) for change in wanted), default=0)
        if wanted and verdict["name"] == "communication-bound":
            best = sum(gains.get(change, 0) for change in wanted)
        if wanted and verdict.get("confidence") != "low" and best < 0.5 * (verdict.get("share_pct") or 0):
            wrong.append(f"{verdict['name']} {verdict['share_pct']:.1f} %, {verdict['confidence']}: its changes gain {best:.1f} %")
        plan = max((row["gain_pct"] for row in rows if row["kind"] == "plan"), default=0)
        if verdict["name"] == "healthy/near limit" and plan > 35:
            wrong.append(f"{verdict['name']} above a plan of {plan:.1f} %")
    return wrong + out_of_order(rows, report["findings"] if report else []), len(made)


def drawn(binary, seed, number):
    chance = random.Random(f"{seed}/{number}")
    family = chance.choice([name for name in (*FAMILIES, *PEERS, *NEAR_TIES) if name != "barely_used"])
    chip = chance.choice(CHIPS)
    pinned, steps = chance.choice(chip[3]), chance.choice([1, 2, None, None, None, None])
    run = simulate(family, f"{seed}/{number}", pinned=pinned, steps=steps)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(trace_of(run.machine, device=device_of(chip)).encode())
        file.flush()
        wrong, made = broken(binary, file.name)
        true = truths(family, f"{seed}/{number}", pinned)
        ranges = []
        for change, truth in true.items():
            if change is None or (family, change) in UNTRUE:
                continue
            document = asked(binary, "whatif", file.name, "--change", change if "=" in change else f"{change}=0")
            for row in rows_of(document) if document else []:
                if row["kind"] == "single":
                    ranges.append((row["confidence"], steps or 3, row["low_ns"] <= truth <= row["high_ns"],
                                   f"{change}: {row['step_ns']} ({row['low_ns']} to {row['high_ns']}), true {truth:.0f}"))
    return f"{family} {number} of {seed}, {steps or 'many'} steps, {chip[0]}", wrong, made, ranges


def fixtures():
    folder = ROOT / "tests" / "fixtures"
    return [path for path in sorted([*folder.rglob("*.json*"), *folder.rglob("*.sqlite*"), *(ROOT / "examples").rglob("*.json.gz")])
            if path.is_file() and "hostile" not in path.parts]


def main():
    parser = argparse.ArgumentParser(description="Looks for recordings whose predictions and verdicts contradict each other.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--seed", default="held")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--fixtures", action="store_true")
    parser.add_argument("--show", action="store_true", help="print ranges that do not hold the truth")
    options = parser.parse_args()
    binary, failures, made, held = str(options.binary.resolve()), 0, 0, collections.defaultdict(list)
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        files = fixtures() if options.fixtures else []
        for file, (wrong, count) in zip(files, pool.map(broken, [binary] * len(files), map(str, files))):
            made, failures = made + count, failures + len(wrong)
            for what in wrong:
                print(f"{file.relative_to(ROOT)}: {what}")
        numbers = range(options.programs)
        for name, wrong, count, ranges in pool.map(drawn, [binary] * len(numbers), [options.seed] * len(numbers), numbers, chunksize=2):
            made, failures = made + count, failures + len(wrong)
            for what in wrong:
                print(f"{name}: {what}")
            for confidence, steps, inside, what in ranges:
                held[f"{confidence}, {steps if steps < 3 else '3 or more'} steps"].append(inside)
                held["all"].append(inside)
                if options.show and not inside:
                    print(f"{name}: {confidence}: {what}")
    print(f"{len(files)} files, {options.programs} programs, {made} predictions: {failures} below their floor or against their verdict")
    for what, each in sorted(held.items()):
        print(f"ranges that hold the truth, {what}: {100 * sum(each) / len(each):.1f} % of {len(each)}")
    few = [what for what, each in held.items() if len(each) >= 50 and sum(each) < HELD * len(each)]
    return 1 if failures or few else 0


if __name__ == "__main__":
    sys.exit(main())
