// All values of a trace over time: device samples, memory of a framework's allocator, CPUs in use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof::inline exporters {

struct Counter {
    std::optional<std::int32_t> device = {};  // the owner: a device, or else a process
    StringId process = kNoString;             // its key
    std::string name, unit;
    std::vector<std::pair<TimeNs, double>> points = {};  // sorted by time
};

// Those of devices first, by device, then metric.
std::vector<Counter> counters_of(const Trace& trace);

}  // namespace gpuprof::exporters
