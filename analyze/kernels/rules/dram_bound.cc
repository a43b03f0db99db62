// Device memory delivers nearly what it can.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernels/kernel_rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline kernels {
namespace {

KernelRuling look_for_dram_bound(const KernelProfile& profile) {
    if (profile.limit != KernelLimit::dram) return KernelRuling::silent();
    double pct = profile.memory->pct;
    KernelFinding finding{.kind = KernelFindingKind::limit};
    std::optional<double> rate = profile[KernelMetric::dram_rate];
    finding.title = fmt::format("Device memory is busy {} of its peak bandwidth{}", text_of(*profile.memory),
                                rate ? fmt::format(" ({})", readable_scaled(*rate, "B/s")) : "");
    if (std::optional<double> read = profile[KernelMetric::dram_bytes_read],
        written = profile[KernelMetric::dram_bytes_written];
        read && written)
        finding.evidence.push_back(
            fmt::format("{} read and {} written", readable_bytes(*read), readable_bytes(*written)));
    if (std::optional<double> hit = profile[KernelMetric::l2_hit_pct])
        finding.evidence.push_back(fmt::format("{:.0f} % of the sectors requested are in L2", *hit));
    finding.remedy =
        "Move fewer bytes: fuse it with the kernels before and after, use smaller types, and reuse data in registers, "
        "shared memory or L2.";
    if (pct < 0.9 * kAchievableDram)
        finding.remedy +=
            " To get closer to the peak, have more loads in flight: vector loads, unrolling, more resident "
            "warps.";
    finding.gain_pct = std::max(0.0, 100 * (1 - pct / kAchievableDram));
    finding.confidence = profile.memory->lower_bound ? Rating::medium : Rating::high;
    finding.would_change_if =
        "the data fit into L2 in the program, without the flush that profilers do before each pass";
    return KernelRuling::fires(std::move(finding));
}

}  // namespace

const KernelRule kDramBoundKernel{"dram-bound", "Device memory delivers nearly what it can.",
                                  "throughput of device memory", look_for_dram_bound};

}  // namespace gpuprof::kernels
