// Warps wait for instructions.
#include <fmt/format.h>

#include "analyze/kernels/kernel_rule_list.h"

namespace gpuprof::inline kernels {
namespace {

constexpr double kMinInstructionWaitPct = 15;  // percent of the latency

KernelRuling look_for_instruction_cache(const KernelProfile& profile) {
    if (!profile.stalls) return KernelRuling::abstain("stall reasons were not collected");
    double share = profile.stalls->pct(KernelMetric::stall_no_instruction);
    if (share < kMinInstructionWaitPct) return KernelRuling::silent();
    if (!profile.stalls->doubt.empty())  // a short kernel starts with an empty cache
        return KernelRuling::abstain("stall reasons are uncertain: " + profile.stalls->doubt);
    KernelFinding finding;
    finding.title = fmt::format("Warps wait {:.0f} % of the time for instructions", share);
    if (std::optional<double> time = profile.kernel.duration_ns())
        finding.evidence.push_back(
            fmt::format("the kernel takes {:.0f} us, so the cache is warm for most of it", *time / 1000));
    finding.remedy = "Make the code of the inner loops smaller: less unrolling and inlining, fewer specialised paths.";
    finding.gain_pct = share;
    finding.would_change_if = "the kernel jumps between many functions only at its start";
    return KernelRuling::fires(std::move(finding));
}

}  // namespace

const KernelRule kInstructionCacheKernel{"instruction-cache", "Warps wait for instructions.", "stall reasons",
                                         look_for_instruction_cache};

}  // namespace gpuprof::kernels
