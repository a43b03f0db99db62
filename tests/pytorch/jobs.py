"""Starts a job of real processes, as a user does."""

import subprocess
import sys
from pathlib import Path

TORCHRUN = Path(sys.executable).with_name("torchrun")


def launch(folder, processes, *command):
    done = subprocess.run([TORCHRUN, "--nproc-per-node", str(processes), *command], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
