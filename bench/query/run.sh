#!/usr/bin/env bash
# Measures query: bench/query/run.sh [KERNELS], by default 10 million.
# Builds the `bench` preset, makes captures of that many kernels in a temporary folder (about 70 MB each), times statements over
# them, and removes them. `SELECT 1` touches no row, so it is what opening costs: what a statement takes beyond it is the statement's.
set -eu
cd "$(dirname "$0")/../.."
kernels=${1:-10000000}
cmake --preset bench >/dev/null
cmake --build build/bench --target gpu-profile make_big_capture >/dev/null
bin=build/bench
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
echo "$(nproc) CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(c++ --version | head -1)"
echo "load average before: $(cut -d' ' -f1-3 /proc/loadavg)"

# best_of N COMMAND...: the shortest wall time of N runs, in seconds, and the CPU time of that run, of the user and of the system.
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
    for sql in "SELECT 1" \
        "SELECT count(*) FROM kernel" \
        "SELECT sum(dur_ns) FROM kernel" \
        "SELECT count(*) FROM kernel WHERE name LIKE '%gemm%'" \
        "SELECT name, count(*), sum(dur_ns) FROM kernel GROUP BY name" \
        "SELECT stream, max(dur_ns) FROM kernel GROUP BY stream" \
        "SELECT count(*) FROM kernel JOIN api_call USING (correlation)"; do
        echo "query $name.gpuprof \"$sql\": $(best_of 5 $bin/gpu-profile query "$big" "$sql")"
    done
done
