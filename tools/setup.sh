# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by run and test: what a machine needs, and one build. Messages go to stderr, output goes to a log whose path
# is named when something fails. A stamp in build/.setup remembers that a set of packages was found complete, so that
# the second time costs nothing. Nothing is installed where everything is there; other systems than Debian and Ubuntu
# are left to cmake, which names what it misses.

build_packages=(g++ cmake ninja-build libzstd-dev zlib1g-dev libfmt-dev libcli11-dev libsimdjson-dev
    libncurses-dev libevent-dev libsqlite3-dev libprotozero-dev libyaml-dev libcrypt-dev libssl-dev nodejs npm)
test_packages=("${build_packages[@]}" libgtest-dev libbenchmark-dev python3 python3-venv clang clang-format universal-ctags chromium ccache mold)

say() { printf '%s\n' "gpu-profile: $*" >&2; }
die() {
    say "$*"
    exit 1
}

# as_root COMMAND...: as it is when root, by sudo otherwise; without a terminal sudo must not ask.
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

# A tool may come from elsewhere than the distribution; a library has to be the package.
provided() {
    case $1 in
        g++ | cmake | clang | clang-format | npm | chromium | ccache | mold) command -v "$1" >/dev/null ;;
        ninja-build) command -v ninja >/dev/null ;;
        nodejs) command -v node >/dev/null ;;
        universal-ctags) command -v ctags >/dev/null ;;
        python3) python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ;;
        python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
        *) return 1 ;;
    esac
}

# need_packages NAME PACKAGE...: installs those that are missing.
need_packages() {
    local log="$root/build/.setup/apt.log" stamp="$root/build/.setup/$1" missing=()
    shift
    [ -e "$stamp" ] && [ "$(<"$stamp")" = "$*" ] && return
    mkdir -p "$root/build/.setup"
    if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
        mapfile -t missing < <(missing_packages "$@")
        [ ${#missing[@]} = 0 ] || install_packages "$log" "${missing[@]}"
    else
        say "no apt here: taking for granted what Debian calls $*"
    fi
    printf '%s' "$*" >"$stamp"
}

install_packages() {
    local log=$1
    shift
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
        die "cannot install what is missing without root or sudo; as root run: apt-get install $*"
    say "installing $*"
    { as_root apt-get update && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; } \
        >"$log" 2>&1 </dev/null ||
        die "could not install $*: $(grep -m1 '^E: ' "$log" || tail -n1 "$log") (log: $log)"
}

# The sanitizer runtimes of the installed clang, whose package carries the version in its name.
need_clang_runtime() {
    local version
    version=$(clang -dumpversion | cut -d. -f1)
    need_packages clang-runtime "libclang-rt-$version-dev"
}

# build_preset PRESET [TARGET...]: configures where needed and builds; one builder at a time per preset.
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
    ) 9>"$dir/.lock" || die "building $preset failed: $(first_error "$log") (log: $log)"
}

# The first line that says why, of a compiler, linker, ninja or cmake (whose reason follows on the next lines).
first_error() {
    grep -m1 -A4 '^CMake Error' "$1" | tr -s ' \n' ' ' | grep . && return
    grep -m1 -E 'error:|undefined reference|No such file' "$1" && return
    tail -n1 "$1"
}

# Ninja's status on one line that rewrites itself; without a terminal a line at each quarter.
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
