"""`python3 -m tests.evaluate.run_to_run --count N [--load M]`: benchmarks the same code N times, each time in a new process, while
M other processes compute, and compares pairs of results with `gpu-profile bench compare`. Prints how often the verdict is
`faster` or `slower`, which is wrong, and how often the 95 % interval holds 1. With --runs, each side has several runs.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import gpu_profile

FUNCTIONS = {
    "a map of 256 KB": ("return numpy.sqrt(numpy.abs(x)) * 2", "(256, 256)"),
    "a product of 200 x 200": ("return x @ x", "(200, 200)"),
}
FILE = "import numpy\ndef kernel(x):\n    {0}\ndef inputs(seed):\n    return (numpy.random.default_rng(seed).standard_normal({1}, numpy.float32),)\n"
PROGRAM = ["--max-samples", "15", "--min-time", "1", "--time-out", "3", "--backend", "none"]
APART = (1, 3, 8)  # results that are compared, in the order of time


def bench(folder: Path, *words: str) -> str:
    command = [str(gpu_profile.binary()), "bench", *words]
    environment = {**os.environ, "GPUPROF_PYTHON": sys.executable}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


def measured(folder: Path, count: int) -> dict[str, list[str]]:
    """Benchmark everything in turn; return the files of results by what was benchmarked."""
    files: dict[str, list[str]] = {}
    for turn in range(count):
        for index, (name, source) in enumerate(FUNCTIONS.items()):
            (folder / f"f{index}.py").write_text(FILE.format(*source))
            files.setdefault(name, []).append(f"./{index}.{turn}.json")
            bench(folder, f"f{index}.py:kernel", "--inputs", f"f{index}.py", "--time-out", "1", "--save", files[name][-1])
        files.setdefault("a program of 50 ms", []).append(f"./p.{turn}.json")
        bench(folder, *PROGRAM, "--save", files["a program of 50 ms"][-1], "--", sys.executable, "-c", "print(sum(range(300000)))")
    return files


def joined(folder: Path, files: list[str], runs: int) -> list[str]:
    """Join the results of every `runs` processes, in turn between two sides, into one."""
    out = []
    for begin in range(0, len(files) - 2 * runs + 1, 2 * runs):
        for side in range(2):
            parts = [json.loads((folder / files[begin + 2 * index + side]).read_text()) for index in range(runs)]
            parts[0]["benchmarks"] = [each for part in parts for each in part["benchmarks"]]
            name = f"{files[begin + side][:-5]}.{runs}.json"
            (folder / name).write_text(json.dumps(parts[0]))
            out.append(name)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m tests.evaluate.run_to_run")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    others = [subprocess.Popen([sys.executable, "-c", "while True: sum(range(100000))"]) for _ in range(options.load)]
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for what, files in measured(folder, options.count).items():
                sides = files if options.runs == 1 else joined(folder, files, options.runs)
                for apart in APART if options.runs == 1 else (1,):
                    wrong = holds = seen = 0
                    for begin in range(0, len(sides) - apart, 1 if options.runs == 1 else 2):
                        (row,) = csv.DictReader(io.StringIO(bench(folder, "compare", sides[begin], sides[begin + apart], "--format", "csv")))
                        seen += 1
                        wrong += row["verdict"] in ("faster", "slower")
                        holds += row["speedup_low"] == "" or float(row["speedup_low"]) <= 1 <= float(row["speedup_high"])
                    print(f"{what:<24} {apart} apart, {options.runs} runs: wrong {wrong} of {seen}, interval holds 1 in {holds}", flush=True)
    finally:
        for other in others:
            other.kill()


if __name__ == "__main__":
    main()
