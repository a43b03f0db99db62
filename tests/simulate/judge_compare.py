#!/usr/bin/env python3
"""How often `compare` is wrong about pairs of recordings whose truth is known.

    judge_compare.py PROGRAM [--pairs N] [--programs N] [--seed S] [--show]

First table: drawn steps, for each kind of noise and one, three and five recordings per side: false verdicts on equal programs, changes of
5 % that are found, and verdicts with the wrong sign. Second table: simulated programs whose host runs ahead of the device between
synchronisations; kernels, the host's code or nothing changed. Status 1 if a goal is missed.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import compared  # noqa: E402  (needs the path above)
from kineto import trace_of  # noqa: E402

FALSE_PCT = 3.0  # goal: at most so many verdicts on equal programs
FOUND_PCT = 90.0  # goal: at least this part of changes of 5 % is found under lognormal noise of 3 %, with three or five recordings
EQUAL_PCT, CHANGED_PCT = 1.0, 4.0  # a true change below the first is none; above the second, "same" is wrong


def verdict(program, base, new):
    repeats = [word for flag, files in (("--repeat-base", base[1:]), ("--repeat-new", new[1:])) for file in files for word in (flag, file)]
    words = [program, "compare", base[0], new[0], "metrics", "--format", "json", *repeats]
    document = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    return document["verdict"]["name"], document["lead"]


def of_noise(job):
    program, kind, recordings, change, seed = job
    r = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        sides = [[compared.drawn(Path(name) / f"{side}{i}.json", [factor * x for x in compared.NOISE[kind](r)]) for i in range(recordings)]
                 for side, factor in (("base", 1), ("new", change))]  # fmt: skip
        return verdict(program, *sides)[0]


def noise_table(options, pool):
    good = True
    for kind in compared.NOISE:
        for recordings in (1, 3, 5):
            def words(change):
                jobs = [(options.program, kind, recordings, change, f"{options.seed} {kind} {recordings} {change} {i}") for i in range(options.pairs)]
                return Counter(pool.map(of_noise, jobs))

            equal, slower = words(1), words(1.05)
            false, found, sign = equal["faster"] + equal["slower"], slower["slower"], slower["faster"]
            share = 100 / options.pairs
            missed = false * share > FALSE_PCT or sign or (kind == "lognormal, 3 %" and recordings > 1 and found * share < FOUND_PCT)
            good = good and not missed
            print(f"| {kind} | {recordings} | {false * share:.1f} % | {found * share:.1f} % | {slower['same'] * share:.1f} % | {sign} |{' !' * bool(missed)}", flush=True)
    return good


def of_program(job):
    program, seed = job
    what, loop, base, new, truth = compared.program_pair(random.Random(seed))
    with tempfile.TemporaryDirectory() as name:
        files = []
        for side, machine in (("base", base), ("new", new)):
            path = Path(name) / f"{side}.json"
            path.write_text(trace_of(machine))
            files.append(str(path))
        word, lead = verdict(program, files[:1], files[1:])
    if word in ("faster", "slower"):
        right = truth < -EQUAL_PCT if word == "faster" else truth > EQUAL_PCT
        outcome = "right" if right else "wrong sign or false"
    else:
        outcome = "false same" if word == "same" and abs(truth) > CHANGED_PCT else "missed" if abs(truth) > 2 * CHANGED_PCT else "right"
    return what, loop.every, truth, word, outcome, lead, seed


def program_table(options, pool):
    found = list(pool.map(of_program, [(options.program, f"{options.seed} program {i}") for i in range(options.programs)]))
    outcomes = ("right", "missed", "false same", "wrong sign or false")
    for what in ("kernels", "host", "nothing"):
        counts = Counter(outcome for each, *_, outcome, _, _ in found if each == what)
        print(f"| {what} | {sum(counts.values())} | " + " | ".join(str(counts[outcome]) for outcome in outcomes) + " |", flush=True)
    if options.show:
        for what, every, truth, word, outcome, lead, seed in found:
            if outcome != "right":
                print(f"{outcome}: {what}, synchronised every {every}, truth {truth:+.2f} %: {word} [{seed}]\n  " + "\n  ".join(lead))
    return not any(outcome in outcomes[2:] for *_, outcome, _, _ in found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--pairs", type=int, default=200, help="pairs of each row (default: 200)")
    parser.add_argument("--programs", type=int, default=300, help="simulated programs (default: 300)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--show", action="store_true", help="print the simulated programs that were not judged rightly")
    options = parser.parse_args()
    with ThreadPoolExecutor(2) as pool:
        print("| noise | recordings per side | equal: false verdicts | 5 % slower: found | called same | wrong sign |\n|---|---|---|---|---|---|")
        good = noise_table(options, pool) if options.pairs else True
        print("\n| changed | programs | right | missed | false same | wrong sign or false |\n|---|---|---|---|---|---|")
        good = program_table(options, pool) and good if options.programs else good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
