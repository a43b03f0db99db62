#!/usr/bin/env bash
# Measures captures: bench/capture/run.sh [KERNELS] (default: 10 million).
# Builds the `bench` preset, prints the size of each recording of tests/fixtures/kineto, then creates captures of that
# many kernels in a temporary folder (about 70 MB each), times opening them and the usual commands, and removes them.
set -eu
kernels=${1:-10000000}
. "$(dirname "$0")/../measured.sh" gpu-profile capture_size make_big_capture open_capture
$bin/bench/capture/capture_size tests/fixtures/kineto/*.json.*

for name in transformer small_kernels; do
    big="$folder/$name.gpuprof"
    make_capture "$name" "$big" "$kernels"
    $bin/bench/capture/open_capture "$big"
    for analyses in "devices kernels" devices kernels ""; do
        # shellcheck disable=SC2086
        echo "report $name.gpuprof $analyses: $(best_of 5 $bin/gpu-profile report "$big" $analyses)"
    done
done
