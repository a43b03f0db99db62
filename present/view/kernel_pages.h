// What the page of each kernel with counters or samples shows, as JSON: of every analysis about single launches, the rows
// about the launch that stands for the kernel, and its source lines. The report in a document has these analyses for all
// kernels together and shows their first rows only; here, no kernel lacks any.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/model/result_table.h"

namespace gpuprof::inline view {

// A function with counters of instructions.
struct SampledKernel {
    std::string name;
    std::int64_t samples = 0;
    double share_pct = 0;       // of all samples
    std::size_t page = 0;       // the first that shows its lines
    std::string timeline = {};  // its name among the kernels of the timeline; empty if it is not there
};

struct KernelPages {
    std::vector<std::string> pages;      // {"tables": [...]}: per row of `limits`, then per sampled kernel without one
    std::vector<SampledKernel> sampled;  // most samples first
};

// `tables`: all analyses.
KernelPages kernel_pages(std::span<const ResultTable> tables);

}  // namespace gpuprof::view
