"""Interleaves variants of the same program, so that a GPU that warms up, or a busy machine, affects all of them.

A round runs every variant once, and each round begins with another variant. Ratios are computed within a round. The interval of
their median is based on their order alone, so it holds for any distribution: the median is between the k-th smallest and the k-th
largest of n values with probability 1 - 2 * B(k - 1), where B is the binomial distribution of n coin tosses.
"""

import dataclasses
import json
import math
import statistics
import time

from .check import Unreached

CONFIDENCE = 0.95


@dataclasses.dataclass
class Ratio:
    median: float
    low: float
    high: float
    rounds: int
    confidence: float

    def __str__(self):
        return f"x{self.median:.3f} ({self.low:.3f} to {self.high:.3f}, {self.rounds} rounds)"


def interval(values):
    """(low, high, confidence) of the median: the narrowest by order that reaches CONFIDENCE, else the widest there is."""
    ordered, count = sorted(values), len(values)
    best = (ordered[0], ordered[-1], 1 - 2 * 0.5**count if count > 1 else 0.0)
    for cut in range(1, count // 2):
        outside = sum(math.comb(count, each) for each in range(cut + 1)) / 2**count
        if 1 - 2 * outside < CONFIDENCE:
            break
        best = (ordered[cut], ordered[-1 - cut], 1 - 2 * outside)
    return best


def ratio(values, base):
    """Of two ways, round by round."""
    each = [one / other for one, other in zip(values, base)]
    return Ratio(statistics.median(each), *interval(each)[:2], len(each), interval(each)[2])


def take(case, name, ways, rounds):
    """{way: [figure]} of whole rounds. `ways` are functions that return a figure, or None when they failed.

    Goes on where an earlier run of the check stopped, and ends when the next round might not fit into its time.
    """
    path = case.folder / f"{name}.rounds.jsonl"
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = [each for each in done if set(each) == set(ways)]
    longest = 0.0
    while len(done) < rounds and case.left() > 1.3 * longest + 3:
        begun, order, found = time.monotonic(), list(ways), {}
        shift = len(done) % len(order)
        for way in order[shift:] + order[:shift]:
            figure = ways[way]()
            if figure is None:
                case.expect(False, f"{name}: {way} gave no figure; see log.txt")
                return _columns(done, ways)
            found[way] = figure
        done.append(found)
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
        longest = max(longest, time.monotonic() - begun)
    return _columns(done, ways)


def _columns(rounds, ways):
    return {way: [each[way] for each in rounds] for way in ways}


def compare(case, name, unit, figures, bounds):
    """Says each way's median and its ratio to the first; a bound is broken when the whole interval lies above it."""
    base, *others = figures
    if len(figures[base]) < (2 if case.machine.small else 3):
        raise Unreached(f"{name}: {len(figures[base])} rounds were made, too few for an interval; run the part again to go on")
    middle = statistics.median(figures[base])
    case.measured(f"{name}: {base} {middle:.3f} {unit}", **{f"{name}_{base}_{unit}": middle})
    for way in others:
        found = ratio(figures[way], figures[base])
        case.measured(f"{way} {found}", **{f"{name}_{way}": dataclasses.asdict(found)})
        if way in bounds:
            case.expect(found.low <= bounds[way], f"{name}: {way} costs {found}, more than x{bounds[way]:.2f}", of_times=True)
