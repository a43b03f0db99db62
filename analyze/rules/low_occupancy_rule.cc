// Launches that cannot keep enough warps resident.
#include <fmt/format.h>

#include <array>

#include "analyze/facts/kernels/kernel_occupancy.h"
#include "analyze/facts/name_groups.h"
#include "analyze/facts/shares.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

constexpr double kLowOccupancyPct = 40;  // percent of the warp slots

// Time in launches of low occupancy, by group of kernels, and by what limits them.
struct LowOccupancyLaunches {
    std::vector<DurNs> by_group;  // as KernelNames numbers them
    std::map<Limiter, DurNs> by_limiter;
};

LowOccupancyLaunches low_launches(const Facts& facts) {
    const KernelTable& kernels = facts.trace().kernel();
    const NameGroups& names = facts.get<KernelNames>().groups;
    const LaunchOccupancy& occupancy = facts.get<LaunchOccupancy>();
    LowOccupancyLaunches low{std::vector<DurNs>(names.size(), 0), {}};
    for (Row row = 0; row < kernels.rows; ++row) {
        if (names.of(row) == NameGroups::kLeftOut) continue;
        const std::optional<Occupancy>& here = occupancy.of(row);
        if (!here || here->pct >= kLowOccupancyPct) continue;
        low.by_group[names.of(row)] += kernels.dur[row];
        low.by_limiter[here->limiter] += kernels.dur[row];
    }
    return low;
}

std::string remedy_for_low_occupancy(Limiter limiter) {
    switch (limiter) {
        case Limiter::registers:
            return "Use fewer registers per thread in kernels with limiter `registers` (__launch_bounds__, smaller "
                   "tiles, less unrolling); low occupancy is fine if each thread keeps many loads in flight.";
        case Limiter::shared_memory:
            return "Use less shared memory per block (smaller tiles, fewer pipeline stages), or increase the "
                   "carve-out.";
        case Limiter::warps:
        case Limiter::blocks:
            return "Change the block size: with 128 to 256 threads an SM reaches its maximum number of warps before "
                   "its maximum number of blocks.";
        default:
            return "Reduce what limits occupancy; `kernels` shows the limiter: registers, shared memory or block size.";
    }
}

Ruling look_for_low_occupancy(const Facts& facts) {
    if (!facts.get<LaunchOccupancy>().known())
        return Ruling::abstain("registers per thread or the limits of the GPU were not recorded");
    LowOccupancyLaunches low = low_launches(facts);
    const KernelNames& names = facts.get<KernelNames>();
    const std::vector<KernelGroup>& groups = facts.get<KernelGroups>().groups;
    // Matrix kernels keep their tiles in registers and shared memory, so few warps are intended. Underfilled launches
    // have too few blocks for occupancy to matter, and pages of managed memory do not come faster for more warps.
    KernelPart part = [&](const KernelGroup& group) -> DurNs {
        if (is_matrix_product(group.traits) || group.traits.kind == KernelClass::collective) return 0;
        std::size_t place = static_cast<std::size_t>(&group - groups.data());
        return std::max<DurNs>(0, low.by_group[names.order[place]] - of_bound(group, Bound::underfilled) -
                                      of_bound(group, Bound::migration));
    };
    const Shares& shares = facts.get<Shares>();
    Finding finding;
    finding.cost_ns = busy_with(facts, part);
    if (shares.effective_pct(finding.cost_ns) < kMinFindingPct) return Ruling::silent();
    auto most = std::max_element(low.by_limiter.begin(), low.by_limiter.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
    finding.title = fmt::format("Kernels with an occupancy below 40 % take {}", share_text(facts, finding.cost_ns));
    push_kernel_lines(facts, part, finding);
    finding.remedy = remedy_for_low_occupancy(most->first);
    finding.confidence = Rating::low;
    finding.basis = Basis::launch;
    finding.would_change_if = "the kernels hide latency in another way (counters would show it)";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kLowOccupancy{"low-occupancy", "Kernels with a low theoretical occupancy.", look_for_low_occupancy,
                         Effort::rewrite};

}  // namespace gpuprof::rules
