#!/usr/bin/env python3
"""Head to head: asks this program and the tools that install from registries the same questions about the same recordings.

    python3 -m bench.peers.run PROGRAM [--seed TEXT] [--each N] [--jobs N] [--only TOOL]... [--checkout TraceLens=FOLDER]

Installs each tool (requirements.txt) into an environment of its own below build/peers, writes the recordings (recordings.py), runs every
tool on those of its kinds (adapters.py), judges the answers, saves them to results.json and writes docs/how-it-works/benchmarks/peers.md
(page.py). --each: programs drawn of each family. --checkout: a checkout instead of GitHub. speedscope is a viewer that gives no answers: what
it costs to draw a file is measured, and bench/viewer/compare.py compares it as a viewer. Needs NumPy, and for speedscope npm and Chromium.

Each run of a tool starts without a cache, on a copy of the recording. CPU time is that of all its processes, memory the largest process's
(rusage). A figure is right within a point or 5 %. A limit is right if it names the cause, `side` if it only names the side of the cause.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from . import page, recordings
from .adapters import ADAPTERS, VIEWERS, Failed

HERE = Path(__file__).resolve().parent
BUILD = recordings.ROOT / "build/peers"
CLOSE_POINTS, CLOSE = 1.0, 0.05
LIMIT_S = 900
# Starts a command from a small process, because the peak memory of a process begins with its parent's, and writes what it cost.
COST = f"""
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[2:], timeout={LIMIT_S})
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
sys.exit(min(abs(done.returncode), 255))
"""
FIGURES = ("idle_pct", "hidden_pct", "step_ms", "alone_ms")


def requirements():
    """Tool -> its pinned packages."""
    found, tool = {}, None
    for line in (HERE / "requirements.txt").read_text().splitlines():
        line = line.split("  #")[0].strip()
        if line.startswith("["):
            tool = line.strip("[]")
            found[tool] = []
        elif line and not line.startswith("#"):
            found[tool].append(line)
    return found


def install(tool, packages, checkout):
    """The environment's bin folder; made anew if it is missing, incomplete, or has other versions."""
    folder = BUILD / f"venv-{tool}"
    made_for, wanted = folder / ".made-for", "\n".join(packages)
    if not made_for.exists() or made_for.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        packages = [str(checkout) if checkout and " @ " in package else package for package in packages]
        subprocess.run([folder / "bin/pip", "install", "-q", *(package for package in packages if not package.startswith("npm:"))], check=True)
        for package in packages:
            if package.startswith("npm:"):
                subprocess.run(["npm", "install", "--silent", "--ignore-scripts", "--prefix", folder, package.removeprefix("npm:")], check=True)
        if tool == "nsys-ai":
            subprocess.run([folder / "bin/python", "-c", "from duckdb_extensions import import_extension as get; get('sqlite_scanner')"], check=True)
        made_for.write_text(wanted)
    return folder / "bin"


class Runs:
    """Runs commands of one tool on one recording, and adds up what they cost."""

    def __init__(self, folder):
        self.folder, self.cpu_s, self.wall_s, self.memory_mb = folder, 0.0, 0.0, 0.0

    def __call__(self, command):
        with open(self.folder / "said", "w+") as said, open(self.folder / "errors", "w+") as errors:
            begun = time.monotonic()
            done = subprocess.run([sys.executable, "-S", "-c", COST, self.folder / "cost", *map(str, command)], stdout=said, stderr=errors, cwd=self.folder, check=False)
            self.wall_s += time.monotonic() - begun
            cpu_s, memory_mb = json.loads((self.folder / "cost").read_text())
            self.cpu_s += cpu_s
            self.memory_mb = max(self.memory_mb, memory_mb)
            said.seek(0)
            errors.seek(0)
            if done.returncode != 0:
                told = errors.read().strip().splitlines() or ["no message"]
                raise Failed(next((line for line in reversed(told) if re.match(r"[\w.]*(Error|Exception)", line)), told[-1])[:120])
            return said.read()


def asked(tool, recording, bin_folder, program):
    """The answer of a tool about a recording, with its cost."""
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        copy = folder / recording.path.name
        (shutil.copytree if recording.path.is_dir() else shutil.copy)(recording.path, copy)
        runs = Runs(folder)
        place = {"program": program, "bin": bin_folder, "python": bin_folder / "python" if bin_folder else None, "folder": folder}
        try:
            answer = ADAPTERS[tool]["ask"](recordings.Recording(recording.name, recording.kind, recording.about, copy, {}), runs, place)
        except Failed as failed:
            answer = {"fails": str(failed).replace(name, "")}
        except (KeyError, IndexError, ValueError, OSError) as error:
            answer = {"fails": f"no answer that can be read ({type(error).__name__}: {str(error)[:80]})".replace(name, "")}
    return answer | {"cpu_s": round(runs.cpu_s, 3), "wall_s": round(runs.wall_s, 2), "memory_mb": round(runs.memory_mb)}


def judged(truth, answer):
    """Question -> right, side, wrong or none."""
    found = {}
    if truth.get("limit"):
        labels = answer.get("limit", [])
        right = set(labels) & set(truth["limit"])
        found["limit"] = "none" if not labels else "wrong" if not right else "right" if len(labels) == 1 else "side"
    for name in FIGURES:
        if name in truth:
            low, high = truth[name]
            slack = CLOSE_POINTS if name.endswith("pct") else CLOSE * high
            value = answer.get(name)
            found[name] = "none" if value is None else "right" if low - slack <= value <= high + slack else "wrong"
    return found


def rounded(value):
    return {key: round(each, 1) if isinstance(each, float) and key in FIGURES else each for key, each in value.items()}


def machine():
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} cores of {cpu[1] if cpu else 'an unknown CPU'}"


def measure(args, bins, folder):
    """All answers: of each real recording, and counts of those about drawn programs."""
    tools = ["gpu-profile", *bins]
    every = [*recordings.real(folder), *recordings.jobs(folder)]
    count = len(every)
    every += recordings.drawn(folder, args.seed, args.each)
    tasks = [(recording, tool) for at, recording in enumerate(every) for tool in tools
             if recording.kind in ADAPTERS[tool]["kinds"] and (at < count or tool not in VIEWERS)]
    answers = {}
    with ThreadPoolExecutor(args.jobs) as pool:
        for (recording, tool), answer in zip(tasks, pool.map(lambda task: asked(task[1], task[0], bins.get(task[1]), args.program), tasks)):
            answer["judged"] = judged(recording.truth, answer)
            answers.setdefault((recording.name, recording.kind), {})[tool] = answer
            print(f"{recording.name:24} {tool:12} {answer.get('said', answer.get('fails'))} {answer['judged']}", flush=True)
    real, drawn = [], {}
    for recording in every[:count]:
        truth = {key: [round(each, 1) for each in value] if key in FIGURES else value for key, value in recording.truth.items()}
        of_tools = {tool: rounded({key: value for key, value in answer.items() if key != "limit"}) for tool, answer in answers[recording.name, recording.kind].items()}
        real.append({"name": recording.name, "kind": recording.kind, "about": recording.about, "truth": truth, "answers": of_tools})
    for recording in every[count:]:
        for tool, answer in answers[recording.name, recording.kind].items():
            drawn.setdefault(recording.kind, {}).setdefault(tool, []).append((recording, answer))
    return {"real": real, "drawn": {kind: {tool: counted(found) for tool, found in of.items()} for kind, of in drawn.items()}}


def counted(found):
    """Of a tool's answers about drawn programs: how many are right, the wrong limits, and the median cost."""
    counts = {}
    for _, answer in found:
        for question, verdict in answer["judged"].items():
            counts.setdefault(question, Counter())[verdict] += 1
    said = lambda verdict: [f"{recording.about}: {answer['said']}" for recording, answer in found if answer["judged"].get("limit") == verdict and "said" in answer]
    fails = Counter(answer["fails"] for _, answer in found if "fails" in answer)
    return {"counts": counts, "wrong": said("wrong"), "none": said("none"), "fails": fails, "cpu_s": round(median(answer["cpu_s"] for _, answer in found), 3),
            "memory_mb": round(median(answer["memory_mb"] for _, answer in found))}


def lines(results):
    """JSON with one line for each recording and each tool, as a diff should show it."""
    line = lambda value: json.dumps(value, ensure_ascii=False)
    tools = ",\n".join(f'  {line(kind)}: {{\n' + ",\n".join(f"   {line(tool)}: {line(entry)}" for tool, entry in of.items()) + "}" for kind, of in results["drawn"].items())
    head = ",\n".join(f" {line(key)}: {line(value)}" for key, value in results.items() if key not in ("real", "drawn"))
    return "{\n" + head + ',\n "real": [\n' + ",\n".join(f"  {line(each)}" for each in results["real"]) + '],\n "drawn": {\n' + tools + "}\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=lambda text: Path(text).resolve())
    parser.add_argument("--seed", default="peers")
    parser.add_argument("--each", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time: CPU time and memory stay true, wall time does not")
    parser.add_argument("--only", action="append", choices=[tool for tool in ADAPTERS if tool != "gpu-profile"])
    parser.add_argument("--checkout", action="append", default=[], metavar="TOOL=FOLDER")
    args = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    pinned, checkouts = requirements(), dict(each.split("=", 1) for each in args.checkout)
    bins = {tool: install(tool, pinned[tool], checkouts.get(tool)) for tool in args.only or pinned}
    with tempfile.TemporaryDirectory(prefix="peers-recordings-", dir=BUILD) as name:
        results = measure(args, bins, Path(name))
    version = subprocess.run([args.program, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    results |= {"made": time.strftime("%Y-%m-%d"), "machine": machine(), "seed": args.seed, "each": args.each,
                "versions": {"gpu-profile": version} | {tool: pinned[tool][0] for tool in bins}}
    page.RESULTS.write_text(lines(results))
    page.main()


if __name__ == "__main__":
    main()
