#!/usr/bin/env bash
# Prepares a portable build: `prepare.sh ARCH` (x86_64 or aarch64) fetches the pinned compiler and builds the pinned libraries
# as static archives, then prints the folder that cmake/portable/toolchain.cmake needs.
#   $GPUPROF_PORTABLE   where everything is kept (default: build/portable); 450 MB with both architectures
#   $GPUPROF_SOURCES    a folder with the source files, for machines without a network
# The folder of an architecture is named after the hash of what determines it (this folder's files), so a change builds
# anew and nothing stale is linked. Nothing here needs root. Each library comes from its unmodified release.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(dirname "$(dirname "$here")")
arch=${1:?usage: prepare.sh x86_64|aarch64}
case $arch in x86_64 | aarch64) ;; *) echo "prepare.sh: unknown architecture '$arch'; use x86_64 or aarch64" >&2 && exit 2 ;; esac
jobs=${GPUPROF_JOBS:-$(nproc)}
kept=${GPUPROF_PORTABLE:-$root/build/portable}
kept=$(mkdir -p "$kept" && cd "$kept" && pwd)
sources=${GPUPROF_SOURCES:-$kept/sources}
key=$(cd "$here" && cat requirements.txt sources.txt prepare.sh libraries.sh toolchain.cmake preact-licence.txt | sha256sum | cut -c 1-12)
tools=$kept/$arch-$key # the compiler of the target, and below prefix/ the libraries
export ZIG_GLOBAL_CACHE_DIR=$kept/zig-cache ZIG_LOCAL_CACHE_DIR=$kept/zig-cache

say() { printf 'prepare.sh: %s\n' "$*" >&2; }
die() { say "$*" && exit 1; }

# The compiler of the pinned wheel, without Python: starting it for each compilation would cost 10 s in all.
fetch_compiler() {
    zig=$kept/zig-$(cksum <"$here/requirements.txt" | cut -d' ' -f1)/ziglang/zig
    [ -x "$zig" ] && return
    say "fetching the compiler (93 MB)"
    python3 -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: --no-compile \
        --target "${zig%/ziglang/zig}" -r "$here/requirements.txt"
}

# make_tools: one program per tool and target, as build systems expect them.
make_tools() {
    [ ! -x "$tools/bin/objcopy" ] || return 0
    mkdir -p "$tools/bin"
    local name
    for name in cc c++; do
        printf '#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR="%s" ZIG_LOCAL_CACHE_DIR="%s"\nexec "%s" %s -target %s-linux-gnu.2.28 "$@"\n' \
            "$ZIG_GLOBAL_CACHE_DIR" "$ZIG_LOCAL_CACHE_DIR" "$zig" $name "$arch" >"$tools/bin/$name"
    done
    for name in ar ranlib objcopy; do printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" $name >"$tools/bin/$name"; done
    chmod +x "$tools"/bin/*
}

# fetch_source NAME: the pinned file of sources.txt, in $file. A file with another hash is never unpacked.
fetch_source() {
    local name version hash licence place
    read -r name version hash licence place < <(grep "^$1 " "$here/sources.txt")
    case $place in
        npm:*) file=$sources/$(basename "${place#npm:}" | tr @ -).tgz ;;
        *) file=$sources/${place##*/} ;;
    esac
    mkdir -p "$sources"
    [ -e "$file" ] || download "$place" "$file"
    echo "$hash  $file" | sha256sum --check --status || die "$file has another content than cmake/portable/sources.txt says; delete it"
}

download() {
    local base
    say "fetching ${2##*/}"
    if [[ $1 = npm:* ]]; then
        (cd "$sources" && npm pack --silent "${1#npm:}" >/dev/null)
        return
    fi
    for base in https://deb.debian.org/debian https://snapshot.debian.org/archive/debian/20261101T000000Z; do
        if [ -x /usr/lib/apt/apt-helper ]; then
            /usr/lib/apt/apt-helper download-file "$base/pool/main/${1//+/%2b}" "$2" >/dev/null 2>&1 && return
        else
            curl --fail --silent --show-error --location --output "$2" "$base/pool/main/${1//+/%2b}" && return
        fi
        rm -f "$2"
    done
    die "cannot download $1; put ${2##*/} into $sources"
}

# unpack NAME: into a fresh folder, which becomes the current one.
unpack() {
    fetch_source "$1"
    rm -rf "$tools/src/$1" && mkdir -p "$tools/src/$1"
    tar -xf "$file" -C "$tools/src/$1" --strip-components 1
    cd "$tools/src/$1"
}

# with_cmake TARGET-OR-install OPTION...: builds the current folder and installs it into the prefix.
with_cmake() {
    cmake -S "${source_folder:-.}" -B _build -G Ninja -D CMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" -D GPUPROF_PORTABLE_TOOLS="$tools" \
        -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX="$tools/prefix" -D CMAKE_INSTALL_LIBDIR=lib -D BUILD_SHARED_LIBS=OFF \
        -D BUILD_TESTING=OFF -D CMAKE_C_FLAGS="$flags" -D CMAKE_CXX_FLAGS="$flags" "$@"
    cmake --build _build -j "$jobs" --target "${build_target:-install}"
}

# collect_licences: the texts of everything that is linked, in one file. SQLite is in the public domain.
collect_licences() {
    local library text
    {
        echo "This build of gpu-profile contains the following libraries in whole or in part, under these licences."
        for library in "${libraries[@]}"; do
            fetch_source "$library"
            read -r _ version _ licence _ < <(grep "^$library " "$here/sources.txt")
            printf '\n\n==== %s %s (%s)\n\n' "$library" "$version" "$licence"
            case $library in
                sqlite) echo "The author disclaims copyright to this source code." ;;
                libiberty) tar -xOf "$file" --wildcards '*/libiberty/cp-demangle.c' | awk '!over; /\*\// { over = 1 }' ;;
                re2) tar -xOf "$file" package/vendor/LICENSE ;;
                ncurses) tar -xOf "$file" --wildcards --no-wildcards-match-slash '*/COPYING' ;;
                *) tar -xOf "$file" --wildcards --no-wildcards-match-slash '*/LICENSE*' '*/License' 2>/dev/null || true ;;
            esac
        done
        for text in libcxx/LICENSE.TXT libunwind/LICENSE.TXT libc/glibc/LICENSES; do
            printf '\n\n==== %s\n\n' "${text%/*}"
            cat "${zig%/zig}/lib/$text"
        done
        printf '\n\n==== compiler runtime\n\n'
        cat "${zig%/zig}/LICENSE"
        printf '\n\n==== preact (in the viewer)\n\n'
        cat "$here/preact-licence.txt"
    } >"$tools/LICENSES"
}

fetch_compiler
make_tools
flags="-ffunction-sections -fdata-sections -fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$tools/src=/src"
. "$here/libraries.sh"
for library in "${libraries[@]}"; do
    [ ! -e "$tools/.done-$library" ] || continue
    say "building $library for $arch"
    mkdir -p "$tools/logs" "$tools"/prefix/{include,lib}
    log=$tools/logs/$library.log
    # not "|| die": that would switch set -e off inside
    (set -e && unpack "$library" && "build_$library") >"$log" 2>&1 &
    wait $! || die "building $library failed: $(grep -m1 -E 'error:|CMake Error|\*\*\*' "$log" || tail -n1 "$log") (log: $log)"
    touch "$tools/.done-$library"
done
rm -rf "$tools/src"
[ -s "$tools/LICENSES" ] || collect_licences
echo "$tools"
