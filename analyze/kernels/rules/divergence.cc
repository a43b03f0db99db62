// Threads of a warp take different branches, so instructions run for a part of them.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernels/kernel_rule_list.h"

namespace gpuprof::inline kernels {
namespace {

using enum KernelMetric;

constexpr double kWarp = 32;
constexpr double kFew = 24;                  // threads
constexpr double kMinDivergenceGainPct = 5;  // percent of the duration

KernelRuling look_for_divergence(const KernelProfile& profile) {
    std::optional<double> threads = profile[threads_per_inst];
    if (!threads) return KernelRuling::abstain("threads per instruction were not collected");
    if (*threads > kFew) return KernelRuling::silent();
    if (!profile.compute) return KernelRuling::abstain("throughput of the multiprocessors was not collected");
    // With the threads of a block in a part of a warp, the others never were there.
    if (std::optional<double> block = profile[block_size]; block && *block < kWarp && *threads >= 0.9 * *block)
        return KernelRuling::silent();
    KernelFinding finding;
    finding.gain_pct = 100 * (1 - *threads / kWarp) * profile.compute->pct / 100;
    if (*finding.gain_pct < kMinDivergenceGainPct) return KernelRuling::silent();
    finding.title = fmt::format("Branches leave {:.0f} of 32 threads active per instruction", *threads);
    if (std::optional<double> uniform = profile[branch_efficiency]; uniform && *uniform > 0)
        finding.evidence.push_back(
            fmt::format("{:.0f} % of the branches are taken alike by the threads of a warp", *uniform));
    finding.evidence.push_back(
        fmt::format("multiprocessors are busy {} of their peak with such instructions", text_of(*profile.compute)));
    finding.remedy =
        "Let the threads of a warp take the same path: sort or group work by case, move the condition to whole "
        "warps or blocks, or compute both sides without branching.";
    finding.confidence = Rating::high;
    finding.would_change_if = "the inactive threads have no work at all";
    return KernelRuling::fires(std::move(finding));
}

}  // namespace

const KernelRule kDivergenceKernel{"divergence", "Threads of a warp take different branches.",
                                   "threads per instruction", look_for_divergence};

}  // namespace gpuprof::kernels
