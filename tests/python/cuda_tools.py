"""nvcc, ptxas, cuobjdump and CUPTI's line table, from the wheels pinned in tests/cuda-requirements.txt.

The wheels are installed into build/cuda on first use, by one process at a time; a stamp makes later uses free. GPUPROF_CUDA_TOOLS names another folder
with them. What cannot be had is a reason to skip.
"""

import ctypes
import fcntl
import os
import re
import shutil
import subprocess
from pathlib import Path

from patience import HANGS_S
from wheels import Unavailable, need_x86_linux, pip

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "tests/cuda-requirements.txt"


def install(folder):
    stamp = folder / "installed"
    if stamp.exists() and stamp.read_text() == REQUIREMENTS.read_text():
        return
    shutil.rmtree(folder, ignore_errors=True)
    pip("install", REQUIREMENTS.name, HANGS_S, "--target", folder, "-r", REQUIREMENTS)
    stamp.write_text(REQUIREMENTS.read_text())


def find_tools():
    """Raises Unavailable with the reason."""
    need_x86_linux()
    if shutil.which("g++") is None:
        raise Unavailable("nvcc needs g++")
    named = os.environ.get("GPUPROF_CUDA_TOOLS")
    if named:
        return Tools(Path(named))
    folder = ROOT / "build/cuda"
    folder.parent.mkdir(exist_ok=True)
    with open(folder.parent / "cuda.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(folder)
    return Tools(folder)


class Tools:
    def __init__(self, folder):
        self.home = folder / "nvidia/cu13"
        self.cupti = CuptiLines(self.home / "lib/libcupti.so.13")

    def run(self, tool, *arguments, cwd=None):
        environment = {**os.environ, "PATH": f"{self.home / 'bin'}:{os.environ['PATH']}"}
        done = subprocess.run([self.home / "bin" / tool, *map(str, arguments)], capture_output=True, text=True, env=environment, cwd=cwd, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def resources(self, cubin):
        """{function: {"REG": 10, "SHARED": 0, ...}} as cuobjdump prints it."""
        printed = self.run("cuobjdump", "-res-usage", cubin)
        found = re.findall(r"Function (\S+):\s*\n\s*(.*)", printed)
        return {name: {key: int(value) for key, value in re.findall(r"([A-Z]+):(\d+)", values)} for name, values in found}


class _LineParameters(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("cubin", ctypes.c_char_p), ("function", ctypes.c_char_p), ("cubin_size", ctypes.c_size_t),
                ("line", ctypes.c_uint32), ("offset", ctypes.c_uint64), ("file", ctypes.c_void_p), ("folder", ctypes.c_void_p)]


class CuptiLines:
    """cuptiGetSassToSourceCorrelation, which needs neither driver nor GPU."""

    def __init__(self, library):
        self.library = ctypes.CDLL(str(library))
        self.free = ctypes.CDLL(None).free
        self.free.argtypes = [ctypes.c_void_p]

    def text(self, pointer):
        """The string at `pointer`, which is the caller's to free."""
        text = ctypes.string_at(pointer).decode() if pointer else ""
        self.free(pointer)
        return text

    def line(self, cubin, function, offset):
        """(file, line) of an instruction; None without one."""
        asked = _LineParameters(ctypes.sizeof(_LineParameters), cubin, function.encode(), len(cubin), 0, offset, None, None)
        status = self.library.cuptiGetSassToSourceCorrelation(ctypes.byref(asked))
        assert status == 0, f"cuptiGetSassToSourceCorrelation: {status}"
        name, folder = self.text(asked.file), self.text(asked.folder)
        return (os.path.join(folder, name), asked.line) if asked.line else None
