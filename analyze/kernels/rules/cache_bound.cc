// A cache delivers nearly what it can.
#include <fmt/format.h>

#include "analyze/kernels/kernel_rule_list.h"

namespace gpuprof::inline kernels {
namespace {

std::string_view remedy(KernelLimit limit) {
    if (limit == KernelLimit::l1)
        return "Ask less of L1: keep values in registers (each thread computes several results), use vector loads and "
               "shared memory for data that several threads need, and coalesce accesses.";
    if (limit == KernelLimit::l2)
        return "Ask less of L2: reuse data in shared memory or L1 (tiling), coalesce accesses, and avoid atomics to "
               "few "
               "addresses.";
    return "Ask less of the memory system: reuse data in registers and shared memory, and coalesce accesses.";
}

KernelRuling look_for_cache_bound(const KernelProfile& profile) {
    if (!profile.memory_bound() || profile.limit == KernelLimit::dram) return KernelRuling::silent();
    const Throughput& memory = *profile.memory;
    KernelFinding finding{.kind = KernelFindingKind::limit};
    std::string_view level = memory.level ? name_of(*memory.level) : "The memory system";
    finding.title = fmt::format("{} is busy {} of its peak{}", level, text_of(memory),
                                memory.part.empty() ? "" : fmt::format(" ({})", memory.part));
    if (std::optional<double> dram = profile[KernelMetric::dram_pct])
        finding.evidence.push_back(fmt::format("device memory is busy {:.0f} %", *dram));
    if (std::optional<double> hit = profile[KernelMetric::l1_hit_pct])
        finding.evidence.push_back(fmt::format("{:.0f} % of the sectors requested are in L1", *hit));
    if (const StallShare* top = profile.stalls ? profile.stalls->top() : nullptr)
        finding.evidence.push_back(
            fmt::format("warps wait {:.0f} % of the time for {}", top->pct, top->reason->waits_for));
    finding.remedy = remedy(profile.limit);
    finding.confidence = memory.level && !memory.lower_bound ? Rating::high : Rating::medium;
    finding.would_change_if = "another part of the memory system, which was not collected, is busier";
    return KernelRuling::fires(std::move(finding));
}

}  // namespace

const KernelRule kCacheBoundKernel{"cache-bound", "A cache delivers nearly what it can.",
                                   "throughput of the memory system", look_for_cache_bound};

}  // namespace gpuprof::kernels
