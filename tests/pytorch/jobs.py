"""Starts a job of real processes, as a user does."""

import shutil
import subprocess

# PyTorch 2.15 keeps the threads of Gloo after destroy_process_group if DistributedDataParallel used the group. On a busy machine one of them
# frees its last work while the interpreter ends, which aborts the process (pytorch/pytorch issue 190489). Such a job runs again.
ENDED_BY_PYTORCH = "terminate called without an active exception"


def run_job(command, folder, environment=None):
    for _ in range(2):
        before = set(folder.iterdir())
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode == 0 or ENDED_BY_PYTORCH not in done.stderr:
            break
        for made in set(folder.iterdir()) - before:
            shutil.rmtree(made)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
