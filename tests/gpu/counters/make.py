#!/usr/bin/env python3
"""Records what kernel counters do on a machine with a GPU: tests/gpu/counters.sh [--out FOLDER]

Each item of items.py is one command with a time limit. FOLDER gets its captures, the images of CUPTI with what is needed to evaluate them
elsewhere, results.json with hashes, and report.md, one page; it stays below 20 MB. A call takes at most 20 minutes (--limit); the next call
continues. Exit status: 0 all done, 1 an item failed, 3 not everything was reached, 77 nothing can be run here.
"""

import argparse
import hashlib
import json
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
sys.dont_write_bytecode = True

from harness import processes  # noqa: E402
from harness.machine import Machine  # noqa: E402
from items import items  # noqa: E402

LIMIT_BYTES = 20 * 1000 * 1000
LINES = 12  # of output that the report shows


class Recorder:
    def __init__(self, out, machine, run, limit_s, limit_bytes=LIMIT_BYTES, clock=time.monotonic):
        self.out, self.machine, self.run, self.clock, self.limit_bytes = out, machine, run, clock, limit_bytes
        self.until = clock() + limit_s
        self.file = out / "results.json"
        self.results = json.loads(self.file.read_text()) if self.file.exists() else {"items": {}}

    def size(self):
        return sum(path.stat().st_size for path in self.out.rglob("*") if path.is_file())

    def record(self, item):
        if item.name in self.results["items"]:
            return
        reason = self.machine.missing(item.needs)
        if not reason and self.size() > self.limit_bytes:
            reason = f"{self.out} is full"
        if reason:
            return self.keep(item, {"verdict": "skipped", "reason": reason})
        left = self.until - self.clock()
        if left < 5:
            return
        place = self.out / item.name
        command = [str(word).replace("{out}", str(place)) for word in item.command]
        done = self.run(command, min(item.limit_s, left), {**self.machine.environment(), **item.environment})
        if done.status is None and left < item.limit_s:
            return  # the call's end, not the item's
        (self.out / f"{item.name}.txt").write_text(f"$ {' '.join(map(str, command))}\n{done.out[-200_000:]}\n{done.err[-200_000:]}\n")
        verdict = "ok" if done.ok else "answered" if item.expects == "any" else "FAILED"
        self.keep(item, {"verdict": verdict, "how": done.how(), "seconds": round(done.seconds, 2), "said": done.err.strip().splitlines()[-LINES:],
                         "files": self.files_of(item)})

    def files_of(self, item):
        found = sorted(path for path in self.out.rglob("*") if path.is_file() and str(path.relative_to(self.out)).startswith(item.name))
        return {str(path.relative_to(self.out)): {"bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()} for path in found}

    def keep(self, item, result):
        self.results["items"][item.name] = result
        self.results["machine"] = self.machine.facts()
        self.file.write_text(json.dumps(self.results, indent=1) + "\n")


def report(results, names):
    facts = results.get("machine", {})
    lines = [f"# Kernel counters on {facts.get('gpu')}", "", f"driver {facts.get('driver')}, {facts.get('program')}, CUPTI {facts.get('cupti')}, {facts.get('date')}",
             "", "| item | verdict | seconds | last words |", "|---|---|---|---|"]
    for name in names:
        item = results["items"].get(name, {"verdict": "not reached"})
        words = item.get("reason") or (item.get("said") or [""])[-1]
        words = words.replace("|", "/")[:160]
        lines.append(f"| {name} | {item['verdict']} | {item.get('seconds', '')} | {words} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=os.environ.get("OUT", "counters"), metavar="FOLDER", help="default: $OUT, else counters")
    parser.add_argument("--limit", type=float, default=1200, metavar="S", help="seconds that this call may take (default: 1200)")
    parser.add_argument("--only", action="append", default=[], metavar="ITEM", help="only items that begin so; may be repeated")
    parser.add_argument("--list", action="store_true", help="list the items")
    given = parser.parse_args()
    out = Path(given.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    machine = Machine(HERE.parents[2], out)
    reason = machine.unusable() or (None if given.list else machine.missing(["gpu", "programs"]))
    if reason:
        print(f"not run: {reason}")
        return 77
    wheels = Path(os.environ.get("CUPTI_WHEELS", HERE.parents[2] / "build" / "cupti"))
    cuptis = {path.parent.parent.name: path for path in sorted(wheels.rglob("libcupti.so.1?"))}
    planned = [item for item in items(str(machine.program), str(machine.programs / "kernels"), machine.python, machine.workloads, cuptis)
               if not given.only or any(item.name.startswith(only) for only in given.only)]
    if given.list:
        print("\n".join(item.name for item in planned))
        return 0
    recorder = Recorder(out, machine, processes.run, given.limit)
    for item in planned:
        recorder.record(item)
    names = [item.name for item in planned]
    (out / "report.md").write_text(report(recorder.results, names))
    print((out / "report.md").read_text())
    verdicts = [recorder.results["items"].get(name, {}).get("verdict") for name in names]
    return 1 if "FAILED" in verdicts else 3 if None in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
