#!/usr/bin/env python3
"""Holds the predictions of `report FILE whatif` against simulated programs that are run again with the change made.

    tests/simulate/whatif.py BINARY [--seeds 50] [--family NAME]... [--first 0] [--jobs 2] [--show 10] [--chips] [--steps 1]

Each program is recorded once, with the cost of a recorder. Its step without the recorder, without each of its causes, and with kernels
that are twice as fast is simulated; the prediction from the recording is compared with that truth. Prints for each family how many
predictions are within 10 % of the true step time, how many ranges hold it, and how often no prediction is made. --chips: on GPUs of several generations,
whose links to the host differ, some of them slower than the GPU allows. --steps: recordings of so few steps.
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
from kineto import CHIPS, device_of, trace_of  # noqa: E402
from machine import PINNED, Recorder  # noqa: E402
from peer_programs import PEERS  # noqa: E402
from phase_programs import PHASES  # noqa: E402
from truth import simulate  # noqa: E402

FAMILIES = STEADY | {name: PHASES[name] for name in ("checkpoints", "evaluations", "logs")}  # those whose steps are most of the time

# The change that takes each cause away. A cause without one (a stretch of Python) is not among the changes.
CHANGE_OF = {"small kernels": "cuda-graph", "loader": "input", "item": "waits", "pageable": "copy-stream", "exposed copy": "copy-stream",
             "same stream": "copy-stream", "pageable save": "pinned-copies", "file": "long-host-code", "churn": "allocation",
             "collective": "communication", "late rank": "late-ranks"}
CLOSE = 0.10
FAST = "kernel:.=0.5"


def truths(family, seed, pinned):
    """Step times in ns when nothing records: as it is (None), and with each change."""
    silent = Recorder(0, 0, 0, 0)
    plain = simulate(family, seed, recorder=silent, pinned=pinned)
    found = {None: plain.per_step(), FAST: simulate(family, seed, recorder=silent, kernel_factor=0.5, pinned=pinned).per_step()}
    for cause in plain.case.causes:
        if cause in CHANGE_OF:
            found[CHANGE_OF[cause]] = simulate(family, seed, (cause,), recorder=silent, pinned=pinned).per_step()
    for finding, causes in plain.case.together.items():  # which is named like its change
        found[finding] = simulate(family, seed, causes, recorder=silent, pinned=pinned).per_step()
    return found


def predictions(binary, file, changes):
    """What is predicted for each change: (ns, low, high), or the reason why nothing is."""
    found = {}
    for change in changes:
        argv = [binary, "whatif", file, "--format", "json"] + ([] if change is None else ["--change", change if "=" in change else f"{change}=0"])
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            found[change] = f"status {done.returncode}: {done.stderr.strip()[-200:]}"
            continue
        document = json.loads(done.stdout)
        table = document["tables"][0]
        names = [column["name"] for column in table["columns"]]
        kind = "baseline" if change is None else "single"
        rows = [row for row in (dict(zip(names, cells)) for cells in table["rows"]) if row["kind"] == kind]
        found[change] = tuple(rows[0][name] for name in ("step_ns", "low_ns", "high_ns")) if rows else " ".join(table["notes"])
    return found


def one(binary, family, seed, chips=False, steps=None):
    chip = random.Random(f"{family}/{seed}/chip").choice(CHIPS) if chips else None
    pinned = random.Random(f"{family}/{seed}/link").choice(chip[3]) if chips else PINNED
    run = simulate(family, seed, pinned=pinned, steps=steps)
    true = truths(family, seed, pinned)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(trace_of(run.machine, device=device_of(chip) if chip else None).encode())
        file.flush()
        return family, seed, true, predictions(binary, file.name, true)


def main():
    parser = argparse.ArgumentParser(description="Holds predicted step times against simulated programs.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--family", action="append", choices=sorted(FAMILIES | PEERS))
    parser.add_argument("--chips", action="store_true")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--show", type=int, default=0, help="print this many of the worst predictions")
    options = parser.parse_args()
    families = options.family or [name for name in FAMILIES if name != "barely_used"]
    tasks = [(str(options.binary.resolve()), family, seed, options.chips, options.steps) for family in families for seed in range(options.first, options.first + options.seeds)]
    results, worst, reasons = collections.defaultdict(list), [], collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for family, seed, true, predicted in pool.map(one, *zip(*tasks), chunksize=2):
            for change, truth in true.items():
                told = predicted[change]
                if isinstance(told, str):
                    reasons[told] += 1
                    results[family, change].append(None)
                    continue
                error = told[0] / truth - 1
                results[family, change].append((abs(error), told[1] <= truth <= told[2]))
                worst.append((abs(error), f"{family} {seed} {change or 'as it is'}: predicted {told[0] / 1e6:.3f} ms "
                                          f"({told[1] / 1e6:.3f} to {told[2] / 1e6:.3f}), true {truth / 1e6:.3f} ms, {100 * error:+.1f} %"))
    print(f"{'family':22}{'change':16}{'within 10 %':>14}{'in range':>12}{'median error':>15}{'worst':>9}{'abstains':>11}")
    for (family, change), each in results.items():
        print(row(family, change or "as it is", each))
    everything = [each for group in results.values() for each in group]
    print(row("all", "", everything))
    for reason, count in reasons.most_common(8):
        print(f"{count} times: {reason}")
    for _, text in sorted(worst, reverse=True)[:options.show]:
        print(text)
    made = [each for each in everything if each is not None]
    return 0 if made and sum(each[0] <= CLOSE for each in made) >= 0.95 * len(made) and len(made) >= 0.85 * len(everything) else 1


def row(family, change, each):
    made = sorted(one for one in each if one is not None)
    if not made:
        return f"{family:22}{change:16}{'':>14}{'':>12}{'':>15}{'':>9}{100:>9.0f} %"
    close = 100 * sum(error <= CLOSE for error, _ in made) / len(made)
    held = 100 * sum(inside for _, inside in made) / len(made)
    return (f"{family:22}{change:16}{close:>12.0f} %{held:>10.0f} %{100 * made[len(made) // 2][0]:>13.1f} %{100 * made[-1][0]:>7.1f} %"
            f"{100 * (len(each) - len(made)) / len(each):>9.0f} %")


if __name__ == "__main__":
    sys.exit(main())
