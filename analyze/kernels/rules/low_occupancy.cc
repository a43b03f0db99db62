// Warps wait and there are few of them: registers, shared memory, the block size or the grid leave warp slots empty.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernels/kernel_rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline kernels {
namespace {

using enum KernelMetric;

constexpr double kLow = 50;          // percent of the warp slots
constexpr double kFull = 0.9;        // waves
constexpr double kWithTensors = 20;  // percent: such kernels hold tiles in registers and shared memory by design
constexpr double kMostly = 50;       // percent of the requests

bool knows_atomics(const KernelProfile& profile) {
    return profile[reduction_requests] && profile[l1_load_requests] && profile[l1_store_requests];
}

bool queues_at_atomics(const KernelProfile& profile) {
    double atomics = profile[atomic_requests].value_or(0) + profile[reduction_requests].value_or(0),
           others = profile[l1_load_requests].value_or(0) + profile[l1_store_requests].value_or(0);
    return atomics > 0 && 100 * atomics > kMostly * (atomics + others);
}

std::string remedy(const LaunchFit& fit, bool few_blocks) {
    if (few_blocks)
        return "Launch more, smaller blocks or give each thread less work, batch several launches into one, or let the "
               "kernel run beside others on another stream.";
    if (fit.limiter == "registers")
        return "Use fewer registers per thread (__launch_bounds__, -maxrregcount, smaller tiles) or smaller blocks.";
    if (fit.limiter == "shared memory")
        return "Use less shared memory per block: smaller tiles, smaller types, fewer buffers.";
    return "Use larger blocks, so that the block slots of a multiprocessor hold more warps.";
}

KernelRuling look_for_low_occupancy(const KernelProfile& profile) {
    const LaunchFit& fit = profile.fit;
    if (profile.limit != KernelLimit::latency) return KernelRuling::silent();
    if (!fit.theoretical_pct && !fit.waves)
        return KernelRuling::abstain("registers and shared memory of the launch are unknown");
    bool few_blocks = fit.waves && *fit.waves < kFull;
    double used = fit.theoretical_pct.value_or(100) * (few_blocks ? *fit.waves : 1);
    if (used >= kLow || queues_at_atomics(profile) || profile[part_tensor_pipe].value_or(0) >= kWithTensors)
        return KernelRuling::silent();
    // More warps at a contended atomic would only queue. Idle multiprocessors are a loss in any case, and kernels that hold much in
    // registers or shared memory do more than that.
    bool idle_sms = fit.blocks && fit.sms && *fit.blocks < *fit.sms, may_queue = !idle_sms && !knows_atomics(profile);
    if (may_queue && (few_blocks || (fit.limiter != "registers" && fit.limiter != "shared memory")))
        return KernelRuling::abstain("requests of loads, stores and atomics were not collected");
    KernelFinding finding;
    finding.title =
        few_blocks && fit.blocks
            ? fmt::format(
                  "The grid of {} block{} fills {} % of the GPU",
                  readable_count(static_cast<std::int64_t>(*fit.blocks)), *fit.blocks == 1 ? "" : "s",
                  *fit.waves < 0.01 ? readable_percent(100 * *fit.waves) : fmt::format("{:.0f}", 100 * *fit.waves))
            : fmt::format("Only {:.0f} % of the warp slots can be used: {} limit{} the blocks", used,
                          fit.limiter.empty() ? "block slots" : fit.limiter, fit.limiter == "shared memory" ? "s" : "");
    if (few_blocks && *fit.theoretical_pct < kLow && !fit.limiter.empty())
        finding.title += fmt::format(", and {} allow{} no more than {:.0f} % of the warp slots", fit.limiter,
                                     fit.limiter == "shared memory" ? "s" : "", *fit.theoretical_pct);
    if (fit.theoretical_pct && fit.blocks_per_sm)
        finding.evidence.push_back(fmt::format("{:.0f} blocks fit on a multiprocessor: {:.0f} % of its warp slots",
                                               *fit.blocks_per_sm, *fit.theoretical_pct));
    if (fit.achieved_pct) finding.evidence.push_back(fmt::format("{:.0f} % were used on average", *fit.achieved_pct));
    if (std::optional<double> none = profile[no_eligible_pct])
        finding.evidence.push_back(fmt::format("in {:.0f} % of the cycles no warp could issue", *none));
    finding.remedy = remedy(fit, few_blocks);
    finding.gain_pct = std::min(100 - used, 100 - profile.speed_of_light_pct);
    if (may_queue) finding.evidence.push_back("requests of loads, stores and atomics were not collected");
    finding.confidence = fit.theoretical_pct && fit.waves && !may_queue ? Rating::high : Rating::medium;
    finding.would_change_if = "more warps would wait for the same thing, such as a lock or an atomic";
    return KernelRuling::fires(std::move(finding));
}

}  // namespace

const KernelRule kLowOccupancyKernel{"low-occupancy", "Warps wait and there are few of them.",
                                     "throughput of compute and memory, the launch's resources",
                                     look_for_low_occupancy};

}  // namespace gpuprof::kernels
