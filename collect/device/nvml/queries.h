// The metrics of a device, one row per NVML call: which metrics, which function, and how to read it. GPM has state and
// lives elsewhere (gpm.h).
// A new metric is one line in metrics.def and one row in queries.cc.
#pragma once

#include <span>

#include "collect/device/device_reading.h"
#include "collect/device/nvml/nvml_api.h"

namespace gpuprof::inline device::nvml {

struct Query {
    MetricSet metrics;
    const char* function;
    // Sets all of `metrics` in `to` if it returns kSuccess.
    Return (*read)(const Api& api, Device device, Reading& to);
};

std::span<const Query> queries();

// Memory in bytes, from the newest available function.
Return read_memory(const Api& api, Device device, Memory& memory);

}  // namespace gpuprof::device::nvml
