// The part of CUPTI's PC sampling interface that is used. Declared here because CUPTI's headers may be missing and need
// CUDA's, and because the injected library and the fake of the tests share them.
//
// Records are array elements, so their size matters: CUPTI 12.4 (version 22) added the last field of a PC, 12.0 that of
// the data and the worker's period. 11.8, which lacks both, to 12.1 have one number (18), so 12.2 (20) is the first that is
// known to have them. Arrays are stepped by the size that the library knows; parameter structures have one size in all
// versions.
// tools/check_pc_layout.py compares with the headers.
// Source: cupti_pcsampling.h of CUPTI 11.8, 12.1, 12.2, 12.4, 12.8, 13.0 and 13.5.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::inline format::pcs {

inline constexpr std::uint32_t kFirstVersionWithCorrelation = 22;  // CUDA 12.4
inline constexpr std::uint32_t kFirstVersionWithBufferFull = 20;   // CUDA 12.2
inline constexpr std::size_t kNameBytes = 128;                     // of a stall reason
inline constexpr std::int32_t kContinuous = 1, kSerialized = 2;    // CUpti_PCSamplingCollectionMode

struct StallCount {
    std::uint32_t reason = 0, samples = 0;
};

// CUpti_PCSamplingPCData
struct PcRecord {
    std::size_t size = 0;
    std::uint64_t cubin = 0;   // cuptiGetCubinCrc() of the module
    std::uint64_t offset = 0;  // from the start of the function
    std::uint32_t function = 0, padding = 0;
    char* name = nullptr;  // of the function; records and kernels may share it. The client frees it after all of them
    std::size_t count = 0;
    StallCount* stalls = nullptr;
    std::uint32_t correlation = 0;  // from version 22
    std::uint32_t end = 0;
};
static_assert(sizeof(PcRecord) == 64);
constexpr std::size_t pc_record_bytes(std::uint32_t version) {
    return version < kFirstVersionWithCorrelation ? offsetof(PcRecord, correlation) : sizeof(PcRecord);
}

// CUpti_PCSamplingData
struct PcData {
    std::size_t size = 0, room = 0;  // in records
    std::uint64_t total = 0, dropped = 0;
    std::size_t pcs = 0, remaining = 0;
    std::uint64_t range = 0;
    void* records = nullptr;
    std::uint64_t others = 0;      // samples of kernels that have no records, such as the driver's
    std::uint8_t buffer_full = 0;  // from version 20
    std::uint8_t padding[7]{};
};
static_assert(sizeof(PcData) == 80);
constexpr std::size_t pc_data_bytes(std::uint32_t version) {
    return version < kFirstVersionWithBufferFull ? offsetof(PcData, buffer_full) : sizeof(PcData);
}

// For Enable, Disable, Start and Stop.
struct ContextParams {
    std::size_t size = 24;
    void* reserved = nullptr;
    void* context = nullptr;
};
struct GetData {
    std::size_t size = 32;
    void* reserved = nullptr;
    void* context = nullptr;
    PcData* data = nullptr;
};
struct GetReasonCount {
    std::size_t size = 32;
    void* reserved = nullptr;
    void* context = nullptr;
    std::size_t* count = nullptr;
};
struct GetReasons {
    std::size_t size = 48;
    void* reserved = nullptr;
    void* context = nullptr;
    std::size_t count = 0;
    std::uint32_t* indices = nullptr;
    char** names = nullptr;  // each of kNameBytes
};

enum class Attribute : std::int32_t {
    period = 1,  // samples are 2^n cycles apart
    reasons = 2,
    scratch_bytes = 3,   // of the host
    hardware_bytes = 4,  // of the GPU
    mode = 5,
    start_stop = 6,
    data = 8,
    worker_ms = 9,  // from version 22
};
struct ReasonList {
    std::size_t count;
    std::uint32_t* indices;
};
// CUpti_PCSamplingConfigurationInfo
struct Setting {
    Attribute attribute{};
    std::int32_t status = 0;  // out
    union {
        std::uint64_t bytes[3];
        std::uint32_t number;  // period, mode, start_stop, worker_ms
        std::size_t size;      // scratch_bytes, hardware_bytes
        ReasonList reasons;
        void* data;
    };
    Setting() : bytes{} {}
};
static_assert(sizeof(Setting) == 32);
struct Configure {
    std::size_t size = 40;
    void* reserved = nullptr;
    void* context = nullptr;
    std::size_t count = 0;
    Setting* settings = nullptr;
};

struct GetCubinCrc {
    std::size_t size = 32;
    std::size_t bytes = 0;
    const void* cubin = nullptr;
    std::uint64_t crc = 0;  // out
};

// CUpti_ModuleResourceData, and where a resource callback finds it (CUpti_ResourceData).
struct LoadedModule {
    std::uint32_t id;
    std::size_t bytes;
    const char* cubin;
};
struct Resource {
    static constexpr std::uint32_t kContextCreated = 1, kContextDestroyed = 2, kModuleLoaded = 6;
    void* context;
    void* stream;
    const void* descriptor;
};

}  // namespace gpuprof::format::pcs
