// What holds a measured kernel back: its limit, and the findings of all rules, the one to act on first.
#pragma once

#include <string>
#include <vector>

#include "analyze/kernels/kernel_rule_list.h"

namespace gpuprof::inline kernels {

struct KernelDiagnosis {
    explicit KernelDiagnosis(const KernelProfile& profile);

    // First the cause that would gain most, if it would gain much; then the limit; then other causes.
    std::vector<KernelFinding> findings;
    std::vector<std::string> abstentions;  // "bank-conflicts: ... were not collected"
    // "DRAM-bound: device memory is busy 71 % of its peak bandwidth", with the cause that explains it.
    std::string sentence;
};

// Of KernelProfiles, in their order.
struct KernelDiagnoses {
    std::vector<KernelDiagnosis> diagnoses;
    static KernelDiagnoses make(const Facts& facts);
};

}  // namespace gpuprof::kernels
