// Tensor cores are used but wait for data or for other warps.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernels/kernel_rule_list.h"

namespace gpuprof::inline kernels {
namespace {

using enum KernelMetric;

constexpr double kMinTensorPct = 5;  // percent

KernelRuling look_for_starved_tensor_cores(const KernelProfile& profile) {
    if (profile.limit != KernelLimit::latency) return KernelRuling::silent();
    std::optional<double> tensor = profile[part_tensor_pipe];
    if (!tensor) return KernelRuling::abstain("activity of the tensor pipes was not collected");
    if (*tensor < kMinTensorPct) return KernelRuling::silent();
    KernelFinding finding;
    finding.title = fmt::format("Tensor pipes are busy {:.0f} % of the time and wait for the rest", *tensor);
    const StallShare* top = profile.stalls ? profile.stalls->top() : nullptr;
    if (top != nullptr)
        finding.evidence.push_back(
            fmt::format("warps wait {:.0f} % of the time for {}", top->pct, top->reason->waits_for));
    if (profile.fit.imbalance_pct && *profile.fit.imbalance_pct >= 5)
        finding.evidence.push_back(fmt::format("the average multiprocessor is idle {:.0f} % of the longest one's time",
                                               *profile.fit.imbalance_pct));
    if (profile.fit.waves) finding.evidence.push_back(fmt::format("{:.2f} waves of blocks", *profile.fit.waves));
    finding.remedy =
        "Keep more products in flight: more stages of asynchronous copies, larger tiles, warps that load beside "
        "warps that multiply, and less work between products (softmax, conversions).";
    finding.gain_pct = 100 - std::max(*tensor, profile.speed_of_light_pct);
    finding.would_change_if = "the operations outside the products cannot overlap with them";
    return KernelRuling::fires(std::move(finding));
}

}  // namespace

const KernelRule kStarvedTensorCoresKernel{
    "starved-tensor-cores", "Tensor cores are used but wait for data or for other warps.",
    "throughput of compute and memory, activity of the tensor pipes", look_for_starved_tensor_cores};

}  // namespace gpuprof::kernels
