"""Compiles the CUDA programs of workloads/ for machines older and newer than the build machine.

They run with every driver from r525 (CUDA 12.0) on: code for sm_80, sm_90 and sm_100, PTX of ISA 8.0 for the others, and a runtime 12.x. An
nvcc 12.8 or 12.9 from PATH has all of that. NVIDIA's PyPI packages of 12.8 have ptxas, headers and the runtime, but no nvcc; its front end
is taken from 13.0, and what that emits is declared as PTX 8.0 (8.6 for sm_100), which ptxas 12.8 verifies. These programs have the shared
runtime next to them, because no package has the static one.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

CODE_12 = ("nvidia-cuda-nvcc-cu12==12.8.*", "nvidia-cuda-runtime-cu12==12.8.*", "nvidia-cuda-cccl-cu12==12.8.*", "nvidia-nvtx-cu12==12.8.*")
FRONT_END = ("nvidia-cuda-nvcc==13.0.*", "nvidia-cuda-crt==13.0.*", "nvidia-nvvm==13.0.*")
TARGETS = ("-gencode", "arch=compute_80,code=[sm_80,compute_80]", "-gencode", "arch=compute_90,code=sm_90", "-gencode", "arch=compute_100,code=sm_100")
RUNTIME = "libcudart.so.12"
# Compressed code of newer tools cannot be read by a driver of 12.0.
OPTIONS = ("-O2", "-std=c++17", "-lineinfo", "--no-compress", "-Wno-deprecated-gpu-targets", *TARGETS)
# In place of cicc: the same, then the version of its PTX is lowered.
LOWERED = r"""#!/bin/sh
"$(dirname "$0")/cicc-13" "$@" || exit
for word; do
    [ "$before" = -o ] && sed -i -e '/^\.version/{N;s/^\.version [0-9.]*\n\.target sm_100/.version 8.6\n.target sm_100/;t;s/^\.version [0-9.]*/.version 8.0/}' "$word"
    before=$word
done
exit 0
"""


def quietly(*command, folder=None):
    """Run a command; raise RuntimeError with the last line of its output on failure."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 0:
        raise RuntimeError(f"{Path(command[0]).name}: {((done.stderr or done.stdout).strip().splitlines() or ['no reason given'])[-1][:300]}")
    return done.stdout


def installed_nvcc():
    """The nvcc of PATH if it is 12.8 or 12.9; another lacks sm_100, or needs a newer driver."""
    found = shutil.which("nvcc")
    version = re.search(r"release (\d+)\.(\d+)", quietly(found, "--version")) if found else None
    return found if version and (12, 8) <= tuple(map(int, version.groups())) < (13, 0) else None


def mixed_toolkit(folder):
    """A toolkit of the packages above in `folder`; it is made once."""
    made = folder / "toolkit-12.8"
    if (made / "complete").exists():
        return made
    shutil.rmtree(folder, ignore_errors=True)
    quietly(sys.executable, "-m", "venv", folder)
    quietly(folder / "bin/pip", "install", "--quiet", "--no-deps", *CODE_12, *FRONT_END)
    packages = next(folder.glob("lib/python*/site-packages/nvidia"))
    newer, code = packages / "cu13", packages / "cuda_nvcc"
    shutil.copytree(newer / "bin", made / "bin")
    shutil.copy2(code / "bin/ptxas", made / "bin/ptxas")
    shutil.copytree(code / "nvvm/libdevice", made / "nvvm/libdevice")
    (made / "nvvm/bin").mkdir()
    shutil.copy2(newer / "nvvm/bin/cicc", made / "nvvm/bin/cicc-13")
    (made / "nvvm/bin/cicc").write_text(LOWERED, encoding="utf-8")
    for name in ("cuda_nvcc", "cuda_runtime", "cuda_cccl", "nvtx"):
        shutil.copytree(packages / name / "include", made / "include", dirs_exist_ok=True)
    shutil.copy2(newer / "include/crt/host_runtime.h", made / "include/crt")  # what the front end's own code includes
    (made / "lib").mkdir()
    shutil.copy2(packages / "cuda_runtime/lib" / RUNTIME, made / "lib")
    (made / "lib/libcudart.so").symlink_to(RUNTIME)
    for program in (*(made / "bin").iterdir(), *(made / "nvvm/bin").iterdir()):
        if program.is_file():
            program.chmod(0o755)
    (made / "complete").write_text("")
    return made


def compile_programs(sources, target, tools):
    """Compiles each source into `target`; returns how. `tools` is a folder for the toolkit, if one must be made."""
    nvcc = installed_nvcc()
    if nvcc:
        command, how = [nvcc, *OPTIONS, "-cudart", "static"], f"{nvcc}, static runtime"
    else:
        made = mixed_toolkit(tools)
        command = [made / "bin/nvcc", *OPTIONS, "-cudart", "shared", "-cudadevrt", "none", f"-L{made / 'lib'}", "-Xlinker", "-rpath=$ORIGIN"]
        how = f"NVIDIA's packages, {RUNTIME} next to the programs"
    target.mkdir(exist_ok=True)
    for source in sources:
        quietly(*command, "-o", target / source.stem, source)
    if not nvcc:
        shutil.copy2(made / "lib" / RUNTIME, target)
    return how


def ptx_of(program):
    """{(version, target)} of the PTX in a program."""
    return set(re.findall(rb"\.version (\d+\.\d+)\s+\.target (\w+)", Path(program).read_bytes()))
