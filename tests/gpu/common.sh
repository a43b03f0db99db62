# shellcheck shell=bash
# For the scripts beside it. Sets root, here, binary, folder (a scratch folder) and python; ends with 77 and a reason when
# there is no GPU.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
binary=${GPUPROF_BIN:-$root/build/release/gpu-profile}
python=${PYTHON:-python3}

not_run() {
    echo "not run: $*"
    exit 77
}
[ -x "$binary" ] || not_run "no gpu-profile at $binary; build it (cmake --preset release && ninja -C build/release) or set GPUPROF_BIN"
command -v nvidia-smi >/dev/null || not_run "no GPU here: there is no nvidia-smi"
nvidia-smi -L 2>/dev/null | grep -q '^GPU' || not_run "no GPU here: nvidia-smi lists none"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

has_module() { "$python" -c "import $1" 2>/dev/null; }
has_torch() { "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; }

# Compiles workloads/storm.cu to $folder/storm; says why not on stderr.
build_storm() {
    local nvcc
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || { echo "no nvcc: CUDA C++ is left out" >&2 && return 1; }
    "$nvcc" -O2 -o "$folder/storm" "$here/workloads/storm.cu" >&2
}

machine() {
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1
    "$binary" --version
    date -u +%Y-%m-%d
}
