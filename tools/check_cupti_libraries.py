#!/usr/bin/env python3
"""Compares NVIDIA's CUPTI libraries, 11.8 to 13.5, with what we expect of them, and runs clients of each under `record`.

    tools/check_cupti_libraries.py [--program build/w/gpu-profile] [--cache FOLDER]

Downloads the packages from pip's index (about 160 MB, cached). Of each library it checks that the functions which the collector needs are
there, that those of the second interface appear with the version that `cupti_v2.cc` asks for, and that our stand-in has every function.
Then it runs small clients on this machine, one linked with the library and one that finds it by dlsym, alone and under `record`: exit
status and every answer must be the same. Without a driver CUPTI refuses most calls, and 13.2 crashes; that too must be the same. It needs
a network and a C compiler, so ./test does not run it.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Package: what its cuptiGetVersion says; absent where it says nothing without a driver.
LIBRARIES = {"nvidia-cuda-cupti-cu11==11.8.87": 18, "nvidia-cuda-cupti-cu12==12.1.105": 18, "nvidia-cuda-cupti-cu12==12.4.127": 22,
             "nvidia-cuda-cupti-cu12==12.6.80": 24, "nvidia-cuda-cupti-cu12==12.8.90": 26, "nvidia-cuda-cupti-cu12==12.9.79": 28,
             "nvidia-cuda-cupti==13.0.48": 130000, "nvidia-cuda-cupti==13.0.85": 130001, "nvidia-cuda-cupti==13.1.115": 130101,
             "nvidia-cuda-cupti==13.2.75": None, "nvidia-cuda-cupti==13.2.86": None, "nvidia-cuda-cupti==13.3.35": None,
             "nvidia-cuda-cupti==13.3.75": None, "nvidia-cuda-cupti==13.4.92": None, "nvidia-cuda-cupti==13.5.25": None}
SEVERAL_SUBSCRIBERS = (13, 3)  # the first version with all functions of the second interface
STAND_IN_FROM = (12, 9)        # our stand-in has the functions of this version and later ones

CLIENT = r"""
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef int (*Any)();
#ifdef LINKED
#define DECLARE(name) extern int name();
#define FIND(name) ((Any)name)
#else
static void* library;
#define DECLARE(name)
#define FIND(name) ((Any)dlsym(library, #name))
#endif
DECLARE(cuptiGetVersion) DECLARE(cuptiActivityRegisterCallbacks) DECLARE(cuptiActivityEnable) DECLARE(cuptiActivityDisable)
DECLARE(cuptiActivityFlushAll) DECLARE(cuptiSubscribe) DECLARE(cuptiUnsubscribe) DECLARE(cuptiGetTimestamp)
DECLARE(cuptiActivityPushExternalCorrelationId)
static void request(uint8_t** buffer, size_t* size, size_t* most) { *size = 1 << 20, *buffer = aligned_alloc(8, *size), *most = 0; }
static void complete(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) {
    (void)context, (void)stream, (void)size, (void)valid, free(buffer);
}
static void callback(void* data, int domain, unsigned id, const void* about) { (void)data, (void)domain, (void)id, (void)about; }
#define SAY(name, ...) printf(#name " %d\n", FIND(name)(__VA_ARGS__)), fflush(stdout)
int main(int count, char** arguments) {
    uint32_t version = 0;
    uint64_t now = 0;
    void* subscriber = 0;
#ifndef LINKED
    library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : 0;
    if (!library) return puts(dlerror()), 9;
#else
    (void)count, (void)arguments;
#endif
    SAY(cuptiGetVersion, &version);
    printf("version %u\n", version);
    SAY(cuptiGetTimestamp, &now);
    SAY(cuptiActivityRegisterCallbacks, request, complete);
    SAY(cuptiActivityEnable, 10);
    SAY(cuptiActivityPushExternalCorrelationId, 5, (uint64_t)7);
    SAY(cuptiSubscribe, &subscriber, callback, (void*)0);
    SAY(cuptiActivityDisable, 10);
    SAY(cuptiActivityFlushAll, 1);
    SAY(cuptiUnsubscribe, subscriber);
    return 3;
}
"""


def names_of(definitions):
    return re.findall(r"^(?:FUNCTION\(int, |NAME\()(\w+)", (ROOT / definitions).read_text(), re.M)


def required():
    return set(re.findall(r"^FUNCTION\(true, \w+, (\w+)", (ROOT / "collect/inject/cupti/cupti_symbols.def").read_text(), re.M))


def library_of(package, cache):
    folder = cache / package.replace("==", "-")
    if not folder.exists():
        with tempfile.TemporaryDirectory() as wheels:
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                            "--only-binary", ":all:", "--platform", "manylinux_2_28_x86_64", "--platform", "manylinux_2_25_x86_64",
                            "--platform", "manylinux2014_x86_64", "--platform", "manylinux1_x86_64", "--dest", wheels, package], check=True)
            (wheel,) = Path(wheels).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder, [name for name in archive.namelist() if "/libcupti.so" in name])
    return next(folder.rglob("libcupti.so.*"))


def exports_of(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listed.splitlines() if " T " in line or " t " in line}


def wrong_symbols(version, exports):
    second = set(names_of("collect/inject/cupti/cupti_v2_symbols.def"))
    yield from (f"lacks {name}" for name in required() - exports)
    if version >= SEVERAL_SUBSCRIBERS:
        yield from (f"lacks {name}" for name in second - exports)
    elif second <= exports:
        yield "has the whole second interface already"
    if version >= STAND_IN_FROM:
        named = set(names_of("collect/stand_in/cupti_names.def"))
        yield from (f"{name} is missing in the stand-in" for name in exports - named if name.startswith("cupti"))


def built_clients(library, folder):
    """Return the command of each client."""
    source = folder / "client.c"
    source.write_text(CLIENT)
    flags = ["cc", "-w", "-o"]
    subprocess.run([*flags, folder / "linked", "-DLINKED", source, library, f"-Wl,-rpath,{library.parent}",
                    "-Wl,--unresolved-symbols=ignore-in-shared-libs"], check=True)
    subprocess.run([*flags, folder / "dlsym", source, "-ldl"], check=True)
    return {"linked": [folder / "linked"], "dlsym": [folder / "dlsym", library]}


def run(command, environment=None):
    """Return the exit status as a shell sees it, and the lines that the client printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=Path(command[0]).parent,
                          env={**os.environ, **(environment or {})})
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return status, [line for line in done.stdout.splitlines() if re.match(r"cupti\w+ |version ", line)], done.stderr


def compare_runs(program, library, version):
    """Yield what differs under `record`, then one line about what the library did."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for client, command in built_clients(library, folder).items():
            status, answers, words = run(command)
            if version is not None and f"version {version}" not in answers:
                yield f"{client}: not version {version}: {answers} {words[:200]}"
            for policy in ("share", "own", "yield"):
                # Of CUPTI's calls, `own` refuses some on purpose: only the status counts.
                recorded = run([program, "record", "--quiet", "--sample", "0", "--cupti", policy, "-o", folder / f"{client}-{policy}.gpuprof", "--", *command])
                if recorded[0] != status:
                    yield f"{client}, --cupti {policy}: status {recorded[0]} instead of {status}: {recorded[2][-300:]}"
                if policy != "own" and recorded[1] != answers:
                    yield f"{client}, --cupti {policy}: {recorded[1]} instead of {answers}"


def main():
    parser = argparse.ArgumentParser(description="Compares NVIDIA's CUPTI libraries with what we expect of them.")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "cupti-libraries")
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/gpu-profile")
    options = parser.parse_args()
    failed = False
    for package, said in LIBRARIES.items():
        version = tuple(int(part) for part in package.split("==")[1].split(".")[:2])
        library = library_of(package, options.cache).resolve()
        exports = exports_of(library)
        wrong = [*wrong_symbols(version, exports), *compare_runs(options.program.resolve(), library, said)]
        failed |= bool(wrong)
        print(f"{package}: {len([name for name in exports if name.startswith('cupti')])} functions, "
              f"{'as expected; clients run under record as alone' if not wrong else '; '.join(wrong)}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
