#!/usr/bin/env bash
# Measures query: bench/query/run.sh [KERNELS] (default: 10 million).
# Builds the `bench` preset, creates captures of that many kernels in a temporary folder (about 70 MB each), times
# statements over them, and removes them. `SELECT 1` touches no row, so it measures opening; the rest of a statement's
# time is its own.
set -eu
kernels=${1:-10000000}
. "$(dirname "$0")/../measured.sh" gpu-profile make_big_capture

for name in transformer small_kernels; do
    big="$folder/$name.gpuprof"
    make_capture "$name" "$big" "$kernels"
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
