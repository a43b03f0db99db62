// Everything of a trace that is a value over time: samples of devices, memory of a framework's allocator, processors in use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof {

struct Counter {
    std::optional<std::int32_t> device = {};  // whose it is: a device's, or else a process's
    StringId process = kNoString;             // its key
    std::string name, unit;
    std::vector<std::pair<TimeNs, double>> points = {};  // in the order of time
};

// Those of devices first, by device, then metric.
std::vector<Counter> counters_of(const Trace& trace);

}  // namespace gpuprof
