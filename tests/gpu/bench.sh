#!/usr/bin/env bash
# How the times of `bench` agree with other timers on a GPU: tests/gpu/bench.sh [PROCESSES]
# Six PyTorch functions, from a few us to a matrix product, by our modes (cold, hot, graph, with gaps, nvbench's stopping rule), by NVIDIA's
# nvbench and Triton's do_bench where they can be imported, and in PROCESSES (5) processes one after the other. Prints a Markdown
# table; do_bench is shown also where it is not right: functions that the host launches more slowly than the cache is cleared
# (gaps are in its time), kernels of a few us, and do_bench_cudagraph, which clears no cache.
# Exit status 77 with a reason where there is no GPU or no PyTorch, 1 when a bound is broken.
set -euo pipefail
. "$(dirname "$0")/common.sh"
has_torch || not_run "no PyTorch with CUDA"
processes=${1:-5}
export GPUPROF_BIN=$binary GPUPROF_LIBRARY=${GPUPROF_LIBRARY:-$(dirname "$binary")/libgpuprof.so}
export PYTHONPATH=$root/python${PYTHONPATH:+:$PYTHONPATH}

# take NAME WAY: the JSON of a way of timing, in $folder/NAME.
take() { "$python" "$here/workloads/timings.py" "$2" 2>"$folder/errors" | tail -n1 >"$folder/$1"; }

machine
take ours ours || { cat "$folder/errors" >&2 && exit 1; }
: >"$folder/nvbench" && : >"$folder/triton"
if has_module cuda.bench || has_module cuda.nvbench; then take nvbench nvbench || cat "$folder/errors" >&2; fi
if has_module triton.testing; then take triton triton || cat "$folder/errors" >&2; fi
found=()
for each in $(seq "$processes"); do
    take "process$each" processes || { cat "$folder/errors" >&2 && exit 1; }
    found+=("$folder/process$each")
done
printf '\n'
"$python" "$here/workloads/agreement.py" "$folder/ours" "$folder/nvbench" "$folder/triton" "${found[@]}"
