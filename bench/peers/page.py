#!/usr/bin/env python3
"""Writes docs/how-it-works/benchmarks/peers.md, and the line of README.md, from results.json. No figure in them is typed.

    python3 -m bench.peers.page
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS, README = Path(__file__).with_name("results.json"), ROOT / "README.md"
PAGE = ROOT / "docs/how-it-works/benchmarks/peers.md"
MARKS = {"right": "✓", "side": "~", "wrong": "✗", "none": "–"}
ORDER = ("right", "side", "none", "wrong")
ASKED = {"HTA": "`get_temporal_breakdown`, `get_idle_time_breakdown`, `get_comm_comp_overlap`, `get_potential_stragglers`; `critical_path_analysis` if the first one fails",
         "TraceLens": "`TraceLens_generate_perf_report_pytorch`, `..._jax`, `TraceLens_generate_multi_rank_collective_report_pytorch`",
         "gpu-idle": "`gpu-idle FILE`", "nsys-ai": "`nsys-ai diagnose FILE`, then its skills `critical_path` and `overlap_breakdown`", "xprof": "its overview page",
         "speedscope": "the page of its npm package, opened in headless Chromium, until it has drawn the file",
         "gpu-profile": "`report FILE`, `ranks FOLDER stragglers`"}
QUESTIONS = {"limit": "limit", "idle_pct": "idle share", "hidden_pct": "hidden communication", "step_ms": "step as recorded", "alone_ms": "step without the profiler"}
WIDENED = ("memory_bound", "overlap", "graph")
UNITS = {"idle_pct": "%", "hidden_pct": "%", "step_ms": "ms", "alone_ms": "ms"}
BEYOND = """\
## What they have and this comparison does not ask

- TraceLens computes rooflines of operators from their shapes, replays single operators, and has an agent (it needs a model, so it did not run).
- HTA finds frequent kernel sequences, compares traces by operator and draws everything in a notebook.
- nsys-ai keeps sessions with proposals and decisions, and answers in a chat.
- xprof knows TPUs, and has HLO graphs, memory profiles and rooflines of JAX programs.
- [speedscope](https://www.speedscope.app) is a viewer: it shows a recording and names nothing, so here it has costs only, which include the browser's. Its loading
  times and frames are on [the viewer's page](viewer.md).
"""


def version_of(pin):
    """A package's version, or the commit of a checkout."""
    return f"checkout {pin.rpartition('@')[2][:11]}" if " @ " in pin else pin.replace("@", "==").rpartition("==")[2]


def figure(value, unit):
    return f"{value:.1f} {unit}" if value < 100 else f"{value:.0f} {unit}"


def between(pair, unit):
    low, high = pair
    return figure(low, unit) if abs(high - low) < 0.05 else f"{low:.1f} to {figure(high, unit)}"


def cell(answer, question, unit):
    """An answer with its mark; empty if nothing was asked."""
    verdict = answer["judged"].get(question)
    value = answer.get(question)
    if verdict is None:
        return figure(value, unit) if value is not None and question == "idle_pct" else ""
    return MARKS[verdict] if value is None else f"{figure(value, unit)} {MARKS[verdict]}"


def cost(answer):
    cpu = answer["cpu_s"]
    return f"{cpu:.2f} s | {answer['memory_mb']} MB"


def said(answer):
    text = f"fails: {answer['fails']}" if "fails" in answer else answer["said"]
    mark = answer["judged"].get("limit")
    return text.replace("|", "\\|") + (f" {MARKS[mark]}" if mark else "")


def real_rows(recording):
    truth = recording["truth"]
    limit = truth.get("limit", [])
    known = "kernels" if len(limit) > 2 else limit[0] if limit else "not known"
    yield f"| **{recording['name']}**: {recording['about']} | truth | {known} | " + " | ".join(
        between(truth[name], unit) if name in truth else "" for name, unit in UNITS.items()) + " | | |"
    for tool, answer in recording["answers"].items():
        yield f"| | {tool} | {said(answer)} | " + " | ".join(cell(answer, name, unit) for name, unit in UNITS.items()) + f" | {cost(answer)} |"


def drawn_rows(results):
    for kind, tools in results["drawn"].items():
        for tool, entry in tools.items():
            limits = entry["counts"]["limit"]
            right = lambda question: (lambda of: f"{of.get('right', 0)} of {sum(of.values())}")(entry["counts"].get(question, {}))
            yield (f"| {'torch.profiler' if kind == 'kineto' else 'Nsight Systems'} | {tool} | " + " | ".join(str(limits.get(each, 0)) for each in ORDER)
                   + f" | {right('idle_pct')} | {right('hidden_pct')} | {cost(entry)} |")


def better(results):
    """Answers of others that are better than ours, and drawn programs about which we are wrong."""
    lines = []
    rank = lambda answer, question: ORDER.index(answer["judged"].get(question, "none"))
    for recording in results["real"]:
        ours = recording["answers"]["gpu-profile"]
        for question, words in QUESTIONS.items():
            tools = [tool for tool, answer in recording["answers"].items() if rank(answer, question) < rank(ours, question)]
            if tools and question in ours["judged"]:
                lines.append(f"- `{recording['name']}`, {words}: {' and '.join(tools)}.")
    for kind, tools in results["drawn"].items():
        ours = tools["gpu-profile"]["counts"]
        for question, words in QUESTIONS.items():
            part = lambda counts: counts.get(question, {}).get("right", 0) / max(1, sum(counts.get(question, {}).values()))
            above = [tool for tool, entry in tools.items() if part(entry["counts"]) > part(ours)]
            if above:
                lines.append(f"- Drawn programs ({kind}), {words}: {' and '.join(above)}.")
    for recording in results["real"]:
        ours = recording["answers"]["gpu-profile"]["judged"]
        lines += [f"- `{recording['name']}`, {QUESTIONS[question]}: {tool} gives {cell(answer, question, UNITS[question])}, this program gives none."
                  for tool, answer in recording["answers"].items() for question in UNITS
                  if ours.get(question) == "none" and answer["judged"].get(question) == "wrong"]
    return lines or ["No judged answer of another tool was better in this run."]


def headline(results):
    """The line of README.md."""
    of = {}
    for tools in results["drawn"].values():
        for tool, entry in tools.items():
            for verdict, count in entry["counts"]["limit"].items():
                of.setdefault(tool, {}).setdefault(verdict, 0)
                of[tool][verdict] += count
    ours = of["gpu-profile"]
    return (f"[Head to head](docs/how-it-works/benchmarks/peers.md) on the same recordings: gpu-profile names the limiting cause in {ours.get('right', 0)} of "
            f"{sum(ours.values())} files drawn by our own simulator; the others measure how idle the GPU is as well, and mostly leave the cause to the reader.")


def markdown(results):
    versions = "\n".join(f"| {tool} | {version_of(version)} | {ASKED[tool]} |" for tool, version in results["versions"].items())
    table = lambda kinds: "\n".join(row for recording in results["real"] if recording["kind"] in kinds for row in real_rows(recording))
    jobs = "\n".join(f"| **{recording['name']}**: {recording['about']} | truth | {recording['truth']['straggler']} | | |\n" + "\n".join(
        f"| | {tool} | {said(answer)} | {cost(answer)} |" for tool, answer in recording["answers"].items()) for recording in results["real"] if recording["kind"] == "ranks")
    wrong = "\n".join(f"- {tool} ({kind}): {text}" for kind, tools in results["drawn"].items() for tool, entry in tools.items() for text in (
        *entry["wrong"], *(f"{text} (no answer)" for text in entry["none"]), *(f"{count} without an answer: {words}" for words, count in entry["fails"].items())))
    programs = sum(next(iter(results["drawn"]["kineto"].values()))["counts"]["limit"].values())
    wide = [recording for recording in results["real"] if recording["name"] in WIDENED]
    series = lambda texts: re.sub(", ([^,]*)$", r" and \1", ", ".join(texts))
    widened, low = series(f"`{each['name']}`" for each in wide), series(f"{each['truth']['idle_pct'][0]:.1f}" for each in wide)
    own = series(f"{each['answers']['gpu-profile']['idle_pct']:.1f}" for each in wide)
    return f"""# Head to head

<!-- Written by bench/peers/page.py from bench/peers/results.json; do not edit. -->
Other programs that answer questions about GPU recordings and this one, on the same files, next to what is known of them. One command installs the pinned versions, each into
an environment of its own, writes the recordings, asks every tool in the way that its documentation recommends, judges the answers and writes this page:

```sh
.venv/bin/python -m bench.peers.run build/release/gpu-profile --each {results['each']} --seed {results['seed']}   # takes long, and gigabytes below build/peers
```

| tool | version | asked |
|---|---|---|
{versions}

Run on {results['made']} on {results['machine']}, without a GPU, while other work ran (so wall time is not shown): CPU time of all processes and peak memory of the largest one hardly depend on that.
Each tool starts without a cache. For nsys-ai it is the sum of its three commands; importing their libraries takes HTA and TraceLens about a second.

- **✓** right: names the cause, or a figure within 1 point or 5 %. **~** names the side only: that the host keeps the GPU waiting, or that kernels do, but not which cause. **✗** wrong. **–** no answer.
- The limit is true by construction. That of `transformer` is the limit of the program without a profiler: as recorded, with the profiler's own work, the GPU waits for the CPU in a quarter
  of each step, and HTA's critical path shows that. The idle share is a sum over the device's operations, and a range because windows differ: from the first to the last operation, in the steps, or
  both; with copies as work or not. Any value in the range is right. We widened the range after a first run, in which our shares of {widened} were wrong: from the
  first to the last operation these are {low} %, as HTA or TraceLens say, and ours, from the first step on, are {own} %. The programs of this run were drawn after that,
  once, with a new seed, and all rows are judged by the same range.
- The scale is ours, too: a tool that says that computation takes 99 % of the time of a compute-bound program, and does not claim to name causes, counts as *side only*.
- *Step as recorded* is the mean or median range of a step; *without the profiler* was timed on the same machine. *Hidden communication* is the part of it that overlaps with computation.

## One recording

Recordings of real programs, from `tests/fixtures`.

<!-- gpu: bench/peers/results.json -->
| recording | tool | what limits it | idle share | hidden communication | step as recorded | without the profiler | CPU time | memory |
|---|---|---|---|---|---|---|---:|---:|
{table(('kineto', 'nsys', 'xplane'))}

## Drawn programs

{programs} programs of the families of `tests/simulate`, each with one clear limit, as files of torch.profiler and of Nsight Systems. We wrote the simulator, so these
figures favour us: rules of this program were checked on the same families, with other sizes and noise.

| file | tool | limit: right | side only | no answer | wrong | idle share right | hidden communication right | CPU time, median | memory, median |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(drawn_rows(results))}

Wrong limits, no answers and failures:

{wrong}

## Stragglers

Jobs whose stragglers are known (`tests/ranks`). HTA knows NCCL's kernels by their names before NCCL 2.19 and ends with an error on others, so it gets files with the old names. It always names two ranks.

| job | tool | answer | CPU time | memory |
|---|---|---|---:|---:|
{jobs}

## Where others answer better

{chr(10).join(better(results))}

{BEYOND}"""


LINE = re.compile(r"^\[Head to head\]\(.*$", re.MULTILINE)


def main():
    results = json.loads(RESULTS.read_text())
    PAGE.write_text(markdown(results))
    README.write_text(LINE.sub(lambda _: headline(results), README.read_text()))


if __name__ == "__main__":
    main()
