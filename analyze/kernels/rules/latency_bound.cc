// Nothing is near its peak: warps wait.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernels/kernel_rule_list.h"

namespace gpuprof::inline kernels {
namespace {

KernelRuling look_for_latency_bound(const KernelProfile& profile) {
    if (profile.limit != KernelLimit::latency)
        return profile.limit == KernelLimit::unknown
                   ? KernelRuling::abstain("throughput of compute and memory was not collected")
                   : KernelRuling::silent();
    KernelFinding finding{.kind = KernelFindingKind::limit};
    double busiest = profile.speed_of_light_pct;
    const StallShare* top = profile.stalls ? profile.stalls->top() : nullptr;
    bool sure = top != nullptr && profile.stalls->doubt.empty() && !profile.stalls->tie();
    finding.title = top == nullptr
                        ? std::string("Warps wait: no part of the GPU is near its peak")
                        : fmt::format("Warps wait {:.0f} % of the time for {}", top->pct, top->reason->waits_for);
    finding.evidence.push_back(fmt::format("the busiest part of the GPU reaches {:.0f} % of its peak", busiest));
    if (profile.stalls)
        for (const StallShare& share : profile.stalls->shares)
            if (share.reason->per_issue != KernelMetric::stall_selected && &share != top && top != nullptr &&
                top->pct - share.pct < 10 && finding.evidence.size() < 4)
                finding.evidence.push_back(fmt::format("{:.0f} % for {}", share.pct, share.reason->waits_for));
    if (profile.stalls && !profile.stalls->doubt.empty())
        finding.evidence.push_back(fmt::format("stall reasons are uncertain: {}", profile.stalls->doubt));
    finding.remedy = top == nullptr
                         ? "Collect stall reasons (--set full, or ncu --set full) to see what warps wait for."
                         : std::string(top->reason->remedy);
    if (finding.remedy.empty()) finding.remedy = "Have more warps resident, or more independent instructions in each.";
    finding.gain_pct = top == nullptr ? std::optional<double>() : std::min(top->pct, 100 - busiest);
    sure &= !profile.compute->lower_bound && !profile.memory->lower_bound;
    finding.confidence = top != nullptr ? Rating::medium : Rating::low;
    if (sure) finding.confidence = Rating::high;
    if (profile.stalls && !profile.stalls->doubt.empty()) finding.confidence = Rating::low;
    finding.would_change_if = "a part of the GPU that was not collected is near its peak";
    KernelRuling ruling = KernelRuling::fires(std::move(finding));
    if (top == nullptr) ruling.cannot_tell = "stall reasons were not collected";
    return ruling;
}

}  // namespace

const KernelRule kLatencyBoundKernel{"latency-bound", "Nothing is near its peak: warps wait.",
                                     "throughput of compute and memory, stall reasons", look_for_latency_bound};

}  // namespace gpuprof::kernels
