"""Programs with planted slow steps under `record`, and what a recording of them kept: for test_record_slow_steps*.py."""

import sys

from played import PLAY, fake_environment
from recordings_of_cupti import ROOT

START = PLAY + """
import os
def parts(): return sorted(name for name in os.listdir(os.environ["GPUPROF_RECORD_DIR"]) if name.startswith(f"{os.getpid()}-"))
import nvtx, gpu_profile
"""


def planted(length=1):
    """Steps of `length` times 5 ms, and three that take much longer."""
    return f"""
slow = {{40: {0.8 * length}, 70: {1.2 * length}, 100: {length}}}
for number in range(1, 151):
    with nvtx.annotate("step"):
        play(number)
        time.sleep(slow.get(number, {0.005 * length}))
"""


PLANTED = planted()


class Recorded:
    def __init__(self, program, capture, errors):
        self.program, self.capture, self.errors = program, capture, errors

    def meta(self, key):
        done = self.program.run("query", self.capture, f"select value from meta where key = '{key}'", "--format", "csv")
        assert done.status == 0, done.errors
        return [line.strip('"') for line in done.stdout.decode().splitlines()[1:]]

    def kept(self):
        """Numbers of the kept steps and their durations in seconds, slowest first."""
        facts = [dict(word.split("=", 1) for word in value.split()) for value in self.meta("kept_step")]
        return sorted(((int(fact["step"]), int(fact["duration_ns"]) / 1e9) for fact in facts), key=lambda step: -step[1])

    def kernels(self):
        return sum(row["count"] for row in self.program.report(self.capture, "kernels")["kernels"].rows)

    def ranges(self):
        return {row["path"]: row["count"] for row in self.program.report(self.capture, "ranges")["ranges"].rows}

    def losses(self):
        return {row["kind"]: row["count"] for row in self.program.report(self.capture, "losses")["losses"].rows if row["severity"] == "data"}


def command_line(program, capture, script, code, *options):
    return [program.path, "record", "-o", capture, "--sample", "0", "--quiet", *options, "--", sys.executable, "-c", START + code, script]


def python_environment(program, rules="", **variables):
    return fake_environment(program, rules, PYTHONPATH=str(ROOT / "python"), **variables)
