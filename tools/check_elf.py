#!/usr/bin/env python3
"""Checks shipped ELF files: `check_elf.py [--portable] FILE|WHEEL...`.

An empty or relative run path entry makes the loader execute code from the current directory, so every entry must be
absolute or begin with $ORIGIN. Our own files must also be position-independent with full RELRO and BIND_NOW, have a
non-executable stack, and use the stack protector and _FORTIFY_SOURCE. Libraries export exactly what their version scripts
list; libgpuprof.so exactly what capi/gpuprof.h declares. All ELF files of a wheel are checked; only the rules on run paths
and stacks apply to libraries of the distribution.

With --portable (and for wheels tagged manylinux) our files may also need only the C library, of at most the versions below, and
have no run path. The facts come from `readelf`.
"""

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Our files and the files that list their exports.
OWN = {
    "gpu-profile": None,
    "libgpuprof.so": "capi/gpuprof.h",
    "libgpuprof_inject.so": "collect/inject/exports.map",
    "libgpuprof_os_calls.so": "collect/os_calls/exports.map",
    "libcupti.so": "collect/stand_in/cupti_names.def",
}
# The oldest glibc that a portable build runs on. The injected library is loaded into other people's programs, where a newer
# version would keep the program from starting.
GLIBC = {"gpu-profile": (2, 28), "libgpuprof.so": (2, 28), "libgpuprof_inject.so": (2, 17), "libcupti.so": (2, 17),
         "libgpuprof_os_calls.so": (2, 17)}
AARCH64 = re.compile(r"Machine:\s+AArch64")
C_LIBRARY = re.compile(r"(libc|libm|libdl|libpthread|librt|ld-linux-x86-64|ld-linux-aarch64)\.so\.\d")

# Code without arrays and strings, which has nothing for the stack protector and _FORTIFY_SOURCE to check.
WITHOUT_BUFFERS = ["libcupti.so"]
# Code without calls of functions that have a checked variant.
NOTHING_TO_FORTIFY = ["libgpuprof_os_calls.so"]


def readelf(path, *facts):
    command = ["readelf", "--wide", *(facts or ("--file-header", "--program-headers", "--dynamic", "--dyn-syms")), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    if done.returncode != 0:
        raise SystemExit(f"check_elf: cannot read {path}: {done.stderr.strip()}")
    return done.stdout


def symbols(text):
    """(name, defined) of each dynamic symbol, without its version."""
    pattern = re.compile(r"^\s*\d+: [0-9a-f]+\s+\S+\s+(?:\w+|<OS specific>: \d+)\s+(?:GLOBAL|WEAK)\s+\w+\s+(\w+)\s+([^\s@]+)", re.MULTILINE)
    return [(name, section != "UND") for section, name in pattern.findall(text)]


def run_path_problems(text):
    for kind, entries in re.findall(r"\((RPATH|RUNPATH)\)\s+Library \w+: \[(.*)\]", text):
        for entry in dict.fromkeys(entries.split(":")):
            if not (entry.startswith("/") or re.match(r"\$ORIGIN(/|$)", entry)):
                yield f"{kind} [{entries}] has the entry '{entry}', which the loader resolves in the current directory"


def stack_problems(text):
    flags = re.search(r"GNU_STACK(?:\s+0x[0-9a-f]+){5}\s+([RWE ]+?)\s+0", text)
    if not flags or "E" in flags[1]:
        yield "the stack is executable"


def reads_stack_guard(path, text):
    """Whether code reads the guard value of a compiler that brings its own function for a broken stack. On x86-64 the value is at
    %fs:0x28; on aarch64 the loader exports it, or it is our own (cmake/portable/stack_guard.c) and code has its address."""
    if not AARCH64.search(text):
        return path.exists() and bool(re.search(rb"\x64\x48[\x8b\x2b\x33\x3b][\x04-\x3c]\x25\x28\0\0\0", path.read_bytes()))
    if ("__stack_chk_guard", False) in symbols(text):
        return True
    if not path.exists():
        return False
    facts = readelf(path, "--sections", "--relocs")
    own = re.search(r"\.gpuprof\.guard\s+PROGBITS\s+0*([0-9a-f]+)", facts)
    return bool(own and re.search(rf"R_AARCH64_RELATIV\w*\s+0*{own[1]}$", facts, re.MULTILINE))


def hardening_problems(text, path):
    if not re.search(r"Type:\s+DYN", text):
        yield "not position-independent"
    if "GNU_RELRO" not in text or not re.search(r"\(FLAGS_1\).*\bNOW\b|\(BIND_NOW\)", text):
        yield "not linked with full RELRO (-z relro -z now)"
    if "(TEXTREL)" in text:
        yield "has text relocations"
    imported = {name for name, defined in symbols(text) if not defined}
    if not (reads_stack_guard(path, text) or ("__stack_chk_fail" in imported and not AARCH64.search(text))):
        yield "compiled without the stack protector"
    if not any(re.fullmatch(r"__\w+_chk", name) for name in imported):
        yield "compiled without _FORTIFY_SOURCE"


def listed_exports(source):
    """The names in a version script or a list of names, or the functions that a header declares."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", (ROOT / source).read_text(encoding="utf-8"), flags=re.DOTALL)
    if source.endswith(".def"):
        return {"gpuprof_cupti_stand_in", *re.findall(r"^NAME\((\w+)\)", text, re.MULTILINE)}
    if source.endswith(".map"):
        return set(re.findall(r"^\s*(\w+);", text, re.MULTILINE))
    return set(re.findall(r"^(?!typedef)[^\n]*?\b(gpuprof_\w+)\(", text, re.MULTILINE))


def export_problems(text, source):
    exported, listed = {name for name, defined in symbols(text) if defined}, listed_exports(source)
    for names, fault in ((exported - listed, f"exports, but {source} does not list,"), (listed - exported, f"does not export, but {source} lists,")):
        if names:
            yield f"{fault} {', '.join(sorted(names)[:5])}{' and more' if len(names) > 5 else ''}"


def portability_problems(text, name):
    oldest = GLIBC[name]
    versions = {tuple(map(int, found.split("."))) for found in re.findall(r"@GLIBC_([0-9.]+)", text)}
    newer = [version for version in versions if version > oldest]
    if newer:
        needing = sorted(set(re.findall(rf"(\w+)@GLIBC_{'.'.join(map(str, max(newer)))}\b", text)))
        yield f"needs glibc {'.'.join(map(str, max(newer)))} (at most {'.'.join(map(str, oldest))}): {', '.join(needing[:5])}"
    needed = re.findall(r"\(NEEDED\)\s+Shared library: \[(.*)\]", text)
    foreign = [library for library in needed if not C_LIBRARY.match(library)]
    if foreign:
        yield f"needs {', '.join(foreign)}"
    if re.search(r"\((RPATH|RUNPATH)\)", text):
        yield "has a run path, which nothing needs"
    if AARCH64.search(text) and any(int(size, 16) < 0x10000 for size in re.findall(r"^\s+LOAD\s.*(0x[0-9a-f]+)$", text, re.MULTILINE)):
        yield "segments are not aligned to 64 KiB, the page size of some aarch64 kernels"


def problems(path, optimised=True, portable=False):
    """Problems of one file. Unoptimised builds have no _FORTIFY_SOURCE."""
    text = readelf(path)
    yield from run_path_problems(text)
    yield from stack_problems(text)
    if path.name not in OWN:
        return
    for problem in hardening_problems(text, path):
        if path.name in WITHOUT_BUFFERS and "compiled without" in problem or path.name in NOTHING_TO_FORTIFY and "_FORTIFY_SOURCE" in problem:
            continue
        if optimised or "_FORTIFY_SOURCE" not in problem:
            yield problem
    if OWN[path.name]:
        yield from export_problems(text, OWN[path.name])
    if portable:
        yield from portability_problems(text, path.name)


def elf_files(argument, folder):
    """The file itself, or the ELF files of a wheel."""
    if argument.suffix != ".whl":
        return [argument]
    with zipfile.ZipFile(argument) as wheel:
        wheel.extractall(folder)
    return [path for path in sorted(Path(folder).rglob("*")) if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]


def main():
    checked, found = 0, []
    arguments = [argument for argument in sys.argv[1:] if argument != "--portable"]
    for argument in map(Path, arguments):
        portable = "--portable" in sys.argv or "manylinux" in argument.name
        with tempfile.TemporaryDirectory() as folder:
            for path in elf_files(argument, folder):
                checked += 1
                name = argument.name if argument == path else f"{argument.name}: {path.name}"
                found += [f"{name}: {problem}" for problem in problems(path, portable=portable)]
    print("\n".join(found) if found else f"{checked} ELF files without problems")
    return 1 if found or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
