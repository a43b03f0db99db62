// Threads of a warp access scattered addresses, so most bytes of the sectors that move are not used.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernels/kernel_rule_list.h"

namespace gpuprof::inline kernels {
namespace {

constexpr double kLeastExcessPct = 20;   // percent of the sectors
constexpr double kMinAccessGainPct = 3;  // percent of the duration

// What the excess of one kind of access costs: its share of the busiest level that carries it. Loads whose neighbours
// come soon after find the rest of a sector in L1, so L2 and memory are not burdened.
double cost(const KernelProfile& profile, const AccessKind& kind, bool loads) {
    double excess = kind.excess_pct.value_or(0), sectors = 0;
    for (const std::optional<AccessKind>& each : {profile.accesses.loads, profile.accesses.stores})
        if (each) sectors += each->sectors;
    bool absorbed = loads && profile[KernelMetric::l1_hit_pct].value_or(0) >= 0.75 * excess;
    double busy = profile.memory ? profile.memory->pct : 0;
    if (absorbed) busy = level_pct(profile.kernel, MemoryLevel::l1).value_or(0);
    return excess * kind.sectors / sectors * busy / 100;
}

std::string line(std::string_view what, const AccessKind& kind) {
    return fmt::format(
        "{} touch {:.1f} sectors per request of a warp{}", what, kind.sectors_per_request,
        kind.bytes_per_sector ? fmt::format(" and use {:.0f} of the 32 bytes of each", *kind.bytes_per_sector) : "");
}

KernelRuling look_for_uncoalesced_access(const KernelProfile& profile) {
    const AccessPattern& accesses = profile.accesses;
    if (!accesses.excess_pct) {
        bool none = profile[KernelMetric::l1_load_requests] == 0 && profile[KernelMetric::l1_store_requests] == 0;
        return none ? KernelRuling::silent()
                    : KernelRuling::abstain(
                          "sectors, requests and bytes per sector of global accesses were not collected");
    }
    if (*accesses.excess_pct < kLeastExcessPct) return KernelRuling::silent();
    if (!profile.memory) return KernelRuling::abstain("throughput of the memory system was not collected");
    KernelFinding finding;
    double loads = accesses.loads ? cost(profile, *accesses.loads, true) : 0,
           stores = accesses.stores ? cost(profile, *accesses.stores, false) : 0;
    if (loads + stores < kMinAccessGainPct) return KernelRuling::silent();
    // What a compute-bound kernel would gain by less traffic cannot be estimated.
    if (profile.limit != KernelLimit::compute) finding.gain_pct = std::min(100.0, loads + stores);
    std::string_view which = "loads and stores";
    if (loads > 4 * stores) which = "loads";
    if (stores > 4 * loads) which = "stores";
    finding.title = fmt::format("{:.0f} % of the sectors of global memory moved are not needed: {} are not coalesced",
                                *accesses.excess_pct, which);
    if (accesses.loads && loads > 0) finding.evidence.push_back(line("loads", *accesses.loads));
    if (accesses.stores && stores > 0) finding.evidence.push_back(line("stores", *accesses.stores));
    finding.remedy =
        "Let neighbouring threads access neighbouring elements: change the layout (structure of arrays, a transposed "
        "copy), swap loop and thread indices, or go through a tile in shared memory.";
    bool counted = profile[KernelMetric::excess_sectors].has_value();
    finding.confidence = counted ? Rating::high : Rating::medium;
    if (!counted) finding.evidence.push_back("estimated from means; counters by instruction would show the lines");
    finding.would_change_if = "accesses of other warps use the same sectors while they are in a cache";
    return KernelRuling::fires(std::move(finding));
}

}  // namespace

const KernelRule kUncoalescedAccessKernel{"uncoalesced-access", "Threads of a warp access scattered addresses.",
                                          "sectors, requests and bytes per sector of global accesses",
                                          look_for_uncoalesced_access};

}  // namespace gpuprof::kernels
