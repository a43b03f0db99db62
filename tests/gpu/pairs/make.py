#!/usr/bin/env python3
"""Measures pairs of programs on a machine with a GPU: tests/gpu/pairs.sh [--out FOLDER]

Each pair of declared.py is a program before and after a change. Both run in several processes: without a profiler, under
`gpu-profile record`, and under torch.profiler. FOLDER gets the step times, the recordings of the first processes, and pairs.json; it stays
below 20 MB. A call takes at most 15 minutes (--limit); the next call continues. `bench/whatif/pairs.py BINARY FOLDER` then compares
predictions with what was measured. Exit status: 0 all done, 1 a process failed, 3 not everything was reached, 77 nothing can be run here.
"""

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
sys.dont_write_bytecode = True

from declared import PAIRS  # noqa: E402
from harness import processes  # noqa: E402
from harness.machine import Machine  # noqa: E402
from session import LIMIT_BYTES, Session  # noqa: E402

COUNT = "import torch; print(torch.cuda.device_count())"


def commands(machine):
    """The command of one process."""

    def command(pair, side, recorder, recording):
        plain = [machine.python, str(HERE / "measure.py"), pair.name, side, str(pair.steps)]
        if recorder == "torch.profiler":
            return [*plain, "--trace", str(recording)]
        if recorder == "gpu-profile":
            return [str(machine.program), "record", "--quiet", "--force", "-o", str(recording), "--", *plain, "--windows", "1"]
        return plain

    return command


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=os.environ.get("OUT", "pairs"), metavar="FOLDER", help="default: $OUT, else pairs")
    parser.add_argument("--processes", type=int, default=5, metavar="N", help="processes of each program and recorder (default: 5)")
    parser.add_argument("--limit", type=float, default=900, metavar="S", help="seconds that this call may take (default: 900)")
    parser.add_argument("--size-limit", type=int, default=LIMIT_BYTES, metavar="BYTES", help="size of FOLDER at most (default: %(default)s)")
    parser.add_argument("--only", action="append", default=[], metavar="PAIR", help="only this pair; may be repeated")
    given = parser.parse_args()
    unknown = set(given.only) - {pair.name for pair in PAIRS}
    if unknown:
        parser.error(f"unknown pair '{min(unknown)}'; pairs are {', '.join(pair.name for pair in PAIRS)}")
    out = Path(given.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    machine = Machine(HERE.parents[2], out)
    reason = machine.unusable() or machine.missing(["gpu", "torch"])
    if reason:
        print(f"not run: {reason}")
        return 77
    environment = machine.environment()
    gpus = int(processes.run([machine.python, "-c", COUNT], 90, environment).out.strip() or 0)
    session = Session(out, lambda command, limit_s: processes.run(command, limit_s, environment), commands(machine), machine.facts(),
                      lambda text: print(text, flush=True), only=given.only, processes=given.processes, limit_s=given.limit,
                      limit_bytes=given.size_limit, gpus=gpus)
    failed, unreached = session.make()
    return 1 if failed else 3 if unreached else 0


if __name__ == "__main__":
    sys.exit(main())
