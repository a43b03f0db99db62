// Some multiprocessors work longer than others.
#include <fmt/format.h>

#include "analyze/kernels/kernel_rule_list.h"

namespace gpuprof::inline kernels {
namespace {

constexpr double kMinImbalancePct = 10;  // percent

KernelRuling look_for_sm_imbalance(const KernelProfile& profile) {
    const LaunchFit& fit = profile.fit;
    if (!fit.imbalance_pct)
        return KernelRuling::abstain("active cycles of the multiprocessors (mean, max) were not collected");
    bool few_blocks = fit.blocks && fit.sms && *fit.blocks < *fit.sms;  // low-occupancy says that
    if (few_blocks || *fit.imbalance_pct < kMinImbalancePct) return KernelRuling::silent();
    KernelFinding finding;
    finding.title =
        fmt::format("Multiprocessors work unequally: the average one is idle {:.0f} % of the longest one's time",
                    *fit.imbalance_pct);
    if (std::optional<double> least = profile[KernelMetric::sm_active_min], most = profile[KernelMetric::sm_active_max];
        least && most)
        finding.evidence.push_back(fmt::format("{:.0f} to {:.0f} active cycles", *least, *most));
    if (fit.waves) finding.evidence.push_back(fmt::format("{:.2f} waves of blocks", *fit.waves));
    finding.remedy =
        "Give blocks equal work (split long rows, order long work first), or let persistent blocks take work "
        "from a queue.";
    finding.gain_pct = *fit.imbalance_pct;
    finding.would_change_if = "another kernel runs on the idle multiprocessors";
    return KernelRuling::fires(std::move(finding));
}

}  // namespace

const KernelRule kSmImbalanceKernel{"sm-imbalance", "Some multiprocessors work longer than others.",
                                    "active cycles of the multiprocessors", look_for_sm_imbalance};

}  // namespace gpuprof::kernels
