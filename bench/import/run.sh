#!/bin/sh
# Measures the import of large Kineto traces: bench/import/run.sh [MEGABYTES...] (default: 500 and 5000).
# Builds the `bench` preset, grows recordings of tests/fixtures to each size in a temporary folder, compares, and
# removes them.
set -eu
cd "$(dirname "$0")/../.."
sizes=${*:-500 5000}
cmake --preset bench >/dev/null
cmake --build build/bench --target gpu-profile grow_trace bench_import >/dev/null
bin=build/bench
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
echo "$(nproc) CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(c++ --version | head -1)"
for size in $sizes; do
    for name in kineto/transformer kineto/transformer-stacks-shapes-memory kineto/small_kernels; do
        { gzip -dc "tests/fixtures/$name.json.gz" 2>/dev/null || zstd -dcq "tests/fixtures/$name.json.zst"; } >"$folder/small.json"
        big="$folder/$(basename "$name").json"
        $bin/bench/import/grow_trace "$folder/small.json" "${size}000000" >"$big"
        $bin/bench/import/bench_import $bin/gpu-profile "$big"
        if [ "$size" -le 1000 ] && [ "$name" = kineto/transformer ]; then
            gzip -6 -k "$big"
            $bin/bench/import/bench_import $bin/gpu-profile "$big.gz"
            rm "$big.gz"
        fi
        rm "$big"
    done
done
