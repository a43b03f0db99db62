// What limits each kernel: arithmetic, memory bandwidth, too little work to fill the device, pages of managed memory
// that migrate while it runs, or unknown. Evidence, strongest first: migrations inside it; its hardware counters; FLOPs
// and bytes from recorded operator shapes; the number of tokens of the server's step that launched it; a launch that leaves the device empty; the kind of kernel by its name (a GEMM
// reuses what it loads, an elementwise kernel does not). Each judgement names its evidence. A name that says nothing
// leaves the limit unknown: few registers and no shared memory are the shape of a copy, but of a naive matrix product
// and of a hash function too.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyze/knowledge/causes.h"
#include "analyze/knowledge/kernel_class.h"
#include "core/base/ids.h"
#include "core/base/pod_vector.h"

namespace gpuprof::inline facts {

class Facts;

// All executions of kernels with one name.
struct KernelGroup {
    StringId name = kNoString;
    KernelTraits traits;
    std::uint64_t count = 0;
    DurNs total_ns = 0;
    std::array<DurNs, kBounds> by_bound{};     // sums to total_ns
    std::array<DurNs, kBounds> by_counters{};  // part of by_bound judged from hardware counters
    std::array<DurNs, kBounds> by_shapes{};    // part of by_bound judged from operator shapes
    DurNs unfilled_ns = 0;                     // sum of duration x share of SMs without a block
};

// Every group, longest total first, then by name; the first is k-1 in every table and finding.
struct KernelGroups {
    std::vector<KernelGroup> groups;
    PodVector<Bound> of_kernel;  // by row of `kernel`; empty unless a server's iterations are known
    static KernelGroups make(const Facts& facts);
};

}  // namespace gpuprof::facts
