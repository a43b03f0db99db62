#!/usr/bin/env bash
# Runs a portable wheel where it must run: `tests/portable.sh WHEEL [PROGRAM]`. An x86-64 wheel is installed in a chroot of Debian 11 (glibc
# 2.31, Python 3.9), without a network: report, record, view, import, sampling; an aarch64 wheel is unpacked, and its program runs
# under qemu with the C library of Debian 11. Reports must equal those of PROGRAM (default: build/release/gpu-profile), byte for byte.
# Needs root, debootstrap and (for aarch64) qemu-user-static; the chroot is kept in build/portable (390 MB).
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
cd "$root"
wheel=$(readlink -f "${1:?usage: tests/portable.sh WHEEL [PROGRAM]}")
program=$(readlink -f "${2:-build/release/gpu-profile}")
kept=${GPUPROF_PORTABLE:-$root/build/portable}
reports=(examples/input_bound.json.gz tests/fixtures/kineto/input_fixed.json.gz)

skip() { echo "$*" && exit 77; }
passed() { printf 'ok: %s\n' "$*"; }

[ -x "$program" ] || skip "no program to compare with: $program"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in "${reports[@]}"; do "$program" report "$file" --format json >"$work/$(basename "$file").expected"; done

# same_reports COMMAND...: the program by COMMAND says the same as PROGRAM.
same_reports() {
    local file
    for file in "${reports[@]}"; do
        "$@" report "$file" --format json >"$work/answer"
        cmp "$work/answer" "$work/$(basename "$file").expected"
    done
    passed "${#reports[@]} reports equal, byte for byte"
}

in_debian() {
    local system=$kept/debian11 here=/gpu-profile-test
    command -v debootstrap >/dev/null || [ -e "$system/bin/sh" ] || skip "debootstrap is not installed"
    [ "$(id -u)" = 0 ] || skip "a chroot needs root"
    [ -e "$system/usr/bin/python3" ] || debootstrap --variant=minbase --include=python3,python3-pip,python3-venv bullseye "$system" \
        http://deb.debian.org/debian >"$kept/debootstrap.log" 2>&1
    rm -rf "${system:?}$here" && mkdir -p "$system$here/examples" "$system$here/tests/fixtures/kineto" "$system$here/tests/fixtures/nvml"
    cp "$wheel" "$system$here/"
    cp examples/input_bound.json.gz "$system$here/examples/"
    cp tests/fixtures/kineto/input_fixed.json.gz "$system$here/tests/fixtures/kineto/"
    cp tests/fixtures/nvml/bursty.csv "$system$here/tests/fixtures/nvml/"
    # /proc for the program's own path, /dev/null for helper processes; the namespace's mounts end with it
    enter() { unshare --mount sh -c 'mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" && exec chroot "$0" sh -c "cd $1 && $2"' "$system" "$here" "$1"; }
    enter "ldd --version | head -n1; rm -rf venv; python3 -m venv venv && venv/bin/pip install --quiet --no-index --disable-pip-version-check *.whl"
    passed "pip install --no-index"
    enter "venv/bin/gpu-profile --version"
    same_reports enter_program
    enter "LD_PRELOAD=\$PWD/venv/lib/gpu-profile/libgpuprof_inject.so /bin/true"
    passed "the injected library lets a program start"
    enter "venv/bin/gpu-profile record -o run.gpuprof -- venv/bin/python -c 'sum(range(10**6))' && venv/bin/gpu-profile report run.gpuprof | head -n 3"
    passed "record"
    enter "venv/bin/gpu-profile export html examples/input_bound.json.gz -o view.html && grep -q gpu-profile view.html"
    passed "the viewer, as one file"
    enter "venv/bin/python -c 'import gpu_profile; print(gpu_profile.report(\"examples/input_bound.json.gz\")[\"tool\"], gpu_profile.binary())'"
    passed "import gpu_profile, report()"
    enter "venv/bin/python -c 'from gpu_profile import GpuMonitor
with GpuMonitor(backend=\"replay:tests/fixtures/nvml/bursty.csv@max\") as monitor: pass
print(monitor.summary.format().splitlines()[0])'"
    passed "GpuMonitor: libgpuprof.so and its sampler process"
    enter "venv/bin/pip uninstall --quiet --yes gpu-profile && test ! -e venv/bin/gpu-profile && test ! -e venv/lib/gpu-profile"
    passed "pip uninstall leaves nothing"
}
enter_program() { enter "venv/bin/gpu-profile $*"; }

under_qemu() {
    command -v qemu-aarch64-static >/dev/null || skip "qemu-aarch64-static is not installed"
    local library=$kept/libc-arm64
    [ -e "$library/lib/aarch64-linux-gnu/libc.so.6" ] || arm64_libc "$library"
    python3 -m zipfile -e "$wheel" "$work/wheel"
    local scripts=("$work"/wheel/gpu_profile-*.data/scripts/gpu-profile)
    chmod +x "${scripts[0]}"
    qemu-aarch64-static -L "$library" "${scripts[0]}" --version
    same_reports qemu-aarch64-static -L "$library" "${scripts[0]}"
}

# The package of Debian 11 for arm64, found in the distribution's own index.
arm64_libc() {
    local mirror=http://deb.debian.org/debian path
    path=$(curl --fail --silent --location $mirror/dists/bullseye/main/binary-arm64/Packages.xz | xz -dc |
        awk '/^Package: libc6$/ { ours = 1 } ours && /^Filename: / { print $2; exit }')
    mkdir -p "$1"
    curl --fail --silent --location --output "$work/libc6.deb" "$mirror/$path"
    dpkg-deb -x "$work/libc6.deb" "$1"
}

case $wheel in
    *_x86_64.whl) in_debian ;;
    *_aarch64.whl) under_qemu ;;
    *) echo "not a portable wheel: $wheel" >&2 && exit 2 ;;
esac
