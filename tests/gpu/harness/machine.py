"""The machine that the checks run on: its facts, determined once and cached, and why a requirement of a check is missing.

Frameworks are queried in separate processes with a time limit, because importing one may take half a minute on a fresh machine,
hang or crash. Nothing here changes a setting of the GPU.
"""

import datetime
import os
import platform
import shutil
import sys
from pathlib import Path

from . import elf, processes
from .check import read_json, write_json

CUDA = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
code = cuda.cuInit(0)
assert code == 0, f"cuInit answers {code}"
count, name = ctypes.c_int(), ctypes.create_string_buffer(256)
cuda.cuDeviceGetCount(ctypes.byref(count))
assert count.value > 0, "CUDA sees no device"
cuda.cuDeviceGetName(name, 256, 0)
print(name.value.decode())
"""
MODULES = {
    "torch": "import torch; assert torch.cuda.is_available(), 'it sees no CUDA device'; print(torch.__version__)",
    "triton": "import torch, triton; assert torch.cuda.is_available(), 'it sees no CUDA device'; print(triton.__version__)",
    "proton": "import triton.profiler; print('there')",
    "jax": "import jax; assert jax.devices()[0].platform in ('gpu', 'cuda'), 'it sees no GPU'; print(jax.__version__)",
    "nvbench": "import importlib, sys\nfor name in ('cuda.bench', 'cuda.nvbench'):\n    try:\n        importlib.import_module(name)\n"
               "        print(name)\n        sys.exit(0)\n    except ImportError:\n        pass\nsys.exit('neither cuda.bench nor cuda.nvbench')",
}
ADVICE = {"torch": "PyTorch", "triton": "Triton", "proton": "Proton (triton.profiler)", "jax": "JAX", "nvbench": "nvbench (pip: cuda-bench)"}
PROBE_S = 90


class Machine:
    """`root` is the packed folder, or the checkout; `work` keeps the answers."""

    def __init__(self, root, work, python=None):
        self.root, self.work = Path(root), Path(work)
        self.python = python or os.environ.get("PYTHON") or sys.executable
        self.pack = read_json(self.root / "pack.json", {})
        package = self.root / "python"
        places = [package / "gpu_profile" / "_native", self.root / "build" / "release"]
        named = os.environ.get("GPUPROF_BIN")
        self.program = Path(named) if named else next((each / "gpu-profile" for each in places if (each / "gpu-profile").exists()), None)
        self.programs = Path(os.environ.get("GPUPROF_GPU_PROGRAMS") or self.root / "programs")
        self.workloads = self.root / "tests" / "gpu" / "workloads"
        self.answers = Path(work) / "probed.json"
        self.known = read_json(self.answers, {})
        self.small = "GPU_CHECKS_SMALL" in os.environ

    def unusable(self):
        """Why nothing at all can be checked here, or None."""
        if self.program is None:
            return f"no gpu-profile under {self.root}: build it (./run), or pack it (tests/gpu/pack)"
        if not os.access(self.program, os.X_OK):
            return f"{self.program} cannot be run: it is missing or not executable"
        if platform.machine() != self.pack.get("machine", platform.machine()):
            return f"the binaries are for {self.pack['machine']}: this machine is {platform.machine()}; pack on one like it"
        reason = elf.missing_here(self.pack.get("glibc", (2, 0)), self.pack.get("libraries", ()), self.program.parent)
        if reason:
            return reason
        done = processes.run([str(self.program), "--version"], 30)
        return None if done.ok else f"{self.program} --version: {done.why()}"

    def environment(self):
        """Of every command that a check runs: our package first, and our program and Python by name."""
        variables = dict(os.environ)
        paths = [str(self.root / "python"), variables.get("PYTHONPATH", "")]
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        variables["GPUPROF_BIN"] = str(self.program)
        library = self.program.parent / "libgpuprof.so"
        if library.exists():
            variables.setdefault("GPUPROF_LIBRARY", str(library))
        variables.setdefault("GPUPROF_PYTHON", self.python)
        return variables

    def missing(self, needs):
        """Why a check cannot be made here, or None."""
        return next(filter(None, map(self._missing, needs)), None)

    def _missing(self, need):
        if need == "gpu":
            return self._asked("gpu", lambda: self._probe(CUDA), "no GPU: ")
        if need in MODULES:
            return self._asked(need, lambda: self._probe(MODULES[need]), f"{ADVICE[need]} cannot be used: ")
        if need == "programs":
            if not os.access(self.programs / "storm", os.X_OK):
                return f"CUDA programs were not packed: {self.pack.get('no_programs', 'nothing was compiled')}"
            return self._asked("programs", lambda: self._tried([str(self.programs / "storm"), "launches", "1"]), "CUDA programs do not run here: ")
        if need == "cupti":
            return None if self.cupti() else "libcupti not found beside PyTorch or JAX, nor in a CUDA toolkit"
        return None if shutil.which(need) else f"{need} is not installed"

    def _asked(self, name, ask, prefix):
        if name not in self.known:
            self.known[name] = ask()
            write_json(self.answers, self.known)
        answer = self.known[name]
        return None if answer["ok"] else prefix + answer["said"]

    def _probe(self, code):
        return self._tried([self.python, "-c", code])

    def _tried(self, command):
        done = processes.run(command, PROBE_S, self.environment())
        return {"ok": done.ok, "said": done.out.strip().splitlines()[-1] if done.ok and done.out.strip() else done.why(),
                "seconds": round(done.seconds, 1)}

    def cupti(self):
        """The libcupti of the Python packages, for programs that have none of their own."""
        if os.environ.get("GPUPROF_CUPTI"):
            return os.environ["GPUPROF_CUPTI"]
        if "cupti" not in self.known:
            code = "import glob, sys\nfor path in sys.path:\n    for found in sorted(glob.glob(path + '/nvidia/*/lib/libcupti.so.*')): print(found)"
            found = processes.run([self.python, "-c", code], PROBE_S, self.environment()).out.split()
            found += [str(path) for path in Path("/usr/local").glob("cuda*/**/libcupti.so.1?")]
            self.known["cupti"] = found[0] if found else None
            write_json(self.answers, self.known)
        return self.known["cupti"]

    def facts(self):
        if "facts" not in self.known:
            program = processes.run([str(self.program), "--version"], 30)
            smi = processes.run(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"], 30)
            first = smi.out.splitlines()[0].split(", ") if smi.ok and smi.out else ["", ""]
            glibc = elf.glibc_here()
            self.known["facts"] = {
                "gpu": first[0] or self.known.get("gpu", {}).get("said"), "driver": first[1] if len(first) > 1 else "", "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
                "program": program.out.strip(), "commit": self.pack.get("commit"), "python": platform.python_version(),
                "glibc": ".".join(map(str, glibc)) if glibc else None, "kernel": platform.release(), "cpus": os.cpu_count(),
            }
            write_json(self.answers, self.known)
        modules = {name: answer["said"] for name, answer in self.known.items() if name in MODULES}
        return {**self.known["facts"], "modules": modules, "cupti": self.known.get("cupti")}
