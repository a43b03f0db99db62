"""`record` on the fake program that plays a script: the base of tests of recorded CUDA programs."""

import os
import subprocess

from injected import SANITIZERS
from patience import HANGS_S
from program import Outcome


# The start of a Python program that can play its script, sys.argv[1].
PLAY = """
import ctypes, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
def play(turn, how=b"paced"): assert cuda.fake_cuda_play(sys.argv[1].encode(), b"time=%s live inline first=%d" % (how, turn)) == 0
"""


def fake_environment(program, rules="", **variables):
    """Put the fake libcuda and libcupti first in the search path; `rules` are their faults
    (tests/fakes/cupti/faults.h)."""
    return {**os.environ, "LD_LIBRARY_PATH": str(program.fakes), "GPUPROF_FAKE_CUPTI_SCRIPT": rules, **SANITIZERS, **variables}


def record_played(program, script, capture, *options, play="time=start live", arguments=(), rules="", environment=()):
    command = [program.fakes / "fake_program", "--script", script, "--play", play, *arguments]
    done = subprocess.run([program.path, "record", "-o", capture, *options, "--", *command],
                          env=fake_environment(program, rules, **dict(environment)), capture_output=True, timeout=HANGS_S, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)
