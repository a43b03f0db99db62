// One measured launch as rules see it: its limits, stalls, launch and accesses, each computed once, and which of them
// holds it back.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyze/facts/kernels/access_pattern.h"
#include "analyze/facts/kernels/launch_fit.h"
#include "analyze/facts/kernels/speed_of_light.h"
#include "analyze/facts/kernels/warp_stalls.h"
#include "analyze/knowledge/kernel_class.h"

namespace gpuprof::inline facts {

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
