"""Runs `gpu-profile bench` in a scratch folder. QUICK is enough to produce a measurement, not an accurate one."""

import json
import os
import subprocess
import sys
from pathlib import Path

from patience import HANGS_S

QUICK = ("--min-time", "0", "--min-samples", "8", "--max-samples", "8")
NO_DEVICE = {"GPUPROF_NVML": "/nonexistent/libnvidia-ml.so.1"}


class Benched:
    def __init__(self, done):
        self.status, self.text, self.errors = done.returncode, done.stdout, done.stderr
        self.said = [line for line in done.stderr.splitlines() if line.startswith("gpu-profile: ")]

    @property
    def document(self):
        return json.loads(self.text)

    @property
    def measurements(self):
        return {one["measurement"]["name"]: one["measurement"] for one in self.document["benchmarks"]}


def bench_in(folder, program, *words, file=None, environment=None):
    """Run bench on `file`, saved as bench_me.py in the folder."""
    if file is not None:
        (Path(folder) / "bench_me.py").write_text(file)
    settings = {**os.environ, "GPUPROF_PYTHON": sys.executable, **NO_DEVICE, **(environment or {})}
    done = subprocess.run([program.path, "bench", *map(str, words)], cwd=folder, env=settings, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=HANGS_S, check=False)
    return Benched(done)


def kept(name, samples, folder, *, timer="host", host="one", **more):
    """Return a result in the format of --save, with invented samples."""
    measurement = {"name": "kernel", "timer": timer, "samples": samples, **more}
    document = {"tool": "gpu-profile", "version": "0", "document": "bench", "schema": 1, "created": "", "command_line": "",
                "machine": {"host": host, "processor": "p", "processors": 1}, "benchmarks": [{"measurement": measurement}]}
    path = Path(folder) / f"{name}.json"
    path.write_text(json.dumps(document))
    return path.name
