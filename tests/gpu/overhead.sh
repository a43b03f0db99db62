#!/usr/bin/env bash
# What recording costs on a GPU: tests/gpu/overhead.sh [ROUNDS]
# Runs each workload with nothing, with `record`, with `record --api all`, and under nsys and torch.profiler where they are
# installed, one after the other ROUNDS times (5), and prints medians and ratios as a Markdown table for
# docs/benchmarks/recording.md. Exit status 77 with a reason where there is no GPU.
set -eu
. "$(dirname "$0")/common.sh"
rounds=${1:-5}

# The commands print a figure on their last line: ms a step, or us a launch.
with_nothing() { "$@"; }
with_record() { "$binary" record --quiet --sample 0 -o "$folder/capture" -- "$@"; }
with_record_all() { "$binary" record --quiet --sample 0 --api all -o "$folder/capture" -- "$@"; }
with_nsys() { nsys profile --force-overwrite true -t cuda,nvtx -o "$folder/nsys" "$@" | grep -E '^[0-9.]+$'; }
with_torch_profiler() { "$@" --profile "$folder/totals"; }

# rounds_of WORKLOAD COMMAND...: a line "WAY FIGURE" for each run.
rounds_of() {
    local ways="nothing record record_all" way
    ! command -v nsys >/dev/null || ways="$ways nsys"
    [ "$1" = storm ] || ways="$ways torch_profiler"
    shift
    for _ in $(seq "$rounds"); do
        for way in $ways; do
            printf '%s %s\n' "$way" "$("with_$way" "$@" 2>"$folder/errors" | tail -n1)" ||
                { cat "$folder/errors" >&2 && exit 1; }
        done
    done
}

table() {
    "$python" - "$1" "$folder/figures" <<'PYTHON'
import collections, statistics, sys
figures = collections.defaultdict(list)
for line in open(sys.argv[2]):
    way, figure = line.split()
    figures[way].append(float(figure))
base = statistics.median(figures["nothing"])
for way, values in figures.items():
    middle = statistics.median(values)
    print(f"| {sys.argv[1]} | {way.replace('_', ' ')} | {middle:.3f} | {min(values):.3f} to {max(values):.3f} | x{middle / base:.3f} |")
PYTHON
}

machine
printf '\n| workload | recorded by | median | range | ratio |\n|---|---|---|---|---|\n'
if has_torch; then
    rounds_of launches "$python" "$here/workloads/steps.py" launches 200 >"$folder/figures"
    table 'launch-bound loop (ms a step)'
    rounds_of transformer "$python" "$here/workloads/steps.py" transformer 50 >"$folder/figures"
    table 'transformer step (ms)'
else
    echo "no PyTorch with CUDA: its workloads are left out" >&2
fi
if build_storm; then
    rounds_of storm "$folder/storm" 300000 >"$folder/figures"
    table 'empty kernels (us a launch)'
fi
