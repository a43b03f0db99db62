#!/usr/bin/env bash
# Measures compare: bench/compare/run.sh [KERNELS], by default 1 million.
# Builds the `bench` preset, makes two captures of about that many kernels from each of two recordings in a temporary folder
# (about 10 MB each; the second a tenth longer), times comparing them, and removes them.
set -eu
cd "$(dirname "$0")/../.."
kernels=${1:-1000000}
cmake --preset bench >/dev/null
cmake --build build/bench --target gpu-profile make_big_capture >/dev/null
bin=build/bench
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
echo "$(nproc) CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(c++ --version | head -1)"
echo "load average before: $(cut -d' ' -f1-3 /proc/loadavg)"

# best_of N COMMAND...: the shortest wall time of N runs, in seconds, and the CPU time of that run.
best_of() {
    runs=$1
    shift
    for _ in $(seq "$runs"); do
        { TIMEFORMAT='%R %U %S' && time "$@" >/dev/null; } 2>&1
    done | sort -n | head -1
}
for name in transformer small_kernels; do
    for all in "" --all; do
        $bin/bench/capture/make_big_capture "tests/fixtures/kineto/$name.json.gz" "$folder/base.gpuprof" "$kernels" $all
        $bin/bench/capture/make_big_capture "tests/fixtures/kineto/$name.json.gz" "$folder/new.gpuprof" $((kernels * 11 / 10)) $all
        for analyses in "" kernels; do
            # shellcheck disable=SC2086
            echo "compare $name $all $analyses: $(best_of 5 $bin/gpu-profile compare "$folder/base.gpuprof" "$folder/new.gpuprof" $analyses)"
        done
    done
done
