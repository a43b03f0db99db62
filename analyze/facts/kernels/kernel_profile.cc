#include "analyze/facts/kernels/kernel_profile.h"

#include <algorithm>

#include "analyze/facts/facts.h"

namespace gpuprof::inline facts {
namespace {

// If compute and memory throughput are this close, what warps wait for decides between them.
constexpr double kAlike = 10;       // percentage points
constexpr double kMostlyWait = 50;  // percent of the latency
// If only one of compute and memory is known, it decides above this: the other can hardly be higher.
constexpr double kDecidesAlone = 85;  // percent

KernelLimit of_level(const Throughput& memory) {
    if (!memory.level) return KernelLimit::memory;
    switch (*memory.level) {
        case MemoryLevel::dram: return KernelLimit::dram;
        case MemoryLevel::l2: return KernelLimit::l2;
        case MemoryLevel::l1: return KernelLimit::l1;
    }
    return KernelLimit::memory;
}

// A kernel that issues instructions as fast as it waits for memory: the wait decides.
bool memory_decides(const KernelProfile& profile, double memory, double compute) {
    if (memory >= compute) return true;
    bool issues =
        profile.compute->metric == KernelMetric::part_issue || profile.compute->metric == KernelMetric::part_executed;
    return compute - memory <= kAlike && issues && profile.stalls && profile.stalls->doubt.empty() &&
           profile.stalls->pct(KernelMetric::stall_long_scoreboard) >= kMostlyWait;
}

bool known(const std::optional<Throughput>& throughput) { return throughput && throughput->close; }

// Device memory is measured against the bandwidth that kernels can reach, other parts against their peaks.
double of_reachable(const Throughput& memory) {
    return memory.level == MemoryLevel::dram ? memory.pct * 100 / kAchievableDram : memory.pct;
}

KernelLimit limit_of(const KernelProfile& profile) {
    double memory = profile.memory ? of_reachable(*profile.memory) : 0,
           compute = profile.compute ? profile.compute->pct : 0;
    bool both = known(profile.compute) && known(profile.memory);
    double highest = std::max(memory, compute);
    if (highest < (both ? kNearPeak : kDecidesAlone)) return both ? KernelLimit::latency : KernelLimit::unknown;
    if (!memory_decides(profile, memory, compute)) return KernelLimit::compute;
    // Unknown parts of other levels may be as busy, but hardly busier than device memory so near its peak.
    bool level_known = known(profile.memory) || profile.memory->level == MemoryLevel::dram;
    return level_known ? of_level(*profile.memory) : KernelLimit::memory;
}

}  // namespace

std::string_view name_of(KernelLimit limit) {
    constexpr std::string_view kNames[] = {"cannot tell",  "DRAM-bound",    "L2-bound",     "L1-bound",
                                           "memory-bound", "compute-bound", "latency-bound"};
    return kNames[static_cast<std::size_t>(limit)];
}

KernelProfile::KernelProfile(const MeasuredKernel& measured, std::string_view kernel_name)
    : kernel(measured),
      name(kernel_name),
      traits(classify_kernel(kernel_name)),
      compute(compute_throughput(measured)),
      memory(memory_throughput(measured)),
      stalls(warp_stalls(measured)),
      fit(launch_fit(measured)),
      accesses(access_pattern(measured)),
      speed_of_light_pct(std::max(memory ? memory->pct : 0, compute ? compute->pct : 0)) {
    limit = limit_of(*this);
}

KernelProfiles KernelProfiles::make(const Facts& facts) {
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    KernelProfiles result;
    for (const MeasuredGroup& group : measured.groups)
        result.profiles.emplace_back(measured.launches[group.longest], facts.trace().text(group.name));
    return result;
}

}  // namespace gpuprof::facts
