"""What timings.py said, as a table and judgements: agreement.py OURS [NVBENCH] [TRITON] PROCESSES...

Files of JSON; one that is empty was not taken. Exit status 1 when a bound of the project's goals is broken: 1 % of nvbench, 2 % of
do_bench where that is right, a spread below 1 % over processes for kernels above 50 us, 2 s for a short kernel.
"""

import json
import sys

STEP_NS = 500  # of the events' clock: below 1 % only for kernels above 50 us
FLUSH_NS = 60_000  # do_bench's launches hide behind its clearing of 256 MB, which takes at least this


def read(path):
    with open(path, encoding="utf-8") as file:
        text = file.read().strip()
    return json.loads(text) if text else {}


def apart(one, other):
    return None if not one or not other else one / other - 1


def shown(share):
    return "–" if share is None else f"{100 * share:+.2f} %"


def us(ns):
    return "–" if ns is None else f"{ns / 1e3:.2f}"


def rows(ours, nvbench, triton, processes):
    """(row of the table, sentences about what is broken) for each function."""
    for name, own in ours.items():
        theirs, python = nvbench.get(name, {}), triton.get(name, {})
        reference = theirs.get("median") or theirs.get("mean")
        times = [each[name]["cold"] for each in processes if name in each]
        spread = (max(times) - min(times)) / own["cold"] if len(times) > 1 else None
        to_nvbench, to_rule = apart(own["cold"], reference), apart(own["entropy"], own["cold"])
        to_triton = apart(python.get("do_bench"), own["cold"])
        is_right = own["host"] < FLUSH_NS and own["cold"] > 50_000
        step = STEP_NS / own["cold"]
        broken = []
        for what, share, bound in (
            ("nvbench", to_nvbench, 0.01), ("nvbench's stopping rule", to_rule, 0.01),
            ("do_bench", to_triton if is_right else None, 0.02), ("spread", spread if own["cold"] > 50_000 else None, 0.01),
        ):
            if share is not None and abs(share) > max(bound, step):
                broken.append(f"{name}: {what} is {shown(share)} away, more than {100 * max(bound, step):.1f} %")
        wrong = "" if is_right or not python else " (not right here)"
        cells = [name, us(own["cold"]), us(own["hot"]), us(own["graph"]), us(own["gaps"]), us(own["host"]), us(reference), shown(to_nvbench),
                 shown(to_rule), us(python.get("do_bench")), shown(to_triton) + wrong, us(python.get("do_bench_cudagraph")), shown(spread)]
        yield cells, broken


def facts(ours):
    """Sentences that hold on every GPU, and whether they do."""
    tiny, chain, reread = ours["tiny"], ours["chain"], ours["reread"]
    yield f"timer: {tiny['timer']}", tiny["timer"] == "cuda events"
    yield f"a kernel of {us(tiny['hot'])} us settles in {tiny['settled_s']:.2f} s (below 2 s)", tiny["settled_s"] < 2
    yield f"what fits the L2 cache: cold {us(reread['cold'])} us, hot {us(reread['hot'])} us", reread["cold"] > reread["hot"]
    yield (f"100 launches: {us(chain['hot'])} us behind the blocking kernel, {us(chain['gaps'])} us with the gaps", chain["blocking"]
           and chain["hot"] < chain["gaps"])
    energy = [f"{name} {own['energy_j']:.3g} J" for name, own in ours.items() if own["energy_j"] is not None]
    yield f"energy per call: {', '.join(energy) or 'not known'}", True


def main():
    ours, nvbench, triton, *processes = map(read, sys.argv[1:])
    head = ["function", "cold us", "hot us", "graph us", "gaps us", "host us", "nvbench us", "to nvbench", "to its rule", "do_bench us",
            "to ours", "cudagraph us", "spread"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    failures = []
    for cells, broken in rows(ours, nvbench, triton, processes):
        print("| " + " | ".join(cells) + " |")
        failures += broken
    print()
    for sentence, holds in facts(ours):
        print(("ok: " if holds else "FAILED: ") + sentence)
        failures += [] if holds else [sentence]
    for missing, found in (("nvbench (pip: cuda-bench)", nvbench), ("Triton", triton)):
        if not found:
            print(f"left out: {missing} cannot be imported or failed")
    for sentence in failures:
        print(f"FAILED: {sentence}", file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
