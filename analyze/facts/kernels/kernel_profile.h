// One measured launch as rules see it: its limits, stalls, launch and accesses, each computed once, and which of them
// holds it back.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyze/facts/kernels/measured_kernels.h"
#include "analyze/facts/kernels/speed_of_light.h"
#include "analyze/facts/kernels/warp_stalls.h"
#include "analyze/knowledge/kernel_class.h"
#include "analyze/knowledge/occupancy.h"

namespace gpuprof::inline facts {

// How well the global memory accesses of a kernel, loads or stores, use the sectors of 32 bytes that they move.
struct AccessKind {
    double sectors = 0;
    double sectors_per_request = 0;          // of a warp: 4 for neighbouring 4-byte elements, up to 32
    std::optional<double> bytes_per_sector;  // used, of 32
    // Sectors that the same bytes would not need if threads of a warp accessed neighbouring elements. Several threads
    // that read the same bytes need one sector, which is no excess.
    std::optional<double> excess_pct;
};

struct AccessPattern {
    std::optional<AccessKind> loads, stores;
    // Of all global sectors; counted by instruction where that was collected, otherwise from the means of both kinds.
    std::optional<double> excess_pct;
};

AccessPattern access_pattern(const MeasuredKernel& kernel);

// How a launch fits the GPU: the warps that fit on a multiprocessor and what limits them, the warps that were there, and
// how the blocks spread.
struct LaunchFit {
    std::optional<double> theoretical_pct, achieved_pct;  // of the warp slots
    // What limits the theoretical occupancy: "registers", "shared memory", "block slots", "barriers"; empty at 100 %.
    std::string_view limiter;
    std::optional<double> blocks, sms, blocks_per_sm;
    // The grid in waves of blocks that fit at once, and the share of the last wave's slots that it leaves empty over all
    // waves: of 1.1 waves, 45 %.
    std::optional<double> waves, tail_pct;
    // Of the busiest multiprocessor's active cycles, what the average one is short of.
    std::optional<double> imbalance_pct;
};

LaunchFit launch_fit(const MeasuredKernel& kernel);

enum class KernelLimit : std::uint8_t {
    unknown,  // too little was collected
    dram,
    l2,
    l1,
    memory,   // caches or memory, level unknown
    compute,  // a pipe, or the issue of instructions
    latency,  // nothing is near its peak: warps wait
};
// "DRAM-bound", "latency-bound", "cannot tell", ...
std::string_view name_of(KernelLimit limit);

struct KernelProfile {
    KernelProfile(const MeasuredKernel& measured, std::string_view kernel_name);

    std::optional<double> operator[](KernelMetric metric) const { return kernel[metric]; }
    bool memory_bound() const { return limit >= KernelLimit::dram && limit <= KernelLimit::memory; }

    const MeasuredKernel& kernel;
    std::string_view name;
    KernelTraits traits;
    std::optional<Throughput> compute, memory;
    std::optional<WarpStalls> stalls;
    LaunchFit fit;
    AccessPattern accesses;
    KernelLimit limit = KernelLimit::unknown;
    // The greatest throughput that is known; 0 if both are unknown.
    double speed_of_light_pct = 0;
};

// The profile of each group's longest launch, in the order of MeasuredKernels::groups.
struct KernelProfiles {
    std::vector<KernelProfile> profiles;
    static KernelProfiles make(const Facts& facts);
};

}  // namespace gpuprof::facts
