"""Which libcupti the collector takes: the one the program has mapped, else the one that was named, the toolkit's, the system's,
the Python packages'. A copy of the fake at each place; the capture says which one was used.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from patience import HANGS_S

CODE = """
import ctypes, sys
for library in sys.argv[2:]: ctypes.CDLL(library)
cuda = ctypes.CDLL(sys.argv[1])
assert cuda.cuInit(0) == 0
"""


@pytest.fixture
def used(program, tmp_path):
    """Records a program with the fake driver at `driver`; the path of the libcupti that was used, or what was said instead."""
    fakes = program.fakes

    def place(path):
        path = tmp_path / path
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(fakes / "libcupti.so.13", path)
        return path

    def run(driver="driver/libcuda.so.1", mapped=(), **variables):
        capture, cuda = tmp_path / "run.gpuprof", tmp_path / driver
        cuda.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(fakes / "libcuda.so.1", cuda)
        environment = {k: v for k, v in os.environ.items() if k not in ("CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "GPUPROF_CUPTI")}
        done = subprocess.run([program.path, "record", "--force", "-o", capture, "--sample", "0", "--quiet", "--", sys.executable, "-c", CODE, cuda,
                               *mapped], env={**environment, **variables}, capture_output=True, text=True, timeout=HANGS_S, check=False)
        assert done.returncode == 0, done.stderr
        text = program.run("export", "csv", capture).stdout.decode()
        paths = [line.split(",", 1)[1] for line in text.splitlines() if line.startswith("cupti_path,")]
        return Path(paths[0]) if paths else text

    run.place = place
    return run


def test_named(used):
    path = used.place("mine/libcupti.so.13")
    assert used(GPUPROF_CUPTI=str(path)) == path


def test_a_mapped_one_wins(used):
    path, other = used.place("mapped/libcupti.so.13"), used.place("named/other-libcupti.so")
    assert used(mapped=[path], GPUPROF_CUPTI=str(other)) == path


@pytest.mark.parametrize("variable", ["CUDA_HOME", "CUDA_PATH"])
def test_beside_the_toolkit(used, tmp_path, variable):
    path = used.place("cuda/extras/CUPTI/lib64/libcupti.so")
    assert used(**{variable: str(tmp_path / "cuda")}) == path


def test_tritons_variable(used, tmp_path):
    path = used.place("triton/libcupti.so")
    assert used(TRITON_CUPTI_LIB_PATH=str(tmp_path / "triton")) == path


@pytest.mark.parametrize("place", ["nvidia/cu13/lib/libcupti.so.13", "nvidia/cuda_cupti/lib/libcupti.so.12"])
def test_in_pythons_packages(used, place):
    path = used.place(f"env/lib/python3/site-packages/{place}")
    assert used(driver="env/lib/python3/site-packages/jaxlib/libcuda.so.1") == path


def test_never_a_stub(used, tmp_path):
    used.place("cuda/stubs/libcupti.so")
    assert "libcupti not found" in used(GPUPROF_CUPTI=str(tmp_path / "cuda/stubs/libcupti.so"))


def test_none_at_all_is_said(used):
    assert "libcupti not found" in used()


def test_the_library_shows_and_needs_nothing_else(program):
    """It lives in other people's programs: no name of ours beyond the entry points, no library that they may have in another version."""
    library = Path(program.path).parent / "libgpuprof_inject.so"
    shown = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.split()[2::3]
    ours = {"InitializeInjection", "InitializeInjectionNvtx2", "gpuprof_record_start", "gpuprof_record_stop", "gpuprof_record_step",
            "_exit", "_Exit", "gpuprof_cupti_function"}
    assert {name for name in shown if not name.startswith("cupti")} == ours
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    libraries = {line.split("[")[1].rstrip("]") for line in needed.splitlines() if "(NEEDED)" in line}
    assert libraries <= {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2"}


REFUSING = """
#include <stddef.h>
int cuptiGetVersion(unsigned* v) { *v = 130000; return 0; }
int cuptiActivityRegisterCallbacks(void* a, void* b) { return %(register)d; }
int cuptiActivityEnable(unsigned kind) { return %(enable)d; }
int cuptiActivityDisable(unsigned kind) { return %(enable)d; }
int cuptiActivityGetNextRecord(void* b, size_t n, void** r) { return 12; }
int cuptiActivityFlushAll(unsigned flag) { return %(enable)d; }
void fake_cupti_started(void) {}
void fake_cupti_call(unsigned domain, unsigned cbid) {}
"""


@pytest.mark.parametrize("codes", [{"register": 999, "enable": 999}, {"register": 0, "enable": 15}], ids=["13", "12"])
def test_one_that_is_newer_than_the_driver_is_passed_over(used, tmp_path, codes):
    refusing, source = tmp_path / "new" / "libcupti.so.13", tmp_path / "refusing.c"
    refusing.parent.mkdir()
    source.write_text(REFUSING % codes)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", refusing, source], check=True)
    path = used.place("cuda/extras/CUPTI/lib64/libcupti.so")
    assert used(GPUPROF_CUPTI=str(refusing), CUDA_HOME=str(tmp_path / "cuda")) == path


def test_of_two_mapped_copies_the_newest_wins(used, tmp_path):
    old, source = tmp_path / "bundle" / "libcupti.so.12", tmp_path / "old.c"
    old.parent.mkdir()
    source.write_text(REFUSING.replace("130000", "28") % {"register": 0, "enable": 0})
    subprocess.run(["cc", "-shared", "-fPIC", "-o", old, source], check=True)
    new = used.place("newer/libcupti.so.13")
    assert used(mapped=[old, new]) == new
    assert used(mapped=[new, old]) == new


def test_the_stand_in_has_every_name_of_cupti(program):
    """Indirect functions, found by lookups only: in a process without the recorder they are absent."""
    library = Path(program.path).parent / "cupti_stand_in" / "libcupti.so"
    shown = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in shown.splitlines() if " i " in line}
    assert len(names) > 200
    assert {"cuptiActivityEnable", "cuptiActivityEnable_v2", "cuptiSubscribe", "cuptiGetCubinCrc"} <= names
    code = f"import ctypes; print(hasattr(ctypes.CDLL('{library}'), 'cuptiActivityEnable'))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
