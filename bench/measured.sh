# shellcheck shell=bash
# Sourced by benchmarks that time whole runs of the program over generated captures. Usage in bench/NAME/run.sh,
# followed by the targets of the `bench` preset that it needs:
# `. "$(dirname "$0")/../measured.sh" gpu-profile make_big_capture`.
# Changes to the root, builds, and prints the machine. Afterwards $bin is the build and $folder a folder that is removed
# at the end of the script.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cmake --preset bench >/dev/null
cmake --build build/bench --target "$@" >/dev/null
bin=build/bench
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
echo "$(nproc) CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(c++ --version | head -1)"
echo "load average before: $(cut -d' ' -f1-3 /proc/loadavg)"

# best_of N COMMAND...: the shortest wall time of N runs in seconds, and the user and system CPU time of that run.
best_of() {
    local runs=$1
    shift
    for _ in $(seq "$runs"); do
        { TIMEFORMAT='%R %U %S' && time "$@" >/dev/null; } 2>&1
    done | sort -n | head -1
}

# make_capture RECORDING OUT KERNELS [--all]: copies of a recording of tests/fixtures/kineto, shifted in time.
make_capture() { "$bin/bench/capture/make_big_capture" "tests/fixtures/kineto/$1.json".* "${@:2}"; }
