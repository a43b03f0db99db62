#!/usr/bin/env python3
"""How often `tune` accepts a change that changes nothing, and how often it accepts one that gains 5 %.

    tune.py PROGRAM [--investigations N] [--seed S]

Each simulated investigation records a baseline and five trials by the rule of `tune`: three to five runs, until their mean is known
to 2 %. Runs of one program differ as the name of a row says. A trial is compared with the last accepted one by the program, and
judged by the function that `tune` uses. The mean that ends the recordings is taken from the true times of the runs.
"""

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "python"), str(ROOT / "python")]

from test_compare import recording  # noqa: E402  (needs the path above)

from gpu_profile.tuning.answers import compared  # noqa: E402
from gpu_profile.tuning.decision import decide  # noqa: E402
from gpu_profile.tuning.recordings import FEWEST, MOST, WANTED_PCT, half_width_pct  # noqa: E402

TRIALS = 5
RUNS = {  # the time of a run, relative to the mean
    "runs differ by 0.5 %": lambda r: r.gauss(1, 0.005),
    "runs differ by 1.5 %": lambda r: r.gauss(1, 0.015),
    "runs differ by 5 %": lambda r: r.gauss(1, 0.05),
    "one run in six is 10 % slower": lambda r: r.gauss(1, 0.005) * (1.1 if r.random() < 1 / 6 else 1),
}


def state(folder, generator, run, factor):
    """The recordings of a state: as many as `tune` makes."""
    times, files = [], []
    while len(files) < MOST:
        times.append(factor * run(generator))
        seed = generator.randrange(1 << 30)
        files.append(recording(folder / f"{seed}.json", seed, times[-1], steps=20))
        if len(files) >= FEWEST and half_width_pct(times) <= WANTED_PCT:
            break
    return files


def investigation(generator, run, factor):
    """The decision of each trial; a trial that changes nothing is compared with the last accepted one."""
    decisions = []
    with tempfile.TemporaryDirectory() as name:
        base = state(Path(name), generator, run, 1)
        for _ in range(TRIALS if factor == 1 else 1):
            new = state(Path(name), generator, run, factor)
            decisions.append(decide(compared(base, new)).word)
            base = new if decisions[-1] == "accepted" else base
    return decisions


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--investigations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ["GPUPROF_BIN"] = options.program
    for name, run in RUNS.items():
        generator = random.Random(f"{options.seed} {name}")
        nothing = [investigation(generator, run, 1) for _ in range(options.investigations)]
        gains = [investigation(generator, run, 0.95)[0] for _ in range(options.investigations)]
        trials = [word for words in nothing for word in words]
        wrong, any_wrong = trials.count("accepted"), sum("accepted" in words for words in nothing)
        print(f"{name}: accepted without a change: {wrong} of {len(trials)} trials, in {any_wrong} of {len(nothing)} investigations of {TRIALS} trials;"
              f" a gain of 5 % accepted: {gains.count('accepted')} of {len(gains)}, rejected: {gains.count('rejected')}", flush=True)


if __name__ == "__main__":
    main()
