// The part of CUPTI's range profiling interface that is used: parameter structures, each beginning with its size.
// Declared here because CUPTI's headers may be missing and need CUDA's, and because the injected library, the launcher
// and the fake of the tests share them. `size` is the offset behind the last field, without trailing padding: what
// CUPTI 12.6 to 13.5 accept. Newer fields (`cacheControlMode` of Enable, 13.4) lie behind it.
// tools/check_range_layout.py compares with the headers.
// Source: cupti_range_profiler.h, cupti_profiler_target.h of CUPTI 12.9 and 13.0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::inline format::range {

struct RangeObject;  // CUpti_RangeProfiler_Object

inline constexpr std::int32_t kRangeProfiler = 0;                  // CUpti_ProfilerType
inline constexpr std::int32_t kAutoRange = 1, kUserRange = 2;      // CUpti_ProfilerRange
inline constexpr std::int32_t kKernelReplay = 2, kUserReplay = 3;  // CUpti_ProfilerReplayMode

struct ProfilerInitialize {
    std::size_t size = 16;
    void* reserved = nullptr;
};
struct GetChipName {
    std::size_t size = 32;
    void* reserved = nullptr;
    std::size_t device = 0;
    const char* chip = nullptr;  // out
};
struct GetAvailability {  // CUpti_Profiler_GetCounterAvailability_Params
    std::size_t size = 40;
    void* reserved = nullptr;
    void* context = nullptr;
    std::size_t bytes = 0;          // in and out; queried while `image` is null
    std::uint8_t* image = nullptr;  // filled
};
struct EnableRanges {
    std::size_t size = 32;
    void* reserved = nullptr;
    void* context = nullptr;
    RangeObject* object = nullptr;  // out
};
// From CUPTI 13.4; an older library refuses it.
struct EnableRangesWithCache {
    static constexpr std::int32_t kNone = 0, kFlushAll = 1;  // CUpti_RangeProfiler_CacheControlMode

    std::size_t size = 36;
    void* reserved = nullptr;
    void* context = nullptr;
    RangeObject* object = nullptr;  // out
    std::int32_t cache = kNone;
};
inline constexpr std::uint32_t kFirstVersionWithCache = 130400, kFirstVersionWithClock = 130400;
// For Disable, Start and PopRange.
struct RangeParams {
    std::size_t size = 24;
    void* reserved = nullptr;
    RangeObject* object = nullptr;
};
struct StopRanges {
    std::size_t size = 41;
    void* reserved = nullptr;
    RangeObject* object = nullptr;
    std::size_t pass = 0, nesting_level = 0;  // out
    std::uint8_t all_passes = 0;              // out
};
struct PushRange {
    std::size_t size = 32;
    void* reserved = nullptr;
    RangeObject* object = nullptr;
    const char* name = nullptr;
};
struct SetRangeConfig {
    std::size_t size = 90;
    void* reserved = nullptr;
    RangeObject* object = nullptr;
    std::size_t config_bytes = 0;
    const std::uint8_t* config = nullptr;
    std::size_t image_bytes = 0;
    std::uint8_t* image = nullptr;
    std::int32_t range = kAutoRange, replay = kKernelReplay;
    std::size_t max_ranges = 1;
    std::uint16_t nesting_levels = 1, min_nesting_level = 1;
    std::size_t pass = 0;
    std::uint16_t target_nesting_level = 0;
};
struct DecodeRanges {
    std::size_t size = 32;
    void* reserved = nullptr;
    RangeObject* object = nullptr;
    std::size_t dropped = 0;  // out
};
struct GetRangeDataSize {
    std::size_t size = 64;
    void* reserved = nullptr;
    RangeObject* object = nullptr;
    const char** names = nullptr;
    std::size_t count = 0, max_ranges = 0;
    std::uint32_t max_nodes = 0;
    std::size_t bytes = 0;  // out
};
struct InitializeRangeImage {
    std::size_t size = 40;
    void* reserved = nullptr;
    RangeObject* object = nullptr;
    std::size_t bytes = 0;
    std::uint8_t* image = nullptr;
};
struct GetRangeCount {  // CUpti_RangeProfiler_GetCounterDataInfo_Params
    std::size_t size = 40;
    void* reserved = nullptr;
    const std::uint8_t* image = nullptr;
    std::size_t bytes = 0;
    std::size_t ranges = 0;  // out
};

}  // namespace gpuprof::format::range
