// What limits each kernel: arithmetic, memory bandwidth, too little work to fill the device, or unknown. Evidence,
// strongest first: its hardware counters; FLOPs and bytes from recorded operator shapes; the
// kind of kernel by its name (a GEMM reuses what it loads, an elementwise kernel does not); the launch shape. Each
// judgement names its evidence.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyze/knowledge/causes.h"
#include "analyze/knowledge/kernel_class.h"
#include "core/base/ids.h"

namespace gpuprof::inline facts {

class Facts;

// All executions of kernels with one name.
struct KernelGroup {
    StringId name = kNoString;
    KernelTraits traits;
    std::uint64_t count = 0;
    DurNs total_ns = 0;
    std::array<DurNs, kBounds> by_bound{};  // sums to total_ns
    DurNs by_counters_ns = 0;               // part of total_ns judged from hardware counters
    DurNs by_shapes_ns = 0;                 // part of total_ns judged from operator shapes
    DurNs unfilled_ns = 0;                  // sum of duration x share of SMs without a block
};

// Every group, longest total first, then by name; the first is k-1 in every table and finding.
struct KernelGroups {
    std::vector<KernelGroup> groups;
    static KernelGroups make(const Facts& facts);
};

}  // namespace gpuprof::facts
