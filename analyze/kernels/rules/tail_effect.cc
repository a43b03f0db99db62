// The last wave of blocks is small, and most of the GPU waits for it.
#include <fmt/format.h>

#include "analyze/kernels/kernel_rule_list.h"

namespace gpuprof::inline kernels {
namespace {

constexpr double kMinTailPct = 15;  // percent of the slots of all waves

KernelRuling look_for_tail_effect(const KernelProfile& profile) {
    const LaunchFit& fit = profile.fit;
    if (!fit.waves) return KernelRuling::abstain("the number of waves is unknown");
    if (*fit.waves <= 1 || !fit.tail_pct || *fit.tail_pct < kMinTailPct) return KernelRuling::silent();
    KernelFinding finding;
    finding.title = fmt::format("The grid makes {:.2f} waves: the last one leaves {:.0f} % of all slots empty",
                                *fit.waves, *fit.tail_pct);
    if (fit.blocks && fit.sms && fit.blocks_per_sm)
        finding.evidence.push_back(
            fmt::format("{:.0f} blocks; {:.0f} fit at once ({:.0f} on each of {:.0f} multiprocessors)", *fit.blocks,
                        *fit.sms * *fit.blocks_per_sm, *fit.blocks_per_sm, *fit.sms));
    finding.remedy =
        "Choose a block or tile size whose grid is a whole number of waves, or make blocks persistent and let "
        "them take tiles from a queue (stream-K).";
    finding.gain_pct = *fit.tail_pct;
    finding.confidence = Rating::medium;
    finding.would_change_if = "blocks take very different times, so that waves overlap";
    return KernelRuling::fires(std::move(finding));
}

}  // namespace

const KernelRule kTailEffectKernel{"tail-effect", "The last wave of blocks is small, and most of the GPU waits for it.",
                                   "the launch's resources", look_for_tail_effect};

}  // namespace gpuprof::kernels
