#!/usr/bin/env python3
"""Recordings of inference servers, answered by TraceLens and by this program: the same files, with what each run costs.

    python3 -m bench.peers.serving PROGRAM FOLDER --tracelens BIN [--runs 3]

FOLDER has recordings under the names that they have in public repositories (RECORDINGS; those that are missing are skipped), BIN is the
folder of TraceLens's commands (bench.peers.run installs them into build/peers/venv-TraceLens/bin). TraceLens is asked as its guide on inference
reports says: the report, with the folder of captures where there is one, and the split into steady state where there is more than one step. Prints
CPU time and peak memory, the median of the runs, and the figures that both have. This program reads `--whole` recordings: a slice of one step has no
part that is more typical than the rest, and operators ran before the work that they launched.
"""

import argparse
import csv
import json
import tempfile
from pathlib import Path
from statistics import median

from .run import Runs

# name, recording, captures; of AMD-AGI/TraceLens, tests/traces/inference, and of ijpq/vllm, vllm_profile
RECORDINGS = (
    ("vLLM, 18 steps, RTX 3090", "1765516657148888380-rank-0.1765516700499498181.pt.trace.json.gz", None),
    ("vLLM, one mixed step, MI300X", "vllm_prefilldecode_piecewise/graph_execution.json.gz", "vllm_prefilldecode_piecewise/capture_traces"),
    ("vLLM, one decode step, MI300X", "vllm_decode_full/graph_execution.json.gz", "vllm_decode_full/capture_traces"),
    ("SGLang, one prefill step, MI300X", "sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode.json.gz", None),
    ("SGLang, one decode step, MI300X", "sglang_decode/sglang_Qwen3-8B_decode.json.gz", "sglang_decode/capture_traces"),
)
ANALYSES = ("iterations", "phases", "kernels", "ops", "modules", "arithmetic", "graph_nodes")


def tracelens(run, tools, folder, recording, captures):
    captures = ["--capture_folder", captures] if captures else []
    run([tools / "TraceLens_generate_perf_report_pytorch_inference", "--profile_json_path", recording, *captures, "--output_csvs_dir", folder / "tables"])
    split = ""
    if not captures:
        run([tools / "TraceLens_split_inference_trace", recording, "-o", folder / "split", "--find-steady-state"])
        rows = list(csv.DictReader((folder / "split" / "execution_details.csv").open()))
        split = "; split: " + " and ".join(sorted({f"{row['phase_num_decode']} decode, {row['phase_num_prefill']} prefill, {row['phase_num_prefilldecode']} mixed" for row in rows}))
    part = {row["type"]: float(row["percent"]) for row in csv.DictReader((folder / "tables" / "gpu_timeline.csv").open())}
    products = [row for row in csv.DictReader((folder / "tables" / "unified_perf_summary.csv").open()) if row["op category"] == "GEMM"]
    count, spent = (sum(float(row[name]) for row in products) for name in ("operation_count", "Kernel Time (µs)_sum"))
    return f"idle {part['idle_time']:.1f} %; {count:.0f} products, {spent / 1000:.3f} ms{split}"


def ours(run, program, folder, recording, captures):
    files = [recording, *([captures] if captures else [])]
    said = json.loads(run([program, "report", *files, *ANALYSES, "--whole", "--format", "json", "--limit", "0"]))
    run([program, "report", *files])
    tables = {table["name"]: [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]] for table in said["tables"]}
    phases = ", ".join(f"{row['count']} {row['phase']} ({row['verdict']}, busy {row['busy_pct'] or 0:.1f} %)" for row in tables["phases"] if row["part"] == "all")
    products = [row for row in tables["arithmetic"] if row["name"] in ("aten::mm", "aten::addmm", "aten::matmul")]
    spent = sum(row["device_ns"] for row in products) / 1e6
    return f"{phases}; {sum(row['count'] for row in products)} products, {spent:.3f} ms"


def main():
    parser = argparse.ArgumentParser(description="Compares with TraceLens on recordings of servers.")
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tracelens", type=Path, required=True, metavar="BIN")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    asks = (("gpu-profile", ours, options.program.resolve()), ("TraceLens", tracelens, options.tracelens.resolve()))
    for name, recording, captures in RECORDINGS:
        recording, captures = options.folder.resolve() / recording, captures and options.folder.resolve() / captures
        if not recording.exists():
            print(f"{name}: not in {options.folder}")
            continue
        for tool, ask, place in asks:
            costs = []
            for _ in range(options.runs):
                with tempfile.TemporaryDirectory() as folder:
                    run = Runs(Path(folder))
                    answer = ask(run, place, Path(folder), recording, captures)
                costs.append((run.cpu_s, run.memory_mb))
            print(f"{name} | {tool} | {answer} | {median(cost[0] for cost in costs):.2f} s | {median(cost[1] for cost in costs):.0f} MB", flush=True)


if __name__ == "__main__":
    main()
