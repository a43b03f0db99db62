#!/usr/bin/env python3
"""Measures what small files can cost: every command that reads files, on inputs below 100 kB that unpack, nest, repeat or name far more.

    tests/soak/small_bombs.py BINARY [--only TEXT] [--command TEXT] [--most-gib 1] [--most-seconds 20]

Every run must end with an answer or a refusal of one line, below `--most-gib` of resident memory and `--most-seconds` of CPU time. Prints the runs that
did not, and for each command the number of runs and the dearest ones.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bombs  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 100_000
FORMATS = ("capture", "chrome", "perfetto", "nsys", "speedscope", "folded", "folded-python", "folded-source", "pprof", "pprof-source", "otlp-profiles", "hatchet", "csv", "html")
COMMANDS = {
    "report": ["report", "FILE"], "kernels, sequences": ["report", "FILE", "kernels", "sequences", "--format", "json"], "findings": ["report", "FILE", "findings"],
    "query": ["query", "FILE", "--time-out", "15", "SELECT count(*), count(DISTINCT short_name(name)) FROM kernel"], "compare": ["compare", "FILE", "FILE"],
    "whatif": ["whatif", "FILE"], "ranks": ["ranks", "FILE", "--cache", "cache"], "history": ["history", "add", "FILE", "--db", "history.sqlite"],
    "scrub": ["scrub", "FILE", "-o", "out"], **{f"export {each}": ["export", each, "FILE", "-o", "out"] for each in FORMATS},
}


def trace(events):
    return b'{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H200"}],"traceEvents":[' + b",".join(json.dumps(event).encode() for event in events) + b"]}"


def complete(category, name, start, length, thread=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": start, "dur": length, "args": args}


LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NAME_OF_PAIRS = "_Z1fSt4pairIiiE" + "".join(f"S_IS{LETTERS[level]}_S{LETTERS[level]}_E" for level in range(24))


def kernels(count, name="k", streams=1):
    return [complete("kernel", name, 20 + 40 * i, 15, device=0, stream=i % streams) for i in range(count)]


# Name: what makes the bytes before packing.
SHAPES = {
    "a name of pairs": lambda: trace(kernels(20, name=NAME_OF_PAIRS)),
    "a name of 90,000 bytes": lambda: trace(kernels(20, name="_Z" + "N1a" * 30_000)),
    "threads": lambda: trace(complete("cpu_op", "op", i, 1, thread=i) for i in range(100_000)),
    "streams": lambda: trace(kernels(100_000, streams=100_000)),
    "devices": lambda: trace(complete("kernel", "k", 20 + 40 * i, 15, device=i, stream=7) for i in range(100_000)),
    "processes": lambda: trace({**complete("cpu_op", "op", i, 1, thread=1), "pid": i} for i in range(100_000)),
    "nested operators": lambda: trace(complete("cpu_op", f"op{i % 50}", i, 200_000 - 2 * i) for i in range(50_000)),
    "nested Python functions": lambda: trace(complete("python_function", f"f{i}.py(1): g", i, 200_000 - 2 * i) for i in range(30_000)),
    "nested ranges": lambda: trace([complete("user_annotation", f"range {i}", i, 200_000 - 2 * i) for i in range(30_000)] + kernels(1000)),
    "nested ranges of kernels": lambda: trace(event for i in range(20_000) for event in (
        complete("user_annotation", f"range {i}", 2 * i, 200_000 - 4 * i), complete("cuda_runtime", "cudaLaunchKernel", 2 * i + 1, 0.5, correlation=i + 1),
        complete("kernel", "k", 200_000 + 20 * i, 15, device=0, stream=7, correlation=i + 1))),
    "steps": lambda: trace([complete("user_annotation", f"ProfilerStep#{i}", 40 * i, 40) for i in range(50_000)] + kernels(50_000)),
    "different names": lambda: trace(complete("cpu_op", f"operator number {i}", i, 1) for i in range(200_000)),
    "one long name": lambda: trace([complete("cpu_op", "x" * 20_000_000, 1, 1)]),
    "times far apart": lambda: trace(complete("kernel", "k", i * 2.0**60 / 1e6, 1, device=0, stream=7) for i in range(1000)),
    "folded stacks": lambda: ("\n".join(f"{';'.join(f'f{j}' for j in range(400))};g{i} 1" for i in range(2000))).encode(),
}


def inputs(folder, only):
    for name, parts in bombs.BOMBS.items():
        if only in name:
            path = folder / "bomb.gz"
            bombs.write(path, bombs.gzip, *parts, MOST_BYTES, 3 << 30)
            yield name, path
    for name, made in SHAPES.items():
        if only in name:
            path, content = folder / "shape.gz", made()
            path.write_bytes(bombs.gzip(content))
            if path.stat().st_size > MOST_BYTES:
                path.write_bytes(bombs.gzip(content[: int(len(content) * MOST_BYTES / path.stat().st_size * 0.9)]))
            yield name, path
    for path in sorted((ROOT / "tests" / "fixtures" / "hostile").iterdir()):
        if only in path.name:
            yield path.name, path


def main():
    parser = argparse.ArgumentParser(description="Measures what small files cost in every command that reads files.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--only", default="", help="inputs whose name has this")
    parser.add_argument("--command", default="", help="commands whose name has this")
    parser.add_argument("--most-gib", type=float, default=1)
    parser.add_argument("--most-seconds", type=float, default=20)
    options = parser.parse_args()
    binary, runs, wrong = options.binary.resolve(), defaultdict(list), 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "work"
        for name, path in inputs(Path(folder), options.only):
            for command, words in COMMANDS.items():
                if options.command not in command:
                    continue
                place.mkdir()
                try:
                    status, said, memory, seconds = bombs.measured([binary, *(path if word == "FILE" else word for word in words)], cwd=place, timeout=300)
                except subprocess.TimeoutExpired:
                    status, said, memory, seconds = None, ["no end within 300 s"], 0, 300
                shutil.rmtree(place)
                runs[command].append((memory, seconds, name))
                bad = status not in (0, 1, 2, 3, 4) or memory > options.most_gib * 2**30 or seconds > options.most_seconds
                if bad:
                    wrong += 1
                    print(f"{command:22} {name:28} {os.path.getsize(path) >> 10:4} KiB  exit {status}  {memory >> 20:6} MiB  {seconds:6.1f} s  {said[-1][:80] if said else ''}", flush=True)
    for command, each in runs.items():
        memory, seconds = max(each), max(each, key=lambda run: run[1])
        print(f"{command:22} {len(each):4} runs  most memory {memory[0] >> 20:5} MiB ({memory[2]})  most time {seconds[1]:5.1f} s ({seconds[2]})")
    print(f"{sum(map(len, runs.values()))} runs, {wrong} beyond {options.most_gib:g} GiB or {options.most_seconds:g} s")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
