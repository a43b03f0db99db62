#!/usr/bin/env python3
"""Checks shipped ELF files: `check_elf.py FILE|WHEEL...`.

An empty or relative run path entry makes the loader execute code from the current directory, so every entry must be
absolute or begin with $ORIGIN. Our own files must also be position-independent with full RELRO and BIND_NOW, have a
non-executable stack, and use the stack protector and _FORTIFY_SOURCE. Libraries may export only the entry points listed
below. All ELF files of a wheel are checked; only the rules on run paths and stacks apply to libraries of the
distribution. The facts come from `readelf`.
"""

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# Our files and their allowed exports. The CUDA driver and NVTX call the injected library; programs call it in place of CUPTI and of
# the functions that end a process.
OWN = {
    "gpu-profile": None,
    "libgpuprof.so": r"gpuprof_\w+",
    "libgpuprof_tls.so": r"gpuprof_\w+",
    "libgpuprof_inject.so": r"InitializeInjection(Nvtx2)?|_exit|_Exit|cupti[A-Z]\w+|gpuprof_cupti_function|gpuprof_record_(start|stop|step)",
    "libcupti.so": r"cupti[A-Z]\w+|gpuprof_cupti_stand_in",
}

# Code without arrays and strings, which has nothing for the stack protector and _FORTIFY_SOURCE to check.
WITHOUT_BUFFERS = ["libcupti.so"]


def readelf(path):
    command = ["readelf", "--wide", "--file-header", "--program-headers", "--dynamic", "--dyn-syms", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    if done.returncode != 0:
        raise SystemExit(f"check_elf: cannot read {path}: {done.stderr.strip()}")
    return done.stdout


def symbols(text):
    """(name, defined, binding) of each dynamic symbol, without its version."""
    pattern = re.compile(r"^\s*\d+: [0-9a-f]+\s+\S+\s+\w+\s+(GLOBAL|WEAK)\s+\w+\s+(\w+)\s+([^\s@]+)", re.MULTILINE)
    return [(name, section != "UND") for _, section, name in pattern.findall(text)]


def run_path_problems(text):
    for kind, entries in re.findall(r"\((RPATH|RUNPATH)\)\s+Library \w+: \[(.*)\]", text):
        for entry in dict.fromkeys(entries.split(":")):
            if not (entry.startswith("/") or re.match(r"\$ORIGIN(/|$)", entry)):
                yield f"{kind} [{entries}] has the entry '{entry}', which the loader resolves in the current directory"


def stack_problems(text):
    flags = re.search(r"GNU_STACK(?:\s+0x[0-9a-f]+){5}\s+([RWE ]+?)\s+0x", text)
    if not flags or "E" in flags[1]:
        yield "the stack is executable"


def hardening_problems(text):
    if not re.search(r"Type:\s+DYN", text):
        yield "not position-independent"
    if "GNU_RELRO" not in text or not re.search(r"\(FLAGS_1\).*\bNOW\b|\(BIND_NOW\)", text):
        yield "not linked with full RELRO (-z relro -z now)"
    if "(TEXTREL)" in text:
        yield "has text relocations"
    imported = {name for name, defined in symbols(text) if not defined}
    if "__stack_chk_fail" not in imported:
        yield "compiled without the stack protector"
    if not any(re.fullmatch(r"__\w+_chk", name) for name in imported):
        yield "compiled without _FORTIFY_SOURCE"


def export_problems(text, allowed):
    foreign = sorted(name for name, defined in symbols(text) if defined and not re.fullmatch(allowed, name))
    if foreign:
        yield f"exports {', '.join(foreign[:5])}{' and more' if len(foreign) > 5 else ''}"


def problems(path, optimised=True):
    """Problems of one file. Unoptimised builds have no _FORTIFY_SOURCE."""
    text = readelf(path)
    yield from run_path_problems(text)
    yield from stack_problems(text)
    if path.name not in OWN:
        return
    for problem in hardening_problems(text):
        if path.name in WITHOUT_BUFFERS and "compiled without" in problem:
            continue
        if optimised or "_FORTIFY_SOURCE" not in problem:
            yield problem
    if OWN[path.name]:
        yield from export_problems(text, OWN[path.name])


def elf_files(argument, folder):
    """The file itself, or the ELF files of a wheel."""
    if argument.suffix != ".whl":
        return [argument]
    with zipfile.ZipFile(argument) as wheel:
        wheel.extractall(folder)
    return [path for path in sorted(Path(folder).rglob("*")) if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]


def main():
    checked, found = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for argument in map(Path, sys.argv[1:]):
            for path in elf_files(argument, folder):
                checked += 1
                found += [f"{argument.name if argument == path else f'{argument.name}: {path.name}'}: {problem}" for problem in problems(path)]
    print("\n".join(found) if found else f"{checked} ELF files without problems")
    return 1 if found or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
