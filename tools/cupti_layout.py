"""Compares structures of ours with CUPTI's headers by compiling assertions: sizes, offsets and constants."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CXX = os.environ.get("CXX", "c++")
CUDA_H = "typedef struct CUctx_st* CUcontext;\ntypedef int CUdevice;\n"


def assertions(space, structures, constants, size, common):
    for line in structures.strip().splitlines():
        ours, theirs, *fields = line.split()
        parameters = not ours.startswith("-")
        ours = ours.lstrip("-")
        if parameters:  # a newer structure may be longer: CUPTI goes by the size that it is given
            yield f"static_assert(sizeof({space}::{ours}) <= sizeof({theirs}));"
            yield f"static_assert({space}::{ours}{{}}.size <= {theirs}{size});"
        else:
            yield f"static_assert(sizeof({space}::{ours}) == sizeof({theirs}));"
        for field in [*(common if parameters else []), *fields]:
            our, their = field.split(":")
            yield f"static_assert(offsetof({space}::{ours}, {our}) == offsetof({theirs}, {their}));"
            yield f"static_assert(sizeof({space}::{ours}::{our}) == sizeof({theirs}::{their}));"
    for line in constants.strip().splitlines():
        ours, theirs = line.split()
        yield f"static_assert({space}::{ours} == static_cast<int>({theirs}));"


def compare(usage, ours, space, header, structures, constants, size="_STRUCT_SIZE", common=("size:structSize", "reserved:pPriv")):
    """Compile the assertions with the headers in the folder that the command line names; return an exit status.

    `structures`: a line each: our name, CUPTI's name, and the fields as ours:theirs; a name after `-` has no parameters' size. `constants`:
    our name, CUPTI's name. `size`: the end of the macro with a structure's size. `common`: fields of all structures with one.
    """
    if len(sys.argv) != 2:
        sys.exit(usage)
    headers = [name + ".h" for name in (header, "cupti_profiler_host", "cupti_profiler_target", "cupti_target")]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "cuda.h").write_text(CUDA_H)
        includes = "".join(f"#include <{name}>\n" for name in ["cuda.h", *headers])
        source = Path(folder, "layout.cc")
        source.write_text(f'{includes}#include "{ours}"\nnamespace {space} = gpuprof::{space};\n' + "\n".join(assertions(space, structures, constants, size, common)) + "\n")
        done = subprocess.run([CXX, "-std=c++20", "-fsyntax-only", f"-I{ROOT}", f"-I{folder}", f"-I{sys.argv[1]}", source], check=False)
    print(f"{ours} {'differs from' if done.returncode else 'agrees with'} CUPTI's headers")
    return done.returncode
