#!/usr/bin/env python3
"""Kills processes of a recording at random moments, and checks what is left: the recorded program, `record` itself, or the
sampler of the devices.

    tests/soak/kills.py BINARY [--count 10000] [--seed 1] [--jobs 2] [--only target|launcher|sampler]

    target     deaths.py: 80 % of the runs
    launcher   SIGKILL to `record`. The program must continue and end as it does alone. The capture, if it exists, must contain
               every kernel without a loss, otherwise the parts must
    sampler    SIGKILL to the process that samples the devices, one to three times. The program and its kernels must be
               unaffected, and the capture must say that samples are missing

Prints a table by victim. tests/python/record/test_record_deaths.py runs 300 of them.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "python"), str(TESTS / "soak")]

from deaths import Soak  # noqa: E402
from injected import SANITIZERS, kernels_of  # noqa: E402
from program import Program  # noqa: E402

VICTIMS = ("target",) * 8 + ("launcher", "sampler")
ENDS = {"": 0, "exit": 5, "_exit": 5, "quick": 5}
TIMEOUT_S = 20
# Reports its start and how the command after it ended, for any waiting process.
SHELL = 'echo > "$FOLDER/begun"; "$@"; echo $? > "$FOLDER/new" && mv "$FOLDER/new" "$FOLDER/status"'
DEVICE = "device name=NVIDIA_H200\nset 0 util_gpu 75\nset 0 power_w 300\n"


def wait_for(condition, seconds=TIMEOUT_S):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := condition():
            return found
        time.sleep(0.005)
    return None


def children(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def is_sampler(pid):
    """Of the children of `record` the only one that runs its program; the command is one too until it is executed."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()  # before its program: it may be executed in between
        return b"record" not in command and os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "gpu-profile"
    except OSError:
        return False


class Recording:
    """`record` of the fake program, started; `soak` knows the script and its kernels."""

    def __init__(self, soak, number, victim):
        self.soak, self.chance = soak, random.Random(f"{soak.seed}/{victim}/{number}")
        self.folder = soak.folder / f"{victim}-{number}"
        self.folder.mkdir()
        self.capture = self.folder / "run.gpuprof"
        self.end = self.chance.choice(list(ENDS))
        self.times, self.threads = self.chance.choice((1, 5)), self.chance.choice((1, 2))

    def start(self, *options, sleep_ms=0, **variables):
        program = self.soak.program
        environment = {**os.environ, **SANITIZERS, "LD_LIBRARY_PATH": str(program.fakes), "FOLDER": str(self.folder), **variables}
        command = [program.fakes / "fake_program", "--script", self.soak.script, "--play", "time=start live", "--nvtx", "--times", self.times,
                   "--threads", self.threads, "--sleep-ms", sleep_ms, *(["--end", self.end] if self.end else [])]
        return subprocess.Popen([program.path, "record", "-o", self.capture, "--trace", "cuda,nvtx", "--quiet", *options, "--",
                                 "sh", "-c", SHELL, "sh", *map(str, command)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    @property
    def status(self):
        return self.folder / "status"

    def check_target(self):
        assert wait_for(self.status.exists), "the program did not end"
        assert int(self.status.read_text()) == ENDS[self.end], f"status {self.status.read_text()}"

    def check_complete(self, files):
        """The kernels of all files together are what was played, and nothing is said to be lost; other losses are returned."""
        count, others = 0, []
        for file in files:
            report = self.soak.program.report(file, "kernels", "losses")
            count += kernels_of(report["kernels"].rows)
            others += [row["kind"] for row in report["losses"].rows if row["severity"] == "data"]
        expected = self.soak.kernels * self.times * self.threads
        assert count == expected, f"{count} of {expected} kernels, losses {others}"
        return others


def kill_launcher(recording):
    """Kernels found."""
    process = recording.start("--sample", "0")
    time.sleep(10 ** recording.chance.uniform(-3, -0.3))
    process.kill()
    process.communicate(timeout=TIMEOUT_S)
    if not wait_for((recording.folder / "begun").exists, 1):
        assert not recording.capture.exists()
        return 0  # killed before it started anything
    recording.check_target()
    parts = [file for file in recording.folder.glob("run.gpuprof.parts-*/*.gpuprof")
             if file.stat().st_size > 0 and not file.name.startswith("beside-")]
    losses = recording.check_complete([recording.capture] if recording.capture.exists() else parts)
    assert losses == [], losses
    return recording.soak.kernels


def kill_sampler(recording):
    script = recording.folder / "driver.txt"
    script.write_text(DEVICE)
    process = recording.start("--sample", "0.01", sleep_ms=recording.chance.choice((50, 300)), GPUPROF_FAKE_NVML=str(script),
                              GPUPROF_NVML=str(recording.soak.program.fakes / "libnvidia-ml.so.1"))
    killed = 0
    for _ in range(recording.chance.choice((1, 1, 2, 3))):
        time.sleep(10 ** recording.chance.uniform(-3, -1))
        sampler = wait_for(lambda: [pid for pid in children(process.pid) if is_sampler(pid)], 1)
        if sampler and not recording.status.exists():
            os.kill(sampler[0], signal.SIGKILL)
            time.sleep(0.02)  # seen while the command still runs?
            killed += not recording.status.exists()
    errors = process.communicate(timeout=TIMEOUT_S)[1]
    assert process.returncode == 0, errors[-300:]  # that of the shell
    recording.check_target()
    losses = recording.check_complete([recording.capture])
    assert set(losses) <= {"recorder_loss"}, losses
    assert losses or not killed, "the sampler was killed and nothing says so"
    return recording.soak.kernels


class Kills:
    def __init__(self, program, folder, seed=1, only=None):
        self.soak, self.only = Soak(program, folder, seed), only

    def kill(self, number):
        """The victim, how it ended, kernels found, and what is wrong (None: nothing)."""
        victim = self.only or VICTIMS[number % len(VICTIMS)]
        if victim == "target":
            end, kernels, _, error = self.soak.die(number)
            return victim, end, kernels, error
        recording = Recording(self.soak, number, victim)
        try:
            return victim, "kill", (kill_launcher if victim == "launcher" else kill_sampler)(recording), None
        except (AssertionError, subprocess.TimeoutExpired) as error:
            return victim, "kill", 0, f"{number}: {victim}, end '{recording.end}', {recording.times} times: {error}"
        finally:
            shutil.rmtree(recording.folder, ignore_errors=True)

    def run(self, numbers, jobs):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(self.kill, numbers)


def main():
    parser = argparse.ArgumentParser(description="Kills recorded programs, record and its sampler at random moments.")
    parser.add_argument("binary", type=Path, help="gpu-profile, with the injected library and fakes/ next to it")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first kill, to repeat one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", choices=sorted(set(VICTIMS)))
    options = parser.parse_args()
    begun, kernels, errors = time.monotonic(), 0, 0
    runs, empty = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        kills = Kills(Program(str(options.binary.resolve())), folder, options.seed, options.only)
        for victim, end, count, error in kills.run(range(options.first, options.first + options.count), options.jobs):
            runs[victim, end] += 1
            empty[victim, end] += count == 0
            kernels += count
            errors += error is not None
            if error:
                print(error, flush=True)
    print(f"{'victim':10} {'end':8} {'runs':>6} {'without kernels':>16}")
    for (victim, end), count in sorted(runs.items()):
        print(f"{victim:10} {end:8} {count:6} {empty[victim, end]:16}")
    print(f"{sum(runs.values())} kills in {time.monotonic() - begun:.0f} s: {kernels} kernels read, {errors} errors")
    return errors > 0


if __name__ == "__main__":
    sys.exit(main())
