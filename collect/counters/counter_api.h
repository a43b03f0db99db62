// The host half of CUPTI's range profiling interface, found at run time as collect/pm/pm_api.h does for PM sampling. It
// makes configurations and evaluates images, and needs neither a GPU nor (up to CUPTI 13.1) a driver. Only for the
// process of host_process.h: libraries may crash on a bad image, and loading them upsets the address sanitizer.
#pragma once

#include <cstdint>
#include <string>

#include "collect/counters/counter_symbols.def"
#include "collect/pm/pm_abi.h"
#include "collect/pm/pm_api.h"
#include "core/format/range_profiler.h"
#include "core/format/sass_metrics.h"

namespace gpuprof::counters {

struct HostGetChips {
    std::size_t size = 32;
    void* reserved = nullptr;
    std::size_t count = 0;               // out
    const char* const* chips = nullptr;  // out
};
struct HostGetBaseMetrics {
    std::size_t size = 48;
    void* reserved = nullptr;
    pm::HostObject* host = nullptr;
    std::int32_t type = 0;         // CUpti_MetricType: counter, ratio, throughput
    const char** names = nullptr;  // out
    std::size_t count = 0;         // out
};
struct HostGetProperties {
    std::size_t size = 60;
    void* reserved = nullptr;
    pm::HostObject* host = nullptr;
    const char* name = nullptr;
    const char *description = nullptr, *unit = nullptr, *dimension = nullptr;  // out
    std::int32_t type = 0;                                                     // out
};

struct Api {
    std::string path;           // of libcupti
    std::uint32_t version = 0;  // 0: unknown
#define GPUPROF_COUNTERS_MEMBER(member, name, Parameters) pm::Function<Parameters> member;
    GPUPROF_COUNTERS_HOST(GPUPROF_COUNTERS_MEMBER)
    GPUPROF_COUNTERS_DEVICE(GPUPROF_COUNTERS_MEMBER)
    GPUPROF_COUNTERS_OPTIONAL(GPUPROF_COUNTERS_MEMBER)
#undef GPUPROF_COUNTERS_MEMBER
};

// Loads libcupti and the libraries in its folder. `program`: collect/pm/cupti_candidates.h.
Result<Api> load_host_api(const std::string& program);

}  // namespace gpuprof::counters
