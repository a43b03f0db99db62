#!/usr/bin/env bash
# Measures predictions: bench/whatif/run.sh [KERNELS...] (default: 100 thousand, 1 million and 10 million).
# Builds the `bench` preset, creates captures of that many kernels with everything around them in a temporary folder (up to
# 270 MB), measures the replay in each (replay_cost.cc), and removes them.
set -eu
sizes=${*:-100000 1000000 10000000}
. "$(dirname "$0")/../measured.sh" make_big_capture replay_cost

for kernels in $sizes; do
    for name in transformer small_kernels; do
        make_capture "$name" "$folder/$name.gpuprof" "$kernels" --all
        "$bin/bench/whatif/replay_cost" "$folder/$name.gpuprof"
        rm "$folder/$name.gpuprof"
    done
done
