#!/usr/bin/env bash
# Measures captures: bench/capture/run.sh [KERNELS], by default 10 million.
# Builds the `bench` preset, prints the size of each recording of tests/fixtures/kineto, then makes captures of that many
# kernels in a temporary folder (about 70 MB each), times opening them and the commands a user runs, and removes them.
set -eu
cd "$(dirname "$0")/../.."
kernels=${1:-10000000}
cmake --preset bench >/dev/null
cmake --build build/bench --target gpu-profile capture_size make_big_capture open_capture >/dev/null
bin=build/bench
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
echo "$(nproc) CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(c++ --version | head -1)"
echo "load average before: $(cut -d' ' -f1-3 /proc/loadavg)"
$bin/bench/capture/capture_size tests/fixtures/kineto/*.json.gz

# best_of N COMMAND...: the shortest wall time of N runs, in seconds, and the CPU time of that run.
best_of() {
    runs=$1
    shift
    for _ in $(seq "$runs"); do
        { TIMEFORMAT='%R %U %S' && time "$@" >/dev/null; } 2>&1
    done | sort -n | head -1
}
for name in transformer small_kernels; do
    big="$folder/$name.gpuprof"
    $bin/bench/capture/make_big_capture "tests/fixtures/kineto/$name.json.gz" "$big" "$kernels"
    $bin/bench/capture/open_capture "$big"
    for analyses in "devices kernels" devices kernels ""; do
        # shellcheck disable=SC2086
        echo "report $name.gpuprof $analyses: $(best_of 5 $bin/gpu-profile report "$big" $analyses)"
    done
done
