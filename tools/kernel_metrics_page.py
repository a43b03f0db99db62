#!/usr/bin/env python3
"""Prints docs/reference/kernel-metrics.md: the counters of kernels with our names, the sets that have them and the passes that each needs.

    GPUPROF_CUPTI=build/cupti/nvidia/cu13/lib/libcupti.so.13 tools/kernel_metrics_page.py PROGRAM > docs/reference/kernel-metrics.md

CUPTI's host interface counts the passes; it needs neither driver nor GPU.
"""

import json
import re
import subprocess
import sys

CHIPS = {"GH100": "H100, H200", "GA100": "A100", "AD102": "RTX 4090, L40", "GB100": "B100, B200", "TU102": "RTX 2080 Ti", "GB202": "RTX 5090"}

HEAD = """# Counters of kernels

Every counter that a set of [`gpu-profile counters`](commands/counters.md) measures or that `report FILE metrics` names: our name, the vendor's name, its
base unit, the sets, and how many passes it needs alone. A set shares passes between its counters, so it needs far fewer than their sum; `gpu-profile counters
--plan-for CHIP --set SET,METRIC,…` tells what a list needs together. A dash: the chip lacks the counter, or its value does not come from counters but from the launch, the
device, samples or other counters. What a counter means is in the [schema](schema.md#counters-of-kernels).

"""
FOOT = """
Passes are those of CUPTI 13.0, of {chips}. Written by `tools/kernel_metrics_page.py`, and checked by `tests/python/record/test_counter_catalogue.py`.
"""


def output(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True, timeout=300).stdout


def known_metrics(program):
    """vendor's name -> (our name, unit), in the order of the schema: metrics, parts of throughputs, stall reasons."""
    tables = {table["name"]: table["rows"] for table in json.loads(output(program, "schema", "--format", "json"))["tables"]}
    known = {}
    for _, name, unit, vendor_name, _ in tables["kernel_metrics"]:
        known.setdefault(vendor_name, (name, unit or ""))
    for of, name, vendor_name in tables["throughput_parts"]:
        known.setdefault(vendor_name, (f"part of {of}: {name}", "%"))
    for name, *_ in tables["stall_reasons"]:
        known.setdefault(f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio", (f"stall: {name}", "cycle/inst"))
    return known


def sets_of_metrics(program):
    """metric -> the sets that have it; of the sets that are not made of others. Names are the same for every chip; CUPTI answers soonest for this one."""
    sets = {}
    for line in output(program, "counters", "--list-sets").splitlines():
        name = line.partition(" ")[0]
        if not name or name in ("full", "source", "Passes"):
            continue
        for metric in passes_alone(program, "TU102", name):
            sets.setdefault(metric, []).append(name)
    return {metric: [name for name in names if name != "sol" or "triage" not in names] for metric, names in sets.items()}


def passes_alone(program, chip, wanted):
    """metric -> passes as text, "–" if the chip lacks it."""
    found = re.findall(r"^ +(\d+|–)  (\S+)", output(program, "counters", "--plan-for", chip, "--set", wanted), re.MULTILINE)
    return {metric: passes for passes, metric in found if metric != "together"}


def measurable(name):
    return "__" in name and "." in name


def page(program):
    known, sets = known_metrics(program), sets_of_metrics(program)
    metrics = [*known, *(metric for metric in sets if metric not in known)]
    wanted = ",".join(metric for metric in metrics if measurable(metric))
    passes = {chip: passes_alone(program, chip, wanted) for chip in CHIPS}
    yield "| name | counter | unit | sets | " + " | ".join(CHIPS) + " |"
    yield "|---" * (4 + len(CHIPS)) + "|"
    for metric in metrics:
        name, unit = known.get(metric, ("", ""))
        counts = " | ".join(passes[chip].get(metric, "–") for chip in CHIPS)
        yield f"| {name} | `{metric}` | {unit} | {', '.join(sets.get(metric, []))} | {counts} |"


if __name__ == "__main__":
    lines = "\n".join(page(sys.argv[1]))
    print(HEAD + lines + FOOT.format(chips=", ".join(f"{chip} ({gpus})" for chip, gpus in CHIPS.items())), end="")
