"""Ends the fake program at random moments while it is recorded, and checks the result. Part of tests/soak/kills.py.

After every death, the exit status must be that of the program alone, and the capture must be readable. It must not have more
kernels than were replayed, or kernels with other names. It must be marked killed if and only if its end chunk is missing, and
truncated if and only if it ends within a chunk. Nothing else may be lost except what a flush at exit could not get.
"""

import random
import resource
import signal
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "python"))

from injected import Injected, chunk_kinds, kernels_of  # noqa: E402
from recordings_of_cupti import KERN, lines, script_of  # noqa: E402

STATUS = {"kill": -signal.SIGKILL, "abort": -signal.SIGABRT, "_exit": 5, "quick": 5, "exit": 5, "thread": 5}
ORDERLY = {"exit", "thread", "quick", "_exit"}  # exit handlers run, or the library sees the call
PLAYS = ("time=paced live", "time=start live", "time=start live copies=2", "time=start live repeat=20", "inline live")
RULES = ("", "", "late 5", "shuffle 3", "running 2", "slow cuptiActivityFlushAll 20", "keep 1", "unfinished 3", "zero_times 7")
END = 3  # core/format/chunk.h


class Case:
    def __init__(self, seed, number):
        chance = random.Random(f"{seed}/{number}")
        self.end = chance.choice(list(STATUS))
        self.after_us = int(10 ** chance.uniform(1, 6)) - 10  # 0 to 1 s
        self.threads, self.times = chance.choice((1, 2, 4)), chance.choice((1, 10, 50))
        self.nvtx = chance.random() < 0.7
        self.play, self.rules = chance.choice(PLAYS), chance.choice(RULES)

    def __str__(self):
        return (f"{self.end} after {self.after_us} us, {self.threads} threads, {self.times} times, nvtx {self.nvtx}, "
                f"play '{self.play}', rules '{self.rules}'")

    def arguments(self):
        return ["--threads", self.threads, "--times", self.times, "--end", self.end, "--end-after-us", self.after_us,
                *(["--nvtx"] if self.nvtx else [])]

    def most_kernels(self, of_script):
        sets = {"copies=2": 2, "repeat=20": 20}.get(self.play.split()[-1], 1)
        return of_script * self.threads * self.times * sets


class Soak:
    def __init__(self, program, folder, seed=1):
        self.program, self.folder, self.seed = program, Path(folder), seed
        self.script = script_of(KERN, folder)
        self.kernels = sum(record["kind"] == "KERNEL" for record in lines(KERN))
        names = Injected(program, self.folder / "whole", self.script)
        names.run()
        self.names = {row["name"] for row in names.tables(names.files()[0], "kernels")[0]}
        assert len(self.names) > 5
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # for the children: abort leaves none

    def die(self, number):
        """One death: what happened in a word, and what is wrong (None: nothing)."""
        case = Case(self.seed, number)
        spool = Injected(self.program, self.folder / str(number), self.script)
        done = spool.run(*case.arguments(), play=case.play, rules=case.rules, preload=True)
        try:
            return (case.end, *self.check(case, done, spool))
        except AssertionError as error:
            return case.end, 0, 0, f"{number}: {case}: {error}"
        finally:
            spool.empty()
            spool.folder.rmdir()

    def check(self, case, done, spool):
        assert done.returncode == STATUS[case.end], f"status {done.returncode}, {done.stderr[-300:]}"
        assert done.stderr == b"", done.stderr[-300:]
        files = spool.files()
        assert len(files) <= 1
        if not files or files[0].stat().st_size == 0:
            assert case.end not in ORDERLY, "an orderly end left nothing"
            return 0, 0, None
        kernels, losses = spool.tables(files[0], "kernels", "losses")
        count, kinds = kernels_of(kernels), {row["kind"] for row in losses if row["severity"] == "data"}
        assert count <= case.most_kernels(self.kernels), f"{count} kernels"
        assert {row["name"] for row in kernels} <= self.names
        whole, torn = chunk_kinds(files[0].read_bytes())
        ended = torn == 0 and whole[-1:] == [END]
        said = {"truncated"} if torn else set() if ended else {"killed_process"}
        assert kinds & {"truncated", "killed_process"} == said, f"end chunk: {ended}, {torn} torn bytes, losses: {kinds}"
        assert ended or case.end not in ORDERLY, "an orderly end left no end chunk"
        assert kinds <= {"truncated", "killed_process", "recorder_loss", "unfinished_op", "untimed_op", "launch_without_kernel",
                         "copy_without_record", "work_without_call"}, kinds
        return count, torn, None
