// Helper programs that a command starts and that are not worth recording: shells, compilers, tools that query GPUs. The
// library stays dormant in them, unless the launcher was told to record all children, or the program is the recorded
// command itself. The launcher still notes that they ran, and their CPU use.
#pragma once

#include <string_view>

namespace gpuprof::inject {

// By the file name of the program.
inline constexpr std::string_view kHelperPrograms[] = {
    // shells and tools used by scripts
    "sh", "bash", "dash", "zsh", "fish", "busybox", "env", "sed", "awk", "grep", "cat", "which", "uname",
    // builds
    "make", "gmake", "ninja", "cmake", "ccache", "git",
    // compilers for host and device
    "cc", "c++", "gcc", "g++", "cc1", "cc1plus", "clang", "clang++", "collect2", "as", "ld", "ld.gold", "ld.lld", "lld",
    "nvcc", "cicc", "ptxas", "cudafe++", "fatbinary", "nvlink", "bin2c", "cuobjdump", "nvdisasm",
    // tools
    "nvidia-smi", "nvidia-debugdump", "ldconfig", "ldconfig.real", "addr2line", "lsb_release"};

// A compiler's file name often contains its version or target: x86_64-linux-gnu-g++-12 is g++, clang-14 is clang.
constexpr bool is_helper_program(std::string_view name) noexcept {
    std::string_view stem = name.substr(0, name.find_last_not_of("0123456789.") + 1);
    if (stem.size() < name.size() && !stem.empty() && stem.back() == '-') name = stem.substr(0, stem.size() - 1);
    constexpr std::string_view kTarget = "-linux-gnu-";
    if (std::size_t target = name.find(kTarget); target != std::string_view::npos)
        name.remove_prefix(target + kTarget.size());
    for (std::string_view known : kHelperPrograms)
        if (name == known) return true;
    return false;
}

static_assert(is_helper_program("x86_64-linux-gnu-g++-12") && is_helper_program("clang-14") && is_helper_program("sh"));
static_assert(!is_helper_program("python3.11") && !is_helper_program("") && !is_helper_program("-") &&
              !is_helper_program("7"));

}  // namespace gpuprof::inject
