// What the warps of a kernel wait for, as shares of the time between two instructions of a warp. From counters (warps
// stalled per issued instruction) or, if these were not collected, from samples of the warps' program counters.
#pragma once

#include <optional>
#include <vector>

#include "analyze/facts/kernels/measured_kernels.h"

namespace gpuprof::inline facts {

struct StallShare {
    const StallReason* reason = nullptr;
    double pct = 0;                // of the latency
    std::optional<double> cycles;  // per instruction; absent from samples
};

struct WarpStalls {
    std::vector<StallShare> shares;  // largest first, all reasons that were collected
    bool sampled = false;
    std::string doubt;  // why the shares are uncertain; empty if they are not

    // The largest reason that is a wait: neither an issued instruction nor a warp that waits for its turn. Null if none
    // was collected.
    const StallShare* top() const;
    // Whether another wait is within two points of it.
    bool tie() const;
    double pct(KernelMetric per_issue) const;  // 0 if not collected
};

// Absent if the reasons were not collected.
std::optional<WarpStalls> warp_stalls(const MeasuredKernel& kernel);

}  // namespace gpuprof::facts
