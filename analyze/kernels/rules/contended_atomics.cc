// Atomic operations queue at few addresses.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernels/kernel_rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline kernels {
namespace {

using enum KernelMetric;

constexpr double kMinAtomicsPct = 20;   // percent of the requests
constexpr double kMostWait = 40;        // percent of the latency
constexpr double kBusyAtomicsPct = 60;  // percent

KernelRuling look_for_contended_atomics(const KernelProfile& profile) {
    std::optional<double> atomics = sum_of(profile.kernel, atomic_requests, reduction_requests),
                          others = sum_of(profile.kernel, l1_load_requests, l1_store_requests);
    if (!atomics || !others) return KernelRuling::abstain("requests of loads, stores and atomics were not collected");
    double share = *atomics > 0 ? 100 * *atomics / (*atomics + *others) : 0;
    if (share < kMinAtomicsPct) return KernelRuling::silent();
    double unit = profile[part_l2_atomics].value_or(0), waits = 0;
    if (profile.stalls)
        waits = profile.stalls->pct(stall_long_scoreboard) + profile.stalls->pct(stall_lg_throttle) +
                profile.stalls->pct(stall_membar);
    if (unit < kBusyAtomicsPct && !profile.stalls) return KernelRuling::abstain("stall reasons were not collected");
    if (unit < kBusyAtomicsPct && waits < kMostWait) return KernelRuling::silent();
    KernelFinding finding;
    finding.title = fmt::format(
        "{:.0f} % of the global memory requests are atomics, and warps wait for memory {:.0f} % of the time", share,
        waits);
    if (unit >= kBusyAtomicsPct)
        finding.title = fmt::format("The atomic units of L2 are busy {:.0f} % of their peak", unit);
    finding.evidence.push_back(fmt::format("{} atomics of warps", readable_count(static_cast<std::int64_t>(*atomics))));
    finding.remedy =
        "Combine first: add up in registers or by warp shuffles, then in shared memory, and write one atomic per "
        "block; spread counters over more addresses.";
    finding.gain_pct =
        std::min(100 - (unit < kBusyAtomicsPct ? profile.speed_of_light_pct : 0), share / 100 * std::max(waits, unit));
    finding.confidence = share >= 50 ? Rating::high : Rating::medium;
    finding.would_change_if = "atomics go to different addresses and are not what warps wait for";
    return KernelRuling::fires(std::move(finding));
}

}  // namespace

const KernelRule kContendedAtomicsKernel{"contended-atomics", "Atomic operations queue at few addresses.",
                                         "requests of loads, stores and atomics, stall reasons",
                                         look_for_contended_atomics};

}  // namespace gpuprof::kernels
