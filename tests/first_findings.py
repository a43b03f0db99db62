#!/usr/bin/env python3
"""The first finding of each labelled recording next to the words of an expert: tests/first_findings.py BINARY [--write PAGE]

What the expert says was written from the program, where it is known, or from the recording in another viewer. A finding is right if the expert
names it first, acceptable if he names it too, and wrong otherwise. --write replaces the table between the markers of a page (docs/how-it-works/findings.md).
"""

import argparse
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent / "fixtures"
BEGIN, END = "<!-- first findings: tests/first_findings.py --write -->\n", "<!-- end of first findings -->"

# recording -> (what an expert says, rules that are right, rules that are acceptable); None: no finding
EXPERT = {
    "kineto/graph": ("FP32 products of 32 rows in a graph cannot fill the GPU: larger batches", {"underfilled-device"}, {"no-tensor-cores"}),
    "kineto/input_bound": ("the DataLoader has no workers", {"input-pipeline"}, set()),
    "kineto/input_fixed": ("a CNN in NCHW and TF32: channels_last, then bf16", {"layout-conversion", "slow-convolution"}, {"memory-bound-kernels"}),
    "kineto/memory_bound": ("elementwise chains on large tensors: fuse them", {"memory-bound-kernels"}, set()),
    "kineto/overlap": ("FP32 products without tensor cores: allow TF32", {"no-tensor-cores"}, set()),
    "kineto/small_kernels": ("1,200 tiny kernels a step: compile, or a CUDA graph", {"small-kernels"}, set()),
    "kineto/transformer": ("the profiler delays the launches: record less; then FP32 casts of the logits", {"profiler-cost", "type-casts"}, {"memory-bound-kernels", "small-kernels"}),
    "kineto/transformer-stacks-shapes-memory": ("the same, with stacks and shapes on top", {"profiler-cost", "type-casts"}, {"memory-bound-kernels", "small-kernels"}),
    "kineto/triton": ("a few launches of one kernel: too short to say more", {None}, {"profiler-cost"}),
    "jax/mlp.trace": ("NumPy work in Python between the steps: keep the loop under jit", {"idle-gaps"}, {"small-kernels"}),
    "nsys/h100_2gpu_1s": ("parameters are offloaded to the host and copied in every step: keep them on the GPU", {"memory-transfers"}, set()),
    "nsys/mfu_2gpu_before": ("fused attention dominates; the elementwise kernels around it are not fused", {"memory-bound-kernels"}, {"type-casts", "layout-conversion"}),
    "nsys/mfu_2gpu_after": ("the same, and blocking copies of 8 bytes: create scalars on the GPU", {"memory-bound-kernels", "memory-transfers"}, {"type-casts"}),
    "public/critical_path__alexnet__benchmark_result_2869224_1695835535_trace": (
        "start-up: cuDNN is initialised and memory allocated; warm up before recording", {"allocation-churn"}, {"idle-gaps"}),
    "public/nccl_parser_config__nccl_data": ("a small CNN under DDP: launching bounds it", {"small-kernels"}, {"idle-gaps"}),
    "public/trace_filter__sampled_rank-0": ("all-to-alls that nothing hides; half of the work was thinned out", {"exposed-communication", "late-ranks"}, {"idle-gaps"}),
    "public/trace_filter__sampled_rank-1": ("the same", {"exposed-communication", "late-ranks"}, {"idle-gaps"}),
    "public/triton_example__triton_example": ("one kernel: nothing to say", {None}, set()),
} | {f"public/dlrm/worker{rank}": ("waits in all-to-alls for worker 7", {"exposed-communication", "late-ranks"}, {"profiler-cost"}) for rank in range(7)} | {
    "public/dlrm/worker7": ("the late rank: its host launches small kernels too slowly", {"small-kernels", "idle-gaps"}, set())}


def first_finding(binary, name):
    """Of the recording with this name, however it is packed."""
    archive = FIXTURES / f"{Path(name).parent}.tar.xz"  # of recordings that are much alike
    if archive.exists():
        with tarfile.open(archive) as job:
            recording, content = "-", job.extractfile(f"{Path(name).name}.json").read()
    else:
        recording, content = str(next(path for path in sorted(FIXTURES.glob(f"{name}.*")) if path.suffix in (".gz", ".zst"))), None
    done = subprocess.run([binary, "report", recording, "--format", "json"], input=content, capture_output=True, check=True)
    return next(iter(json.loads(done.stdout)["findings"]), None)


def judged(first, right, acceptable):
    rule = first and first["id"]
    return "right" if rule in right else "acceptable" if rule in acceptable else "**wrong**"


def table(binary):
    lines, counts = ["| recording | an expert says | we say first | |", "|---|---|---|---|"], {}
    for name, (says, right, acceptable) in sorted(EXPERT.items()):
        first = first_finding(binary, name)
        word = judged(first, right, acceptable)
        counts[word.strip("*")] = counts.get(word.strip("*"), 0) + 1
        lines.append(f"| {name} | {says} | {first['title'] if first else 'no finding'} | {word} |")
    summary = ", ".join(f"{counts.get(word, 0)} {word}" for word in ("right", "acceptable", "wrong"))
    return "\n".join(lines) + f"\n\nOf {len(EXPERT)}: {summary}.\n"


def show(text, page, begin, end):
    """Prints a table, or puts it between two lines of a page. Returns the exit status."""
    if not page:
        print(text, end="")
        return 0
    place = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not place.search(page.read_text()):
        print(f"{page}: no line '{begin.strip()}'", file=sys.stderr)
        return 2
    page.write_text(place.sub(lambda _: begin + text + end, page.read_text()))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--write", type=Path, metavar="PAGE")
    given = parser.parse_args()
    return show(table(given.binary), given.write, BEGIN, END)


if __name__ == "__main__":
    sys.exit(main())
