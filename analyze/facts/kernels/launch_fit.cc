#include "analyze/facts/kernels/launch_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpuprof::inline facts {
namespace {

using enum KernelMetric;

std::optional<std::int64_t> whole(std::optional<double> value) {
    if (!value || !(*value >= 0) || *value > 1e15) return std::nullopt;
    return std::llround(*value);
}

// From the launch record, where the tool did not say.
std::optional<Occupancy> calculated(const MeasuredKernel& kernel) {
    std::optional<std::int64_t> threads = whole(kernel[block_size]), registers = whole(kernel[KernelMetric::registers]),
                                shared = whole(sum_of(kernel, shared_static, shared_dynamic));
    if (!shared) shared = kernel.shared_bytes;
    if (!kernel.cc_major || !kernel.cc_minor || !threads || *threads < 1 || *threads > 1024 || !registers || !shared)
        return std::nullopt;
    return theoretical_occupancy({.block_x = static_cast<int>(*threads),
                                  .registers_per_thread = static_cast<int>(std::min<std::int64_t>(*registers, 1024)),
                                  .shared_bytes = *shared},
                                 {.cc_major = *kernel.cc_major,
                                  .cc_minor = *kernel.cc_minor,
                                  .name = kernel.device_name,
                                  .shared_config_bytes = whole(kernel[shared_config])});
}

// By the blocks that each resource allows; ties go to the first.
void take_limits(const MeasuredKernel& kernel, LaunchFit& fit) {
    constexpr std::pair<KernelMetric, std::string_view> kLimits[] = {{limit_registers, "registers"},
                                                                     {limit_shared, "shared memory"},
                                                                     {limit_barriers, "barriers"},
                                                                     {limit_blocks, "block slots"},
                                                                     {limit_warps, ""}};
    for (auto [metric, name] : kLimits) {
        std::optional<double> limit = kernel[metric];
        if (!limit || (fit.blocks_per_sm && *limit >= *fit.blocks_per_sm)) continue;
        fit.blocks_per_sm = limit, fit.limiter = name;
    }
}

}  // namespace

LaunchFit launch_fit(const MeasuredKernel& kernel) {
    LaunchFit fit;
    fit.theoretical_pct = kernel[theoretical_pct];
    fit.achieved_pct = kernel[achieved_pct];
    fit.blocks = kernel[grid_size], fit.sms = kernel[sms];
    if (!fit.sms) fit.sms = kernel.sms;
    take_limits(kernel, fit);
    if (std::optional<Occupancy> occupancy; !fit.blocks_per_sm && (occupancy = calculated(kernel))) {
        fit.blocks_per_sm = occupancy->blocks_per_sm;
        fit.limiter = occupancy->pct < 100 ? to_string(occupancy->limiter) : "";
        if (!fit.theoretical_pct) fit.theoretical_pct = occupancy->pct;
    }
    fit.waves = kernel[waves];
    if (!fit.waves && fit.blocks && fit.sms && fit.blocks_per_sm && *fit.sms * *fit.blocks_per_sm > 0)
        fit.waves = *fit.blocks / (*fit.sms * *fit.blocks_per_sm);
    if (fit.waves && *fit.waves > 0) fit.tail_pct = 100 * (1 - *fit.waves / std::ceil(*fit.waves - 1e-9));
    std::optional<double> mean = kernel[active_cycles], most = kernel[sm_active_max];
    if (mean && most && *most > 0) fit.imbalance_pct = std::max(0.0, 100 * (1 - *mean / *most));
    return fit;
}

}  // namespace gpuprof::facts
