// Any analysis whose rows have a name and a time, side by side: operators, ranges, devices, copies, calls, causes, steps.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compare/run.h"
#include "core/base/result.h"
#include "core/model/result_table.h"

namespace gpuprof::compare {

// Names of the analyses that rows_table() knows; `kernels` has a table of its own.
std::vector<std::string_view> comparable_analyses();

// Rows with the same key are the same; of several with one key, the first with the first. Per step, as everything else.
Result<ResultTable> rows_table(std::string_view analysis, const Run& base, const Run& next);

}  // namespace gpuprof::compare
