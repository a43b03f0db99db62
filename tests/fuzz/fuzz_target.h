// The fuzz targets, by name: functions of some bytes that return when all is well, and abort (or let a sanitizer do it) when a promise
// is broken. All of them stand in one executable, `replay` for what ./test runs and `fuzz` for libFuzzer, because linking
// one for each would take longer than running them. A new target is a file fuzz_NAME.cc, a line in targets.def, and seeds in corpus/NAME.tar.xz.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace gpuprof::fuzz {

// What one input may use: a reader that needs more for a few kilobytes is a find. tests/fuzz/run.py gives libFuzzer the same.
inline constexpr double kMaxSeconds = 2;
inline constexpr std::size_t kMaxMemory = std::size_t{512} << 20, kMaxAllocation = std::size_t{300} << 20;
inline constexpr std::size_t kMaxBytes = 64 * 1024;

#define GPUPROF_FUZZ_TARGET(name, doc) void run_##name(std::string_view bytes);
#include "tests/fuzz/targets.def"
#undef GPUPROF_FUZZ_TARGET

struct Target {
    std::string_view name, doc;
    void (*run)(std::string_view bytes);
};

inline constexpr Target kTargets[] = {
#define GPUPROF_FUZZ_TARGET(name, doc) {#name, doc, run_##name},
#include "tests/fuzz/targets.def"
#undef GPUPROF_FUZZ_TARGET
};

// Null when there is none.
inline const Target* find_target(std::string_view name) {
    for (const Target& target : kTargets)
        if (target.name == name) return &target;
    return nullptr;
}

// A broken promise ends the target, and says which it was.
inline void promise(bool kept, const char* what) {
    if (kept) return;
    std::fprintf(stderr, "broken promise: %s\n", what);
    std::abort();
}

}  // namespace gpuprof::fuzz
