#!/usr/bin/env bash
# Runs the unit tests over the portable build of x86-64: `tests/portable_units.sh [FILTER]`. They are compiled with the pinned compiler and
# its standard library (libc++), whose containers, sorting and formatting may differ from the distribution's. It continues in the
# folder of `tools/build_portable x86_64`, whose objects it uses, and afterwards configures that folder as it was. GoogleTest is
# built from the source pinned here; it is in no package, so cmake/portable/sources.txt does not list it.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
cd "$root"
version=1.12.1
hash=81964fe578e9bd7c94dfdb09c8e4d6e6759e19967e397dbea48d1c10e45d0df2
kept=${GPUPROF_PORTABLE:-$root/build/portable}
build=$kept/build-x86_64
jobs=${GPUPROF_JOBS:-$(nproc)}
[ -e "$build/gpu-profile" ] || { echo "there is no portable build; run tools/build_portable x86_64" >&2 && exit 2; }
tools=$(sed -n 's/^GPUPROF_PORTABLE_TOOLS:PATH=//p' "$build/CMakeCache.txt")
log=$build/unit_tests.log

googletest() {
    local file=$kept/sources/googletest_$version.orig.tar.gz source=$tools/googletest-$version
    [ ! -e "$tools/googletest/lib/libgtest_main.a" ] || return 0
    [ -e "$file" ] || curl --fail --silent --show-error --location --output "$file" \
        "https://deb.debian.org/debian/pool/main/g/googletest/${file##*/}"
    echo "$hash  $file" | sha256sum --check --status
    mkdir -p "$source"
    tar -xf "$file" -C "$source" --strip-components 1
    cmake -S "$source" -B "$source/_build" -G Ninja -D CMAKE_TOOLCHAIN_FILE="$root/cmake/portable/toolchain.cmake" \
        -D GPUPROF_PORTABLE_TOOLS="$tools" -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX="$tools/googletest" -D BUILD_GMOCK=OFF
    cmake --build "$source/_build" -j "$jobs" --target install
    rm -r "$source"
}

configure() { cmake --preset wheel -B "$build" -D GPUPROF_PORTABLE_TOOLS="$tools" -D GTest_DIR="$tools/googletest/lib/cmake/GTest" "$@"; }

trap 'configure -D GPUPROF_TESTS=OFF >>"$log"' EXIT
# not "|| fail": that would switch set -e off inside
(set -e; googletest; configure -D GPUPROF_TESTS=ON; cmake --build "$build" -j "$jobs" --target unit_tests) >"$log" 2>&1 &
wait $! || { echo "the build failed: $(grep -m1 'error' "$log" || tail -n1 "$log") (log: $log)" >&2 && exit 1; }
python3 tests/run_unit_tests.py "$build/unit_tests" "$@"
