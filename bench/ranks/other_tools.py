#!/usr/bin/env python3
"""Who is the straggler of 8 generated ranks: compares `gpu-profile ranks` with HTA and TraceLens on the same files, with time and memory.

    python3 -m bench.ranks.other_tools build/release/gpu-profile [--hta PYTHON] [--tracelens PYTHON[:CHECKOUT]] [--steps N]

PYTHON is an interpreter that has HolisticTraceAnalysis, or the packages of TraceLens; CHECKOUT is TraceLens's source. A tool that is
not given is skipped. Needs numpy for the jobs (tests/ranks). Each tool runs in processes of its own, starting with no cache, and
answers one question by the function that it has for it:

    HTA        TraceAnalysis(...).get_potential_stragglers()
    TraceLens  NcclAnalyser(...).build_df_straggler_summary()

HTA 0.5.0 knows NCCL's kernels by their names before NCCL 2.19 ("ncclKernel"), so it gets the same files with these names. Time is
wall time and CPU time of all processes; memory is the largest sum over all processes of their proportional sets (PSS), sampled
20 times per second.
"""

import argparse
import gzip
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from tests.ranks import generate

JOBS = ("gpu", "clean-8")
HTA = """
import logging, sys
logging.disable(logging.CRITICAL)
import hta
from hta.trace_analysis import TraceAnalysis
print("ranks", *TraceAnalysis(trace_dir=sys.argv[1]).get_potential_stragglers())
"""
TRACELENS = """
import glob, sys
if sys.argv[2]:
    sys.path.insert(0, sys.argv[2])
from TraceLens.NcclAnalyser.nccl_analyser import NcclAnalyser
files = sorted(glob.glob(sys.argv[1] + "/*.json.gz"))
table = NcclAnalyser(files, len(files)).build_df_straggler_summary()
for row in table.head(3).to_dict("records"):
    print(f"rank {row['rank']}: waits {row['total_wait_time_us'] / 1000:.1f} ms in all, last {row['times_arrived_last']} times")
"""


def memory_of(root):
    """Bytes of a process and its descendants; 0 once they are gone."""
    parents, total = {}, 0
    for entry in filter(str.isdecimal, os.listdir("/proc")):
        try:
            parents[int(entry)] = int(Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    family, grown = {root}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in family} - family
        grown = bool(more)
        family |= more
    for pid in family:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += next(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
        except (OSError, StopIteration):
            continue
    return total


def measured(command, folder):
    """What a command prints, its seconds of wall and CPU time, and its peak memory in bytes."""
    before, begun, peak = os.times(), time.monotonic(), 0
    with open(folder / "said", "w+") as said, open(folder / "errors", "w+") as errors:
        process = subprocess.Popen(list(map(str, command)), stdout=said, stderr=errors, cwd=folder)
        while process.poll() is None:
            peak = max(peak, memory_of(process.pid))
            time.sleep(0.05)
        wall, after = time.monotonic() - begun, os.times()
        said.seek(0)
        errors.seek(0)
        text = said.read().strip()
        if process.returncode != 0:
            text = "fails: " + (errors.read().strip().splitlines() or ["no message"])[-1]
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return text, wall, cpu, peak


def with_old_names(source, target):
    target.mkdir()
    for path in source.glob("rank*.json.gz"):
        text = gzip.decompress(path.read_bytes()).replace(b"ncclDevKernel_", b"ncclKernel_")
        (target / path.name).write_bytes(gzip.compress(text, 1))


def own_answer(text):
    tables = json.loads(text)["tables"]
    names = [column["name"] for column in tables[0]["columns"]]
    rows = [dict(zip(names, row)) for row in tables[0]["rows"]]
    named = [f"{row['unit']}: {row['cause']}, costs {row['cost_ns'] / 1e6:.1f} ms per step" for row in rows if row["named"]]
    return "; ".join(named) or "no straggler"


def compare(job, args, folder):
    files = folder / job
    generate.main([job, str(files), "--steps", str(args.steps)])
    truth = json.loads((files / "truth.json").read_text())["faults"]
    (files / "truth.json").unlink()
    size = sum(len(gzip.decompress(path.read_bytes())) for path in files.iterdir())
    said = "; ".join(f"{' '.join(map(str, fault['unit']))}: {fault['cause']}, costs {fault['cost_ns'] / 1e6:.1f} ms per step" for fault in truth)
    print(f"{job}: 8 files, {size / 1e6:.0f} MB of JSON; truth: {said or 'no straggler'}")
    runs = [("gpu-profile", [Path(args.program).resolve(), "ranks", files, "stragglers", "--format", "json", "--cache", folder / f"cache-{job}"])]
    if args.hta:
        with_old_names(files, folder / f"{job}-old")
        runs.append(("HTA", [args.hta, "-c", HTA, folder / f"{job}-old"]))
    if args.tracelens:
        python, _, checkout = args.tracelens.partition(":")
        runs.append(("TraceLens", [python, "-c", TRACELENS, files, checkout]))
    for name, command in runs:
        text, wall, cpu, peak = measured(command, folder)
        answer = own_answer(text) if name == "gpu-profile" else "; ".join(text.splitlines()[-3:])
        print(f"  {name:12} {wall:7.2f} s  CPU {cpu:7.2f} s  {peak / 1e6:7.0f} MB  {answer}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--hta", metavar="PYTHON")
    parser.add_argument("--tracelens", metavar="PYTHON[:CHECKOUT]")
    parser.add_argument("--steps", type=int, default=300)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="other-tools-"))
    try:
        for job in JOBS:
            compare(job, args, folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
