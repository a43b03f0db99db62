// Kernels by name, and the order of the names: k-1, k-2, ... in tables and findings.
#pragma once

#include <vector>

#include "analyze/facts/host/name_groups.h"
#include "analyze/facts/stat.h"

namespace gpuprof::inline facts {

class Facts;

struct KernelNames {
    NameGroups groups;                 // of the rows of `kernel` on the selected devices
    std::vector<WideSum> totals;       // ns, by group
    std::vector<std::uint32_t> order;  // groups, longest total first, then by name
    // The name of the kernel k-N, N from 1; kNoString if there are fewer.
    StringId with_handle(std::size_t number) const {
        return number >= 1 && number <= order.size() ? groups.name(order[number - 1]) : kNoString;
    }
    static KernelNames make(const Facts& facts);
};

}  // namespace gpuprof::facts
