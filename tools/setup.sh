# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by run and test: the required packages, and one build. Messages go to stderr, output goes to a log whose path
# is named on failure. A stamp in build/.setup remembers that a set of packages was complete, so that the next run costs
# nothing. Nothing is installed if everything is present; on systems other than Debian and Ubuntu, cmake names what is
# missing.

build_packages=(g++ cmake ninja-build libzstd-dev zlib1g-dev libfmt-dev libcli11-dev libsimdjson-dev
    libncurses-dev libevent-dev libsqlite3-dev libprotozero-dev libiberty-dev libre2-dev nodejs npm)
test_packages=("${build_packages[@]}" libgtest-dev libbenchmark-dev python3 python3-venv clang clang-format universal-ctags ccache mold zstd)

say() { printf '%s\n' "gpu-profile: $*" >&2; }
die() {
    say "$*"
    exit 1
}

# as_root COMMAND...: runs it directly as root, otherwise with sudo; without a terminal sudo must not prompt.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif [ -t 2 ]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

missing_packages() {
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || provided "$package" ||
            printf '%s\n' "$package"
    done
}

# A tool may come from another source than the distribution; a library must be the package.
provided() {
    case $1 in
        g++ | cmake | clang | clang-format | npm | chromium-headless-shell | ccache | mold | zstd) command -v "$1" >/dev/null ;;
        golang-go) command -v go >/dev/null ;;
        ninja-build) command -v ninja >/dev/null ;;
        nodejs) command -v node >/dev/null ;;
        universal-ctags) command -v ctags >/dev/null ;;
        python3) python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ;;
        python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
        *) return 1 ;;
    esac
}

# need_packages NAME PACKAGE...: installs the missing ones.
need_packages() {
    local log="$root/build/.setup/apt.log" stamp="$root/build/.setup/$1" missing=()
    shift
    [ -e "$stamp" ] && [ "$(<"$stamp")" = "$*" ] && return
    mkdir -p "$root/build/.setup"
    if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
        mapfile -t missing < <(missing_packages "$@")
        [ ${#missing[@]} = 0 ] || install_packages "$log" "${missing[@]}"
    else
        say "apt not found; assuming that these Debian packages are installed: $*"
    fi
    printf '%s' "$*" >"$stamp"
}

install_packages() {
    local log=$1
    shift
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
        die "cannot install missing packages without root or sudo; run as root: apt-get install $*"
    say "installing $*"
    { as_root apt-get update && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; } \
        >"$log" 2>&1 </dev/null ||
        die "cannot install $*: $(grep -m1 '^E: ' "$log" || tail -n1 "$log") (log: $log)"
}

# The sanitizer runtimes of the installed clang, whose package name contains the version.
need_clang_runtime() {
    local version
    version=$(clang -dumpversion | cut -d. -f1)
    need_packages clang-runtime "libclang-rt-$version-dev"
}

# build_preset PRESET [TARGET...]: configures if necessary and builds; one builder at a time per preset.
build_preset() {
    local preset=$1 dir="$root/build/$1"
    shift
    local log="$dir/build.log"
    mkdir -p "$dir"
    (
        command -v flock >/dev/null && flock 9
        cd "$root" && export LC_ALL=C
        [ -e "$dir/build.ninja" ] || cmake --preset "$preset" >"$log" 2>&1 </dev/null || exit 1
        NINJA_STATUS='[%f/%t] ' ninja -C "$dir" "$@" 2>&1 </dev/null | tee "$log" | show_progress "$preset"
    ) 9>"$dir/.lock" || die "building $preset failed: $(first_error "$log") (log: $log)
to report it, send that log and this line: $(versions)"
}

# What a report of a failed build must say: system, compiler, cmake, and the libraries that differ most between distributions.
versions() {
    (. /etc/os-release && printf '%s' "${PRETTY_NAME-unknown system}") 2>/dev/null
    printf ', commit %s' "$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)"
    printf ', %s' "$("${CXX:-c++}" --version 2>/dev/null | head -n1)" "$(cmake --version 2>/dev/null | head -n1)"
    dpkg-query -W -f ', ${Package} ${Version}' libfmt-dev libsimdjson-dev libcli11-dev 2>/dev/null || true
}

# The first line with the cause, from a compiler, linker, ninja or cmake (whose reason follows on the next lines).
first_error() {
    grep -m1 -A4 '^CMake Error' "$1" | tr -s ' \n' ' ' | grep . && return
    grep -m1 -E 'error:|undefined reference|No such file' "$1" && return
    tail -n1 "$1"
}

# Shows ninja's status on one line that is rewritten; without a terminal, one line per quarter.
show_progress() {
    local line quarter=0 now width
    width=$(($(tput cols 2>/dev/null || echo 80) - 1))
    while IFS= read -r line; do
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
        if [ -t 2 ]; then
            printf '\r%-*.*s' "$width" "$width" "building $1 $line" >&2
        else
            now=$((4 * BASH_REMATCH[1] / BASH_REMATCH[2]))
            [ "$now" -le "$quarter" ] || [ "${BASH_REMATCH[2]}" -lt 8 ] || say "building $1: ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} steps"
            quarter=$now
        fi
    done
    [ ! -t 2 ] || printf '\r%*s\r' "$width" '' >&2
}
