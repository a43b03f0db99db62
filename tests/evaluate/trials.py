"""`python3 -m tests.evaluate.trials --count N --seed S`: drawn pairs through `gpu-profile evaluate`, as a user runs it.

Three kinds: the baseline against itself and against honest variants (a violation, or a verdict on itself other than `same`
and `cannot tell`, is wrong), and cheats that return rubbish in a part of the timed calls (exit status 0, or a speedup, is
wrong). Prints the rates, and what the checks of timed results cost. Without --seed, one from the clock: fresh ones.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import gpu_profile
from .cheats import CHOICES, RUBBISH, cheat
from .functions import draw

__all__ = ["evaluated"]

# A check calls four times before it exchanges the contents of the arguments, and once or twice then.
_CHECKED_CALLS = 5


def evaluated(folder: Path, baseline: str, optimized: str, inputs: str, *options: str) -> dict[str, Any]:
    """Return the JSON of one evaluation."""
    for name, text in (("baseline.py", baseline), ("optimized.py", optimized), ("inputs.py", inputs)):
        (folder / name).write_text(text)
    command = [str(gpu_profile.binary()), "evaluate", "baseline.py", "optimized.py", "--inputs", "inputs.py", "--json", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "GPUPROF_PYTHON": sys.executable})
    return json.loads(done.stdout)


class Trials:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.seen: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.costs: list[tuple[float, float]] = []  # checking a timed result, and its call, in ms

    def judge(self, label: str, baseline: str, optimized: str, inputs: str, honest: bool, *options: str) -> None:
        found = evaluated(self._folder, baseline, optimized, inputs, *options)
        self.seen[label] += 1
        if honest:
            right = found["exit_code"] == 0 and (baseline != optimized or found["verdict"] in ("same", "cannot tell"))
            if found["timed_results_checked"]:
                self.costs.append((1e3 * found["checking_s"] / found["timed_results_checked"], statistics.median(found["baseline_samples_ms"])))
        else:
            right = found["exit_code"] == 1 and found["speedup"] is None
        if not right:
            self.wrong[label] += 1
            print(f"wrong: {label}: {found['verdict']} {found['speedup']} {[each['text'] for each in found['violations']]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m tests.evaluate.trials")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(Path(folder))
        for index in range(options.count):
            drawn, dice = draw(options.seed + index), random.Random(options.seed + index)
            trials.judge("honest, the same file", drawn.baseline, drawn.baseline, drawn.inputs, True)
            trials.judge("honest, another way", drawn.baseline, dice.choice(list(drawn.honest.values())), drawn.inputs, True)
            choice, rubbish = dice.choice(list(CHOICES)), dice.choice(list(RUBBISH))
            rubbish = "zeros" if drawn.name == "total" else rubbish  # one number has no rows and no variation
            source = cheat(drawn.baseline, choice, rubbish, 3 * _CHECKED_CALLS + 2)
            trials.judge(f"cheat, {choice}", drawn.baseline, source, drawn.inputs, False)
    print(f"seed {options.seed}, {options.count} functions")
    for label in sorted(trials.seen):
        print(f"{label:<40} {trials.seen[label]:5}  wrong {trials.wrong[label]:4}  {100 * trials.wrong[label] / trials.seen[label]:.1f} %")
    costs = sorted(trials.costs)
    print(f"checking a timed result: {costs[0][0]:.3f} to {costs[-1][0]:.3f} ms, median {statistics.median(cost for cost, _ in costs):.3f} ms")
    print(f"relative to the call: median {statistics.median(cost / call for cost, call in costs):.1f} times")


if __name__ == "__main__":
    main()
