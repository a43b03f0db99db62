// The part of CUPTI's PM sampling interface that is used: parameter structures, each beginning with its size. Declared
// here because CUPTI's headers may be missing and need CUDA's. `size` is the offset behind the last field, without
// trailing padding; the library refuses other sizes.
// tools/check_pm_layout.py compares with the headers.
// Source: cupti_pmsampling.h, cupti_profiler_host.h, cupti_profiler_target.h, cupti_target.h, cupti_result.h of CUPTI
// 13.0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/format/range_profiler.h"

namespace gpuprof::pm {

struct HostObject;      // CUpti_Profiler_Host_Object
struct SamplingObject;  // CUpti_PmSampling_Object

inline constexpr int kSuccess = 0, kInvalidParameter = 1, kOutOfMemory = 8, kHardwareBusy = 26, kNotSupported = 27,
                     kInsufficientPrivileges = 35;
inline constexpr std::int32_t kPmSampling = 1;                         // CUpti_ProfilerType
inline constexpr std::int32_t kSysclkInterval = 0, kTimeInterval = 1;  // CUpti_PmSampling_TriggerMode
inline constexpr std::int32_t kKeepOldest = 0, kKeepLatest = 1;        // CUpti_PmSampling_HardwareBuffer_AppendMode
inline constexpr std::int32_t kEndOfRecords = 2;                       // CUpti_PmSampling_DecodeStopReason

using range::GetChipName;
using range::ProfilerInitialize;

struct GetCounterAvailability {
    std::size_t size = 40;
    void* reserved = nullptr;
    std::size_t device = 0;
    std::size_t bytes = 0;          // in and out; queried while `image` is null
    std::uint8_t* image = nullptr;  // filled
};
struct HostInitialize {
    std::size_t size = 48;
    void* reserved = nullptr;
    std::int32_t type = kPmSampling;
    const char* chip = nullptr;
    const std::uint8_t* availability = nullptr;
    HostObject* host = nullptr;  // out
};
struct HostDeinitialize {
    std::size_t size = 24;
    void* reserved = nullptr;
    HostObject* host = nullptr;
};
struct HostAddMetrics {
    std::size_t size = 40;
    void* reserved = nullptr;
    HostObject* host = nullptr;
    const char** names = nullptr;
    std::size_t count = 0;
};
struct HostGetConfigSize {
    std::size_t size = 32;
    void* reserved = nullptr;
    HostObject* host = nullptr;
    std::size_t bytes = 0;  // out
};
struct HostGetConfig {
    std::size_t size = 40;
    void* reserved = nullptr;
    HostObject* host = nullptr;
    std::size_t bytes = 0;
    std::uint8_t* image = nullptr;  // filled
};
struct HostGetPasses {
    std::size_t size = 40;
    void* reserved = nullptr;
    std::size_t bytes = 0;
    std::uint8_t* image = nullptr;
    std::size_t passes = 0;  // out
};
struct HostEvaluate {
    std::size_t size = 72;
    void* reserved = nullptr;
    HostObject* host = nullptr;
    const std::uint8_t* image = nullptr;
    std::size_t bytes = 0, sample = 0;
    const char** names = nullptr;
    std::size_t count = 0;
    double* values = nullptr;  // filled
};
struct Enable {
    std::size_t size = 32;
    void* reserved = nullptr;
    std::size_t device = 0;
    SamplingObject* object = nullptr;  // out
};
// For Disable, Start and Stop.
struct ObjectParams {
    std::size_t size = 24;
    void* reserved = nullptr;
    SamplingObject* object = nullptr;
};
struct SetConfig {
    std::size_t size = 64;
    void* reserved = nullptr;
    SamplingObject* object = nullptr;
    std::size_t bytes = 0;
    const std::uint8_t* image = nullptr;
    std::size_t hardware_buffer = 0;  // bytes
    std::uint64_t interval = 0;       // ns or cycles, depending on the trigger
    std::int32_t trigger = kTimeInterval, append = kKeepLatest;
};
struct GetCounterDataSize {
    std::size_t size = 56;
    void* reserved = nullptr;
    SamplingObject* object = nullptr;
    const char** names = nullptr;
    std::size_t count = 0;
    std::uint32_t max_samples = 0;
    std::size_t bytes = 0;  // out
};
struct InitializeImage {
    std::size_t size = 40;
    void* reserved = nullptr;
    SamplingObject* object = nullptr;
    std::size_t bytes = 0;
    std::uint8_t* image = nullptr;
};
struct DecodeData {
    std::size_t size = 45;
    void* reserved = nullptr;
    SamplingObject* object = nullptr;
    std::uint8_t* image = nullptr;
    std::size_t bytes = 0;
    std::int32_t reason = 0;    // out: why decoding stopped
    std::uint8_t overflow = 0;  // out
};
struct GetCounterDataFacts {  // CUpti_PmSampling_GetCounterDataInfo_Params
    std::size_t size = 56;
    void* reserved = nullptr;
    const std::uint8_t* image = nullptr;
    std::size_t bytes = 0;
    std::size_t total = 0, populated = 0, completed = 0;  // out
};
struct GetSampleTimes {  // CUpti_PmSampling_CounterData_GetSampleInfo_Params
    std::size_t size = 64;
    void* reserved = nullptr;
    SamplingObject* object = nullptr;
    const std::uint8_t* image = nullptr;
    std::size_t bytes = 0, sample = 0;
    std::uint64_t start = 0, end = 0;  // out
};

}  // namespace gpuprof::pm
