#!/usr/bin/env python3
"""Holds what is said of collectives on one rank against simulated programs in which another rank comes late, or none does.

    tests/simulate/judge_peers.py BINARY [--programs 60] [--seed any] [--show] [--md]

A program is *right* if the finding `late-ranks` is there when a late rank costs 5 % of a step or more, comes before advice about transfers unless these cost
more, and its gain is within a quarter of the true one; and if it is absent, or has low confidence, when no rank is late. *Wrong* is a late rank
where all are on time, a prediction that is off by more, or a gain of hidden transfers (`communication`) that is a quarter and 5 points above the true one, unless its
confidence is low. *Unsaid*: a late rank costs 5 % or more and the answer does not mention that one may be late.
"""

import argparse
import collections
import concurrent.futures
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kineto import trace_of  # noqa: E402
from machine import Recorder  # noqa: E402
from peer_programs import LATE, PEERS, TRANSFER  # noqa: E402
from truth import simulate  # noqa: E402

WORTH_NAMING, CLOSE, POINTS = 0.05, 0.25, 0.05


def told(binary, run):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(trace_of(run.machine).encode())
        file.flush()
        done = subprocess.run([binary, "report", file.name, "--format", "json"], capture_output=True, text=True, timeout=60, check=True)
    document = json.loads(done.stdout)
    return document["verdict"], [finding for finding in document["findings"] if finding["id"] in ("late-ranks", "exposed-communication")]


def judged(binary, family, seed):
    silent = Recorder(0, 0, 0, 0)
    step = {without: simulate(family, seed, without, recorder=silent).per_step() for without in ((), (LATE,), (TRANSFER,))}
    late, hidden = 1 - step[(LATE,)] / step[()], 1 - step[(TRANSFER,)] / step[()]
    verdict, findings = told(binary, simulate(family, seed))
    first = {finding["id"]: finding for finding in reversed(findings)}
    what = f"{verdict['name']} {verdict.get('share_pct') or 0:.0f} %, {verdict.get('confidence')}; " + ", ".join(
        f"{each['id']} {each['share_pct']:.1f} % ({each['confidence']})" for each in findings) + f"; true: late {100 * late:.1f} %, transfers {100 * hidden:.1f} %"
    transfers, ranks = first.get("exposed-communication"), first.get("late-ranks")
    if transfers and transfers["confidence"] != "low" and family != "always_late" and transfers["share_pct"] / 100 > max(hidden + POINTS, (1 + CLOSE) * hidden):
        return family, seed, "wrong", what
    if late < WORTH_NAMING:
        return family, seed, "wrong" if ranks and ranks["confidence"] != "low" and ranks["share_pct"] / 100 > late + POINTS else "right", what
    if ranks is None:
        texts = [verdict["because"], *(finding["remedy"] for finding in findings)]
        return family, seed, "abstains" if any("straggler" in text or "late" in text for text in texts) else "unsaid", what
    if ranks["confidence"] == "low":
        return family, seed, "abstains", what
    predicted = ranks.get("predicted")
    if predicted and abs(predicted["gain_pct"] / 100 - late) > CLOSE * late:
        return family, seed, "wrong", what
    behind = transfers and findings.index(transfers) < findings.index(ranks) and hidden < (1 - CLOSE) * late
    return family, seed, "wrong" if behind else "right", what


def main():
    parser = argparse.ArgumentParser(description="Holds what is said of collectives against simulated programs.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--programs", type=int, default=60)
    parser.add_argument("--seed", default="held")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--md", action="store_true")
    options = parser.parse_args()
    kinds, table = ("right", "abstains", "wrong", "unsaid"), collections.defaultdict(collections.Counter)
    tasks = [(str(options.binary.resolve()), family, f"{options.seed}/{number}") for number in range(options.programs // len(PEERS)) for family in PEERS]
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for family, seed, kind, what in pool.map(judged, *zip(*tasks), chunksize=2):
            table[family][kind] += 1
            if options.show and kind not in ("right",) and not (kind == "abstains" and family == "always_late"):
                print(f"{family} {seed}: {kind}: {what}")
    table["all"] = sum(table.values(), collections.Counter())
    mark = " | " if options.md else "  "
    print(mark.join(["family".ljust(20), "programs".rjust(9), *(kind.rjust(9) for kind in kinds)]))
    for family, counts in table.items():
        print(mark.join([family.ljust(20), str(sum(counts.values())).rjust(9), *(str(counts[kind]).rjust(9) for kind in kinds)]))
    everything = table["all"]
    return 0 if everything["wrong"] <= 0.02 * sum(everything.values()) and not everything["unsaid"] else 1


if __name__ == "__main__":
    sys.exit(main())
