// Hardware counters of each launch that a kernel profiler measured: how close it came to the device's limits. Metrics
// are matched by their names on Nsight Compute's raw or details page; a figure whose metric was not collected is
// absent.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof {

class Facts;

struct CountedLaunch {
    Row row = kNoRow;  // of `profiled_kernel`
    // Percent: throughput of the SMs, and of the busiest cache level or device memory, relative to peak; mean resident
    // warps relative to the maximum.
    std::optional<double> compute_pct, memory_pct, occupancy_pct;
    std::optional<std::int64_t> registers;  // per thread
    std::int64_t counters = 0;              // number collected for this launch
};

struct LaunchCounters {
    std::vector<CountedLaunch> launches;  // of the selected devices, in file order
    static LaunchCounters make(const Facts& facts);
};

}  // namespace gpuprof
