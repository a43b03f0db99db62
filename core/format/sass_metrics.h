// The part of CUPTI's SASS metrics interface that is used: counters of single instructions, collected by patched code.
// Shared by the injected library, the planner and the fake of the tests. `size` is the offset behind the last field, as
// in range_profiler.h; of FlushData, CUPTI's own macro leaves out the last one.
// tools/check_sass_layout.py compares with the headers.
// Source: cupti_sass_metrics.h of CUPTI 12.8 and 13.0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::inline format::sass {

inline constexpr std::uint8_t kOfGpu = 0;  // CUpti_SassMetrics_OutputGranularity: one value for the whole GPU

struct Details {
    std::uint64_t id = 0;
    const char *name = nullptr, *doc = nullptr;
};
struct GetProperties {
    std::size_t size = 56;
    void* reserved = nullptr;
    const char *chip = nullptr, *name = nullptr;
    Details metric;  // out
};
struct Config {
    std::uint64_t id = 0;
    std::uint8_t granularity = kOfGpu;
};
struct SetConfig {
    std::size_t size = 36;
    void* reserved = nullptr;
    std::size_t count = 0;
    Config* configs = nullptr;
    std::uint32_t device = 0;
};
struct UnsetConfig {
    std::size_t size = 20;
    void* reserved = nullptr;
    std::uint32_t device = 0;
};
struct Enable {
    std::size_t size = 25;
    void* reserved = nullptr;
    void* context = nullptr;
    std::uint8_t lazy = 1;  // patches a function when it runs, not all of them at once
};
struct Disable {
    std::size_t size = 32;
    void* reserved = nullptr;
    void* context = nullptr;
    std::size_t dropped = 0;  // out
};
struct GetDataProperties {
    std::size_t size = 40;
    void* reserved = nullptr;
    void* context = nullptr;
    std::size_t records = 0, instances = 0;  // out
};
struct Value {
    std::uint64_t metric = 0, value = 0;
};
struct Record {  // CUpti_SassMetrics_Data
    std::size_t size = 40;
    void* reserved = nullptr;
    std::uint32_t cubin = 0, function = 0;  // crc; index of the symbol
    const char* name = nullptr;
    std::uint32_t offset = 0;  // from the start of the function
    Value* values = nullptr;
};
struct FlushData {
    std::size_t size = 40;
    void* reserved = nullptr;
    void* context = nullptr;
    std::size_t records = 0, instances = 0;
    Record* data = nullptr;
};

}  // namespace gpuprof::format::sass
