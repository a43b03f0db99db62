#!/usr/bin/env python3
"""The speed of reading and writing other tools' files: `bench/exchange/run.py build/release/gpu-profile [ROWS]`.

Creates a Nsight Systems database with ROWS rows (default: 2,000,000; half kernels, half the calls that launched them, tables without an
index as written by nsys), then times whole runs of the program in three rounds, of which the fastest counts: `report devices` of the
database, and exports of a capture made from it. The time of an empty run is subtracted. Rates are database rows per second and bytes
written per second. The CPU time is shown as well, because other load on the machine affects it less.
"""

import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NAMES = 300
TABLES = [
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER)",
    """CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
       streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL,
       registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
       staticSharedMemory INTEGER, dynamicSharedMemory INTEGER)""",
    """CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
       correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL)""",
]


def make_database(file, rows):
    pid, launches = 4711, rows // 2
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA synchronous=OFF")
        for table in TABLES:
            database.execute(table)
        database.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1795214757600000000)")
        database.executemany("INSERT INTO StringIds VALUES (?, ?)", [
            (0, "cudaLaunchKernel_v7000"), *((i + 1, f"void at::native::kernel_{i}<float, {i}>(at::Tensor const&, int)") for i in range(NAMES))])
        database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,0,1,7,?,?,?,?,32,1024,1,1,256,1,1,0,0)", (
            (i * 5000 + 3000, i * 5000 + 3000 + 1000 + i % 2900, i + 1, pid << 24, i % NAMES + 1, i % NAMES + 1) for i in range(launches)))
        database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,0,?,?,0,0)", (
            (i * 5000, i * 5000 + 2500, pid << 24 | pid, i + 1) for i in range(launches)))
    database.close()


class Cost:
    """Wall time and CPU time in seconds."""

    def __init__(self, wall, cpu):
        self.wall, self.cpu = wall, cpu

    def __sub__(self, other):
        return Cost(self.wall - other.wall, self.cpu - other.cpu)


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cost(*command):
    walls, cpus = [], []
    for _ in range(3):
        begun, cpu_before = time.perf_counter(), cpu_of_children()
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        walls.append(time.perf_counter() - begun)
        cpus.append(cpu_of_children() - cpu_before)
    return Cost(min(walls), min(cpus))


def show(what, taken, amount, unit):
    print(f"{what:<34} {taken.wall:>8.2f} {taken.cpu:>12.2f} {amount / taken.wall:>10.4g} {unit}", flush=True)


def main():
    program, rows = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000
    with tempfile.TemporaryDirectory() as folder:
        database, capture = Path(folder, "trace.sqlite"), Path(folder, "trace.gpuprof")
        make_database(database, rows)
        start = cost(program, "--version")
        print(f"{'what':<34} {'seconds':>8} {'CPU seconds':>12} {'rate':>10}")
        show(f"read nsys, {rows:,} rows", cost(program, "report", database, "devices") - start, rows / 1e6, "million rows/s")
        subprocess.run([program, "export", "capture", database, "-o", capture], check=True)
        opening = cost(program, "report", capture, "losses")
        sizes = {}
        for form in ("chrome", "perfetto", "nsys", "csv"):
            out = Path(folder, form)
            taken = cost(program, "export", form, capture, "-o", out) - opening
            sizes[form] = os.path.getsize(out)
            show(f"write {form}, {sizes[form] / 1e6:.0f} MB", taken, sizes[form] / 1e6, "MB/s")
        print(f"chrome / perfetto: {sizes['chrome'] / sizes['perfetto']:.1f}")


if __name__ == "__main__":
    main()
