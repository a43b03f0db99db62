// What the page of each measured kernel shows, as JSON: of every analysis about single launches, the rows about the
// launch that stands for the kernel. The report in a document has these analyses for all kernels together and shows
// their first rows only; here, no kernel lacks any.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/model/result_table.h"

namespace gpuprof {

// `tables`: all analyses. One page per row of `limits`, in that order: {"tables": [...]}, as in a report.
std::vector<std::string> kernel_pages(std::span<const ResultTable> tables);

}  // namespace gpuprof
