#!/usr/bin/env bash
# What counters over time cost the program: step times of three programs recorded without them, at 1 kHz and at 10 kHz, in turns,
# so that a GPU that warms up or slows down does so for all. Needs a GPU, PyTorch and the permission for counters.
#
#   tests/gpu/pm.sh [GPU-PROFILE] [ROUNDS] [STEPS]
#
# Prints one line per program and rate: the median step, its ratio to that without counters, and samples taken and lost in
# the first round. Exit status 77: not run, with the reason.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
program=${1:-$here/../../build/release/gpu-profile}
rounds=${2:-5} steps=${3:-200}
python=${PYTHON:-python3}

not_run() {
    echo "not run: $1"
    exit 77
}
[ -x "$program" ] || not_run "no program $program"
[ -e /dev/nvidia0 ] || not_run "no GPU (/dev/nvidia0)"
"$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2> /dev/null || not_run "no PyTorch that sees a GPU"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$program" record --quiet -o "$folder/try.gpuprof" --sample 0,pm -- sleep 3 2> "$folder/try.said" || true
"$program" report "$folder/try.gpuprof" samples 2> /dev/null | grep -q pm.sm.active ||
    not_run "$(grep 'counters over time' "$folder/try.said" || echo 'no counters were sampled')"

for kind in small_kernels memory matmul; do
    for round in $(seq "$rounds"); do
        for rate in 0 1000 10000; do
            sample=0
            [ "$rate" = 0 ] || sample=0,pm@$rate
            "$program" record --quiet -o "$folder/$kind-$rate-$round.gpuprof" --sample "$sample" -- \
                "$python" "$here/steps.py" "$kind" "$steps" >> "$folder/$kind-$rate.steps" 2>> "$folder/$kind-$rate.said"
        done
    done
done

printf '%-14s %8s %12s %8s %10s %8s\n' program Hz 'median ms' ratio samples lost
for kind in small_kernels memory matmul; do
    for rate in 0 1000 10000; do
        "$program" report "$folder/$kind-$rate-1.gpuprof" samples losses --format json > "$folder/report.json"
        "$python" - "$folder" "$kind" "$rate" << 'PYTHON'
import json
import statistics
import sys

folder, kind, rate = sys.argv[1:]


def median(rate):
    with open(f"{folder}/{kind}-{rate}.steps") as lines:
        return statistics.median(float(line) for line in lines if line.strip())


with open(f"{folder}/report.json") as file:
    tables = {table["name"]: table for table in json.load(file)["tables"]}


def cell(table, where, column):
    names = [each["name"] for each in tables[table]["columns"]]
    rows = [dict(zip(names, row)) for row in tables[table]["rows"]]
    return sum(row[column] for row in rows if all(row[key] == value for key, value in where.items()))


samples = cell("samples", {"metric": "pm.sm.active"}, "count")
lost = cell("losses", {"kind": "recorder_loss"}, "count")
print(f"{kind:14} {rate:>8} {median(rate):12.4f} {median(rate) / median(0):8.3f} {samples:10} {lost:8}")
PYTHON
    done
done
cat "$folder"/*.said | grep 'counters over time' | sort | uniq -c || true
