// What a kernel profiler measured of each launch it looked at: how near to the limits of the device it came. Metrics go by
// their names in Nsight Compute's raw page or its details page; a figure whose metric was not collected is absent.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof {

class Facts;

struct CountedLaunch {
    Row row = kNoRow;  // of `profiled_kernel`
    // Percent: throughput of the multiprocessors and of the busiest of caches and memory, of their peaks; warps resident on
    // average, of those that fit.
    std::optional<double> compute_pct, memory_pct, occupancy_pct;
    std::optional<std::int64_t> registers;  // per thread
    std::int64_t counters = 0;              // collected of it
};

struct LaunchCounters {
    std::vector<CountedLaunch> launches;  // of the devices asked for, in the order of the file
    static LaunchCounters make(const Facts& facts);
};

}  // namespace gpuprof
