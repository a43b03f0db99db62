// Threads of a warp access the same bank of shared memory, one after the other.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernels/kernel_rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline kernels {
namespace {

using enum KernelMetric;

constexpr double kLeastConflictsPct = 10;      // percent of the passes
constexpr double kMinBankConflictGainPct = 3;  // percent of the duration

KernelRuling look_for_bank_conflicts(const KernelProfile& profile) {
    // Conflicts as the hardware counts them include passes delayed by others; excess passes, by instruction, do not.
    std::optional<double> passes = profile[shared_wavefronts], conflicts = profile[excess_wavefronts];
    if (!conflicts) conflicts = profile[KernelMetric::bank_conflicts];
    if (!passes) passes = sum_of(profile.kernel, shared_loads, shared_stores);
    if (!conflicts) conflicts = sum_of(profile.kernel, load_conflicts, store_conflicts);
    if (!passes || !conflicts)
        return KernelRuling::abstain("passes through shared memory and bank conflicts were not collected");
    if (!(*passes > 0) || 100 * *conflicts < kLeastConflictsPct * *passes) return KernelRuling::silent();
    std::optional<double> busy = profile[part_l1_wavefronts];
    if (!busy) return KernelRuling::abstain("throughput of L1 was not collected");
    double share = 100 * std::min(1.0, *conflicts / *passes);
    KernelFinding finding;
    finding.gain_pct = share * *busy / 100;
    if (*finding.gain_pct < kMinBankConflictGainPct) return KernelRuling::silent();
    finding.title = fmt::format("Bank conflicts add {:.0f} % of the passes through shared memory", share);
    finding.evidence.push_back(fmt::format("{} of {} passes; the data pipe of L1 and shared memory is busy {:.0f} %",
                                           readable_count(static_cast<std::int64_t>(*conflicts)),
                                           readable_count(static_cast<std::int64_t>(*passes)), *busy));
    finding.remedy =
        "Let the threads of a warp access different banks: pad rows by one element, swizzle indices, or use "
        "layouts of the libraries (CUTLASS, cp.async with swizzle).";
    finding.confidence = profile[excess_wavefronts] ? Rating::high : Rating::medium;
    finding.would_change_if = "counters by instruction show no conflicts";
    return KernelRuling::fires(std::move(finding));
}

}  // namespace

const KernelRule kBankConflictsKernel{"bank-conflicts", "Threads of a warp access the same bank of shared memory.",
                                      "passes through shared memory, bank conflicts", look_for_bank_conflicts};

}  // namespace gpuprof::kernels
