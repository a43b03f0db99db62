#!/usr/bin/env bash
# Measures compare: bench/compare/run.sh [KERNELS] (default: 1 million).
# Builds the `bench` preset, creates two captures of about that many kernels from each of two recordings in a temporary
# folder (about 10 MB each; the second is a tenth longer), times comparing them, and removes them.
set -eu
kernels=${1:-1000000}
. "$(dirname "$0")/../measured.sh" gpu-profile make_big_capture

for name in transformer small_kernels; do
    for all in "" --all; do
        make_capture "$name" "$folder/base.gpuprof" "$kernels" $all
        make_capture "$name" "$folder/new.gpuprof" $((kernels * 11 / 10)) $all
        for analyses in "" kernels; do
            # shellcheck disable=SC2086
            echo "compare $name $all $analyses: $(best_of 5 $bin/gpu-profile compare "$folder/base.gpuprof" "$folder/new.gpuprof" $analyses)"
        done
    done
done
