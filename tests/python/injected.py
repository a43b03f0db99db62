"""Runs the fake program with the injected library, with the same setup as `record` but without it: faster, and the
files of its processes can be inspected one at a time.

`Injected.run` returns the exit status and output, `Injected.files` the files in the folder.
"""

import concurrent.futures
import os
import struct
import subprocess
from pathlib import Path

from patience import HANGS_S

HEADER = struct.Struct("<8sIIIII")  # header of a chunk: core/format/chunk.h
# These programs deliberately end while their threads run.
SUPPRESSIONS = Path(__file__).resolve().parents[1] / "sanitizers" / "tsan.supp"
SANITIZERS = {"TSAN_OPTIONS": f"report_thread_leaks=0:suppressions={SUPPRESSIONS}", "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"}


def chunk_kinds(data):
    """Return the kinds of the complete chunks from the start, and the number of bytes after them."""
    kinds, at = [], 0
    while at + HEADER.size <= len(data):
        _, kind, length, *_ = HEADER.unpack_from(data, at)
        if at + HEADER.size + length > len(data):
            break
        kinds.append(kind)
        at += HEADER.size + length
    return kinds, len(data) - at


def sanitized(program):
    """Return whether the library and the fakes were built with sanitizers."""
    return not (program.fakes / "libfaultio.so").exists()


class Injected:
    def __init__(self, program, folder, script):
        self.program, self.folder, self.script = program, Path(folder), script
        self.fakes = program.fakes
        self.folder.mkdir(parents=True, exist_ok=True)

    def environment(self, rules="", faults="", counts=None, words="", preload=False):
        """`preload`: also preload the library, like `record`."""
        library = Path(self.program.path).parent / "libgpuprof_inject.so"
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.fakes), "GPUPROF_FAKE_CUPTI_SCRIPT": rules,
                       "CUDA_INJECTION64_PATH": str(library), "NVTX_INJECTION64_PATH": str(library),
                       "GPUPROF_RECORD_DIR": str(self.folder), "GPUPROF_RECORD": words, **SANITIZERS}
        if preload:
            environment["LD_PRELOAD"] = str(library)
        if faults or counts:
            libraries = f"{os.environ.get('LD_PRELOAD', '')} {self.fakes / 'libfaultio.so'}".strip()
            environment |= {"LD_PRELOAD": libraries, "GPUPROF_FAULTIO": faults}
        if counts:
            environment["GPUPROF_FAULTIO_COUNTS"] = str(counts)
        return environment

    def command(self, *arguments, play="time=start live"):
        return [self.fakes / "fake_program", "--script", self.script, "--play", play, *map(str, arguments)]

    def run(self, *arguments, play="time=start live", preexec=None, **faults):
        return subprocess.run(self.command(*arguments, play=play), env=self.environment(**faults), capture_output=True,
                              timeout=HANGS_S, check=False, preexec_fn=preexec)

    def files(self):
        return sorted(self.folder.glob("*.gpuprof"))

    @property
    def sanitized(self):
        return sanitized(self.program)

    def empty(self):
        for file in self.folder.iterdir():
            file.unlink()

    def tables(self, file, *names):
        """Return the rows of each analysis; the file must be readable."""
        report = self.program.report(file, *names)
        return [report[name].rows for name in names]

    def losses(self, file):
        return {row["kind"]: row["count"] for row in self.tables(file, "losses")[0]}


def kernels_of(rows):
    return sum(row["count"] for row in rows)


def in_parallel(check, cases, jobs=2):
    """Run check(number, case) for each case on several threads; return the errors in order."""

    def attempt(numbered):
        try:
            check(*numbered)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            return f"{numbered[1]}: {error}"

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [error for error in pool.map(attempt, enumerate(cases)) if error]
