// The metrics of a device, one row per call of NVML that gives some: which metrics, which function, and how it is read.
// GPM has state and is apart (gpm.h). A new metric is one line in metrics.def and one row in queries.cc.
#pragma once

#include <span>

#include "collect/device/nvml/api.h"
#include "collect/device/reading.h"

namespace gpuprof::nvml {

struct Query {
    MetricSet metrics;
    const char* function;
    // Sets all of `metrics` in `to` when it answers kSuccess.
    Return (*read)(const Api& api, Device device, Reading& to);
};

std::span<const Query> queries();

// Memory by the newest function there is, in bytes.
Return read_memory(const Api& api, Device device, Memory& memory);

}  // namespace gpuprof::nvml
