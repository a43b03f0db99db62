// How a launch fits the GPU: the warps that fit on a multiprocessor and what limits them, the warps that were there, and
// how the blocks spread.
#pragma once

#include <optional>
#include <string_view>

#include "analyze/facts/kernels/measured_kernels.h"
#include "analyze/knowledge/occupancy.h"

namespace gpuprof::inline facts {

struct LaunchFit {
    std::optional<double> theoretical_pct, achieved_pct;  // of the warp slots
    // What limits the theoretical occupancy: "registers", "shared memory", "block slots", "barriers"; empty at 100 %.
    std::string_view limiter;
    std::optional<double> blocks, sms, blocks_per_sm;
    // The grid in waves of blocks that fit at once, and the share of the last wave's slots that it leaves empty over all
    // waves: of 1.1 waves, 45 %.
    std::optional<double> waves, tail_pct;
    // Of the busiest multiprocessor's active cycles, what the average one is short of.
    std::optional<double> imbalance_pct;
};

LaunchFit launch_fit(const MeasuredKernel& kernel);

}  // namespace gpuprof::facts
