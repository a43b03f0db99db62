#!/usr/bin/env python3
"""Kills around triggered windows, and checks what is left: tests/soak/trigger_kills.py BINARY [--count 2000] [--seed 1] [--jobs 2]

Each round starts a job in standby on the fake CUPTI, triggers a window of a random length or a capture of the last seconds, and sends SIGKILL at a random moment
around it to the rank, to `record`, or to `trigger`. The capture, or the parts that remain, must be readable. If the rank or `record`
lives, it must end with status 0. Prints a table by victim. tests/python/record/test_record_trigger.py does one of each.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "python"), str(TESTS)]

from played import PLAY, fake_environment  # noqa: E402
from program import Program  # noqa: E402
from recordings_of_cupti import quick_script  # noqa: E402

JOB = PLAY + """
import os, pathlib
pathlib.Path(sys.argv[2]).write_text(str(os.getpid()))
until, turn = time.monotonic() + float(sys.argv[3]), 0
while time.monotonic() < until:
    play(turn)
    turn += 1
    time.sleep(0.002)
"""
PATIENCE_S = 120
STARTED_S = 1.0  # of the job, before the trigger
LEAD_S = 0.6


def readable(program, file):
    done = subprocess.run([program.path, "report", file, "kernels", "--format", "json"], capture_output=True, timeout=PATIENCE_S, check=False)
    return done.returncode in (0, 4)


def one_round(program, script, seed):
    """Return the victim and what became of it: what was found, or "BAD: ..."."""
    chance = random.Random(seed)
    victim = chance.choice(["rank", "recorder", "trigger"])
    length, moment = chance.uniform(0.05, 0.8), chance.uniform(0, LEAD_S + 1.5)
    past = chance.random() < 0.5  # the window is over when it is requested
    mode = ["--standby", "--keep-last", "60"] if past else ["--standby"]
    window = ["--last", "10"] if past else ["--seconds", str(length), "--at", f"+{LEAD_S}s"]
    with tempfile.TemporaryDirectory() as folder:
        run, pid_file = Path(folder) / "run", Path(folder) / "pid"
        command = [program.path, "record", *mode, "-o", run, "--sample", "0", "--", sys.executable, "-c", JOB, script, pid_file, STARTED_S + LEAD_S + 4]
        recorder = subprocess.Popen(list(map(str, command)), env=fake_environment(program), stderr=subprocess.DEVNULL)
        while not pid_file.exists() or not pid_file.read_text():
            time.sleep(0.02)
        rank = int(pid_file.read_text())
        time.sleep(STARTED_S)
        trigger = subprocess.Popen([program.path, "trigger", run, *window, "--wait", "60"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moment)
        try:
            os.kill({"rank": rank, "recorder": recorder.pid, "trigger": trigger.pid}[victim], 9)
        except ProcessLookupError:
            victim += " (had ended)"
        status = recorder.wait(PATIENCE_S)
        trigger.kill()
        trigger.wait()
        until = time.monotonic() + PATIENCE_S
        while victim == "recorder" and Path(f"/proc/{rank}").exists() and time.monotonic() < until:
            time.sleep(0.05)
        files = [*run.glob("t*/*.gpuprof"), *run.glob("*.parts-*/*.gpuprof")]
        if not all(readable(program, file) for file in files):
            return victim, "BAD: unreadable"
        if victim.startswith("trigger") and status != 0:
            return victim, f"BAD: status {status}"
        if victim == "recorder" and Path(f"/proc/{rank}").exists():
            return victim, "BAD: the rank hangs"
        failed = past and status != 0  # then the last parts are kept
        if not victim.startswith("recorder") and not failed and list(run.glob("*.parts-*")):
            return victim, "BAD: parts were left"
        victim += ", the past" * past
        return victim, "capture" if list(run.glob("t*/*.gpuprof")) else "parts" if files else "before the window"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    program = Program(str(Path(arguments.binary).resolve()))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        script = quick_script(Path(folder))
        seeds = range(arguments.seed * 1_000_000, arguments.seed * 1_000_000 + arguments.count)
        counts = collections.Counter(pool.map(lambda seed: one_round(program, script, seed), seeds))
    print("| killed | left | rounds |\n|---|---|---:|")
    for (victim, left), rounds in sorted(counts.items()):
        print(f"| {victim} | {left} | {rounds} |")
    sys.exit(any("BAD" in left for _, left in counts))


if __name__ == "__main__":
    main()
