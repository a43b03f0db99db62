"""Runs the processes of all pairs, one after another, into a folder that a later call goes on with.

    FOLDER/pairs.json                     everything measured; written anew after each process
    FOLDER/runs/PAIR.SIDE.RECORDER.N.json what process N printed, or why it failed
    FOLDER/recordings/PAIR.SIDE.RECORDER.gpuprof or .json.gz   of process 1

The first process of everything comes before the second of anything, so a session that is cut short has fewer processes of each, and
not fewer pairs. What fails is tried again by the next call; what did not fit into the time is counted and made by the next call.
"""

import json
import os
import statistics
import time
from pathlib import Path

from declared import PAIRS, RECORDERS, SIDES, SUFFIXES

LIMIT_BYTES = 20 * 1000 * 1000
FIGURES_BYTES = 2 * 1000 * 1000  # kept free of recordings, for pairs.json and runs/
START_S = 5  # with less time left, no process is started


def write_json(path, value):
    """Whole or not at all."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(json.dumps(value, indent=1) + "\n")
    os.replace(beside, path)


def read_json(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def last_object(text):
    """The last line of a program's output that is a JSON object; None if there is none."""
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            try:
                return json.loads(line)
            except ValueError:
                return None
    return None


class Session:
    """`run` is harness.processes.run or a stand-in; `command` makes the command of a process; `say` prints a line."""

    def __init__(self, folder, run, command, facts, say, pairs=PAIRS, only=(), processes=5, limit_s=900,
                 limit_bytes=LIMIT_BYTES, gpus=1, clock=time.monotonic):
        self.folder, self.run_command, self.command, self.facts, self.say = Path(folder), run, command, facts, say
        self.pairs, self.only, self.processes, self.limit_s, self.limit_bytes, self.clock = pairs, only, processes, limit_s, limit_bytes, clock
        self.skipped = {pair.name: f"needs {pair.gpus} GPUs: this machine has {gpus}" for pair in pairs if pair.gpus > gpus}
        for name in ("runs", "recordings"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def jobs(self):
        chosen = [pair for pair in self.pairs if pair.name not in self.skipped and (not self.only or pair.name in self.only)]
        return [(pair, side, recorder, number) for number in range(1, self.processes + 1) for pair in chosen for side in SIDES for recorder in RECORDERS]

    def result_path(self, pair, side, recorder, number):
        return self.folder / "runs" / f"{pair.name}.{side}.{recorder}.{number}.json"

    def result(self, *job):
        return read_json(self.result_path(*job))

    def missing(self):
        """Processes that were not run, or failed."""
        return [job for job in self.jobs() if "step_ms" not in (self.result(*job) or {})]

    def make(self):
        """(processes that failed, processes that the time did not suffice for)"""
        for name, reason in self.skipped.items():
            self.say(f"{name}: skipped: {reason}")
        begun = self.clock()
        waiting, failed = self.missing(), []
        while waiting:
            left = self.limit_s - (self.clock() - begun)
            if left < START_S:
                break
            job = waiting[0]
            outcome = self.one(*job, left)
            if outcome is None:  # the session's time ended it
                break
            waiting.pop(0)
            if "failed" in outcome:
                failed.append(job)
                self.say(f"{self.name_of(*job)}: failed: {outcome['failed']}")
            self.write()
        self.write()
        if waiting:
            self.say(f"{len(waiting)} of {len(self.jobs())} processes not reached within {self.limit_s:.0f} s; run again to continue")
        return failed, waiting

    @staticmethod
    def name_of(pair, side, recorder, number):
        return f"{pair.name} {side}, {recorder}, process {number}"

    def one(self, pair, side, recorder, number, left_s):
        """Runs one process; what it said, {"failed": why}, or None if the session's time ran out first."""
        recording = None
        if recorder != "none":
            recording = self.folder / "recordings" / f"{pair.name}.{side}.{recorder}{'' if number == 1 else '.spare'}{SUFFIXES[recorder]}"
        done = self.run_command(self.command(pair, side, recorder, recording), min(pair.limit_s, left_s))
        if done.status is None and left_s < pair.limit_s:
            self.remove(recording)
            return None
        said = last_object(done.out) if done.ok else None
        if said is None or "step_ms" not in said:
            said = {"failed": done.why() if not done.ok else "printed no step times"}
        elif recording is not None and not recording.exists():
            said = {"failed": f"no recording was written: {done.why()}"}
        if number > 1 or "failed" in said:
            self.remove(recording)
        elif recording is not None:
            said["recording"] = self.keep(recording)
        said["seconds"] = round(done.seconds, 1)
        write_json(self.result_path(pair, side, recorder, number), said)
        return said

    @staticmethod
    def remove(recording):
        if recording is not None:
            recording.unlink(missing_ok=True)

    def keep(self, recording):
        """The name of a recording, or why it was not kept."""
        size = recording.stat().st_size
        used = sum(path.stat().st_size for path in (self.folder / "recordings").iterdir())
        if used + FIGURES_BYTES <= self.limit_bytes:
            return recording.name
        recording.unlink()
        self.say(f"{recording.name}: {size:,} bytes, removed: the folder would exceed {self.limit_bytes:,} bytes")
        return None

    def write(self):
        """pairs.json, of all runs there are."""
        pairs = []
        for pair in self.pairs:
            if pair.name in self.skipped:
                continue
            sides = {side: {recorder: self.summary(pair, side, recorder) for recorder in RECORDERS} for side in SIDES}
            pairs.append({"name": pair.name, "changes": list(pair.changes), **sides})
        write_json(self.folder / "pairs.json", {"unit": "ms per step", "machine": self.facts, "skipped": self.skipped, "pairs": pairs})

    def summary(self, pair, side, recorder):
        """The median over processes of each one's median window, and the least and most of those."""
        jobs = [(pair, side, recorder, number) for number in range(1, self.processes + 1)]
        results = [said for said in (self.result(*job) for job in jobs) if said]
        medians = [statistics.median(said["step_ms"]) for said in results if "step_ms" in said]
        found = {"processes": len(medians), "failed": [said["failed"] for said in results if "failed" in said]}
        if medians:
            found |= {"median_ms": statistics.median(medians), "low_ms": min(medians), "high_ms": max(medians), "process_ms": medians}
        recording = next((said["recording"] for said in results if said.get("recording")), None)
        return found | {"recording": recording and f"recordings/{recording}"}
