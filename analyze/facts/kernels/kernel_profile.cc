#include "analyze/facts/kernels/kernel_profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyze/facts/facts.h"

namespace gpuprof::inline facts {
namespace {

using enum KernelMetric;

constexpr double kSectorBytes = 32;
// A warp that accesses neighbouring 4-byte elements needs this many; at or below it, an access is not scattered.
constexpr double kCoalescedSectors = 4;

std::optional<AccessKind> kind_of(const MeasuredKernel& kernel, KernelMetric sectors, KernelMetric requests,
                                  KernelMetric bytes) {
    std::optional<double> moved = kernel[sectors], asked = kernel[requests];
    if (!moved || !asked || !(*asked > 0)) return std::nullopt;
    AccessKind kind{
        .sectors = *moved, .sectors_per_request = *moved / *asked, .bytes_per_sector = kernel[bytes], .excess_pct = {}};
    if (!kind.bytes_per_sector) return kind;
    double needed = std::max(1.0, *kind.bytes_per_sector * kind.sectors_per_request / kSectorBytes);
    kind.excess_pct = kind.sectors_per_request <= kCoalescedSectors + 0.01
                          ? 0
                          : std::max(0.0, 100 * (1 - needed / kind.sectors_per_request));
    return kind;
}

}  // namespace

AccessPattern access_pattern(const MeasuredKernel& kernel) {
    AccessPattern pattern{kind_of(kernel, l1_load_sectors, l1_load_requests, load_bytes_per_sector),
                          kind_of(kernel, l1_store_sectors, l1_store_requests, store_bytes_per_sector),
                          {}};
    std::optional<double> all = kernel[global_sectors], excess = kernel[excess_sectors];
    if (all && excess && *all > 0) {
        pattern.excess_pct = std::clamp(100 * *excess / *all, 0.0, 100.0);
        return pattern;
    }
    double sectors = 0, too_many = 0;
    for (const std::optional<AccessKind>& kind : {pattern.loads, pattern.stores}) {
        if (!kind) continue;
        if (!kind->excess_pct) return pattern;
        sectors += kind->sectors;
        too_many += kind->sectors * *kind->excess_pct;
    }
    if (sectors > 0) pattern.excess_pct = too_many / sectors;
    return pattern;
}

namespace {

using enum KernelMetric;

std::optional<std::int64_t> whole(std::optional<double> value) {
    if (!value || !(*value >= 0) || *value > 1e15) return std::nullopt;
    return std::llround(*value);
}

// From the launch record, where the tool did not say.
std::optional<Occupancy> calculated(const MeasuredKernel& kernel) {
    std::optional<std::int64_t> threads = whole(kernel[block_size]), registers = whole(kernel[KernelMetric::registers]),
                                shared = whole(sum_of(kernel, shared_static, shared_dynamic));
    if (!shared) shared = kernel.shared_bytes;
    if (!kernel.cc_major || !kernel.cc_minor || !threads || *threads < 1 || *threads > 1024 || !registers || !shared)
        return std::nullopt;
    return theoretical_occupancy({.block_x = static_cast<int>(*threads),
                                  .registers_per_thread = static_cast<int>(std::min<std::int64_t>(*registers, 1024)),
                                  .shared_bytes = *shared},
                                 {.cc_major = *kernel.cc_major,
                                  .cc_minor = *kernel.cc_minor,
                                  .name = kernel.device_name,
                                  .shared_config_bytes = whole(kernel[shared_config])});
}

// By the blocks that each resource allows; ties go to the first.
void take_limits(const MeasuredKernel& kernel, LaunchFit& fit) {
    constexpr std::pair<KernelMetric, std::string_view> kLimits[] = {{limit_registers, "registers"},
                                                                     {limit_shared, "shared memory"},
                                                                     {limit_barriers, "barriers"},
                                                                     {limit_blocks, "block slots"},
                                                                     {limit_warps, ""}};
    for (auto [metric, name] : kLimits) {
        std::optional<double> limit = kernel[metric];
        if (!limit || (fit.blocks_per_sm && *limit >= *fit.blocks_per_sm)) continue;
        fit.blocks_per_sm = limit;
        fit.limiter = name;
    }
}

}  // namespace

LaunchFit launch_fit(const MeasuredKernel& kernel) {
    LaunchFit fit;
    fit.theoretical_pct = kernel[theoretical_pct];
    fit.achieved_pct = kernel[achieved_pct];
    fit.blocks = kernel[grid_size];
    fit.sms = kernel[sms];
    if (!fit.sms) fit.sms = kernel.sms;
    take_limits(kernel, fit);
    if (std::optional<Occupancy> occupancy; !fit.blocks_per_sm && (occupancy = calculated(kernel))) {
        fit.blocks_per_sm = occupancy->blocks_per_sm;
        fit.limiter = occupancy->pct < 100 ? to_string(occupancy->limiter) : "";
        if (!fit.theoretical_pct) fit.theoretical_pct = occupancy->pct;
    }
    fit.waves = kernel[waves];
    if (!fit.waves && fit.blocks && fit.sms && fit.blocks_per_sm && *fit.sms * *fit.blocks_per_sm > 0)
        fit.waves = *fit.blocks / (*fit.sms * *fit.blocks_per_sm);
    if (fit.waves && *fit.waves > 0) fit.tail_pct = 100 * (1 - *fit.waves / std::ceil(*fit.waves - 1e-9));
    std::optional<double> mean = kernel[active_cycles], most = kernel[sm_active_max];
    if (mean && most && *most > 0) fit.imbalance_pct = std::max(0.0, 100 * (1 - *mean / *most));
    return fit;
}

namespace {

// If compute and memory throughput are this close, what warps wait for decides between them.
constexpr double kSimilar = 10;     // percentage points
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
    return compute - memory <= kSimilar && issues && profile.stalls && profile.stalls->doubt.empty() &&
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
