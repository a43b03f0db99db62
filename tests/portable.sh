#!/usr/bin/env bash
# Runs a portable wheel where it must run: `tests/portable.sh WHEEL [PROGRAM]`. An x86-64 wheel is installed in a chroot of Debian 11 (glibc
# 2.31, Python 3.9), without a network: report, record, view, import, sampling. The tarball and the .deb next to it are tried there as
# well. An aarch64 wheel is unpacked, and its program, library and package run under qemu with files of Debian 11 for arm64. Answers must
# equal those of PROGRAM (default: build/release/gpu-profile), byte for byte. Needs root and debootstrap for x86-64, and
# qemu-user-static for aarch64; both systems are kept in build/portable (290 and 50 MB).
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
cd "$root"
wheel=$(readlink -f "${1:?usage: tests/portable.sh WHEEL [PROGRAM]}")
program=$(readlink -f "${2:-build/release/gpu-profile}")
kept=${GPUPROF_PORTABLE:-$root/build/portable}
reports=(examples/input_bound.json.gz tests/fixtures/kineto/input_fixed.json.zst)
cubin=tests/fixtures/cubin/kernels.sm_90a.cubin.gz
sampling='from gpu_profile import GpuMonitor
with GpuMonitor(backend="replay:tests/fixtures/nvml/bursty.csv@max") as monitor: pass
answer = monitor.summary.format()
print(answer.splitlines()[0])
assert "566 samples" in answer, answer'

skip() { echo "$*" && exit 77; }
passed() { printf 'ok: %s\n' "$*"; }

[ -x "$program" ] || skip "no program to compare with: $program"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" kernel-info "$cubin" --format json >"$work/kernel-info.expected"
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
    local system=$kept/debian11 here=/gpu-profile-test form
    [ "$(id -u)" = 0 ] || skip "a chroot needs root"
    [ -e "$system/.complete" ] || debian_system "$system"
    rm -rf "${system:?}$here" && mkdir -p "$system$here/examples" "$system$here/tests/fixtures/kineto" "$system$here/tests/fixtures/nvml"
    cp "$wheel" tests/portable_view.py "$system$here/"
    cp examples/input_bound.json.gz "$system$here/examples/"
    cp tests/fixtures/kineto/input_fixed.json.zst "$system$here/tests/fixtures/kineto/"
    cp tests/fixtures/nvml/bursty.csv "$system$here/tests/fixtures/nvml/"
    from_wheel
    for form in tar.xz deb; do
        form=$(dirname "$wheel")/gpu-profile-$(basename "$wheel" | cut -d- -f2)-linux-x86_64.$form
        [ -e "$form" ] || { echo "not tried, because it is not next to the wheel: ${form##*/}" && continue; }
        case $form in
            *.tar.xz) from_tarball "$form" ;;
            *.deb) from_deb "$form" ;;
        esac
    done
}

debian_system() {
    command -v debootstrap >/dev/null || skip "debootstrap is not installed"
    rm -rf "$1"
    debootstrap --variant=minbase --include=python3,python3-pip,python3-venv bullseye "$1" http://deb.debian.org/debian >"$kept/debootstrap.log" 2>&1
    touch "$1/.complete"
}

# enter COMMAND: in the chroot; /proc for the program's own path, /dev/null for helper processes. The namespace's mounts end with it.
enter() { unshare --mount sh -c 'mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" && exec chroot "$0" sh -c "cd $1 && $2"' "$system" "$here" "$1"; }

# try_program PROGRAM: what the program of every package must do in the chroot.
try_program() {
    local installed=$1
    enter "$installed --version"
    same_reports enter_program
    enter "$installed record -o run.gpuprof -- python3 -c 'sum(range(10**6))' && $installed report run.gpuprof | head -n 3"
    passed "record"
    enter "python3 portable_view.py $installed examples/input_bound.json.gz"
    passed "view: the page, what it loads, and the end"
}
enter_program() { enter "$installed $*"; }

from_wheel() {
    enter "ldd --version | head -n1; rm -rf venv; python3 -m venv venv && venv/bin/pip install --quiet --no-index --disable-pip-version-check *.whl"
    passed "pip install --no-index"
    try_program venv/bin/gpu-profile
    enter "LD_PRELOAD=\$PWD/venv/lib/gpu-profile/libgpuprof_inject.so /bin/true"
    enter "LD_PRELOAD=\$PWD/venv/lib/gpu-profile/libgpuprof_os_calls.so /bin/true"
    passed "the injected libraries let a program start"
    enter "venv/bin/gpu-profile export html examples/input_bound.json.gz -o view.html && grep -q gpu-profile view.html"
    passed "the viewer, as one file"
    enter "venv/bin/python -c 'import gpu_profile; print(gpu_profile.report(\"examples/input_bound.json.gz\")[\"tool\"], gpu_profile.binary())'"
    passed "import gpu_profile, report()"
    enter "venv/bin/python -c '$sampling'"
    passed "GpuMonitor: libgpuprof.so and its sampler process"
    enter "venv/bin/pip uninstall --quiet --yes gpu-profile && test ! -e venv/bin/gpu-profile && test ! -e venv/lib/gpu-profile"
    passed "pip uninstall leaves nothing"
}

from_tarball() {
    tar -xf "$1" -C "$system$here"
    passed "tarball unpacked"
    try_program "$(basename "$1" .tar.xz)/bin/gpu-profile"
}

from_deb() {
    cp "$1" "$system$here/"
    enter "dpkg -i *.deb >dpkg.log 2>&1 || { cat dpkg.log && exit 1; }"
    passed "dpkg -i"
    try_program /usr/bin/gpu-profile
    enter "dpkg -r gpu-profile >dpkg.log && test ! -e /usr/bin/gpu-profile && test ! -e /usr/lib/gpu-profile"
    passed "dpkg -r leaves nothing"
}

under_qemu() {
    command -v qemu-aarch64-static >/dev/null || skip "qemu-aarch64-static is not installed"
    local system=$kept/debian11-arm64 emulated=$work/emulated
    [ -e "$system/.complete" ] || arm64_system "$system"
    python3 -m zipfile -e "$wheel" "$work/wheel"
    mv "$work"/wheel/gpu_profile-*.data/scripts "$work/bin" # to where pip would put them
    mv "$work"/wheel/gpu_profile-*.data/data/* "$work/"
    chmod +x "$work/bin/gpu-profile"
    local arm=(qemu-aarch64-static -L "$system")
    # a program of this machine, so that the emulated ones can start it
    printf '#!/bin/sh\nexec qemu-aarch64-static -L "%s" "%s" "$@"\n' "$system" "$work/bin/gpu-profile" >"$emulated"
    chmod +x "$emulated"
    export GPUPROF_PROGRAM=$emulated GPUPROF_LIBRARY=$work/lib/gpu-profile/libgpuprof.so
    "$emulated" --version
    same_reports "$emulated"
    "$emulated" kernel-info "$cubin" --format json >"$work/answer"
    cmp "$work/answer" "$work/kernel-info.expected"
    passed "kernel-info equal, byte for byte"
    "$emulated" doctor >"$work/doctor"
    head -n 2 "$work/doctor"
    passed "doctor"
    "$emulated" record -o "$work/run.gpuprof" -- "${arm[@]}" "$system/usr/bin/python3.9" -c 'assert "gpuprof_inject" in open("/proc/self/maps").read()'
    "$emulated" report "$work/run.gpuprof" | head -n 3
    passed "record, with the injected library loaded"
    python3 tests/portable_view.py "$emulated" "${reports[0]}"
    passed "view: the page, what it loads, and the end"
    PYTHONPATH=$work/wheel "${arm[@]}" "$system/usr/bin/python3.9" -c "$sampling"
    passed "GpuMonitor: libgpuprof.so and its sampler process"
}

# Packages of Debian 11 for arm64, found in the distribution's own index and checked by its hashes, without installing them.
arm64_system() {
    local mirror=http://deb.debian.org/debian path hash
    local packages=(libc6 python3.9-minimal libpython3.9-minimal libpython3.9-stdlib libffi7 libexpat1 zlib1g)
    mkdir -p "$1"
    curl --fail --silent --location $mirror/dists/bullseye/main/binary-arm64/Packages.xz | xz -dc |
        awk -v wanted=" ${packages[*]} " '/^Package: / { name = $2 } /^Filename: / { path = $2 }
            /^SHA256: / && index(wanted, " " name " ") { print path, $2 }' >"$work/packages"
    while read -r path hash; do
        curl --fail --silent --location --output "$work/package.deb" "$mirror/$path"
        echo "$hash  $work/package.deb" | sha256sum --check --status
        dpkg-deb -x "$work/package.deb" "$1"
    done <"$work/packages"
    touch "$1/.complete"
}

case $wheel in
    *_x86_64.whl) in_debian ;;
    *_aarch64.whl) under_qemu ;;
    *) echo "not a portable wheel: $wheel" >&2 && exit 2 ;;
esac
