#!/usr/bin/env bash
# Measures the cost of sampling, with a fake NVML whose calls take as long as on an H200: bench/device/run.sh. Prints
# lateness of ticks and CPU time at 10 ms for one and eight devices, the time that `gpu-profile -- true` adds to `true`,
# and the memory of ten million samples.
set -eu
cd "$(dirname "$0")/../.."
cmake --preset bench >/dev/null
cmake --build build/bench --target gpu-profile bench_series fake_nvml >/dev/null
bin=build/bench
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
echo "$(nproc) CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
echo "load average before: $(cut -d' ' -f1-3 /proc/loadavg)"
export GPUPROF_NVML=$PWD/$bin/fakes/libnvidia-ml.so.1 GPUPROF_FAKE_NVML=$folder/driver

script() {
    for device in $(seq 0 $(($1 - 1))); do
        printf 'device name=NVIDIA_H200\nsquare %d util_gpu 0 100 400\n' "$device"
        for value in 'util_mem 20' 'mem_used_mb 1000' 'power_w 300' 'temp_c 50' 'sm_clock_mhz 1500' 'mem_clock_mhz 3201' \
            'energy_j 10' 'throttle_reasons 0' 'pstate 0'; do
            printf 'set %d %s\n' "$device" "$value"
        done
    done
    echo 'cost measured'
}
for devices in 1 8; do
    script "$devices" >"$GPUPROF_FAKE_NVML"
    $bin/gpu-profile --backend nvml --device all --interval 0.01 --output "$folder/out" -- sleep 10 2>/dev/null
    grep -oE '"(jitter_p99_ms|sampler_cpu_pct|n_samples)": [0-9.]+' "$folder/out" | head -3 | tr '\n' ' '
    echo "($devices devices, 10 ms, 10 s)"
done

# best_of N COMMAND...: the shortest wall time of N runs in ms.
best_of() {
    runs=$1
    shift
    for _ in $(seq "$runs"); do
        begun=$(date +%s%N)
        "$@" >/dev/null 2>&1
        echo $((($(date +%s%N) - begun) / 1000))
    done | sort -n | head -1
}
script 1 >"$GPUPROF_FAKE_NVML"
echo "true: $(best_of 50 true) us; gpu-profile -- true: $(best_of 50 $bin/gpu-profile -- true) us with a GPU, $(
    GPUPROF_NVML=/nowhere best_of 50 $bin/gpu-profile -- true
) us without; gpu-profile --version: $(best_of 50 $bin/gpu-profile --version) us"
$bin/bench/device/bench_series
