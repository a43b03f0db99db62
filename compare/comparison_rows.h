// Compares any analysis whose rows have a name and a time: operators, ranges, devices, copies, calls, causes; and
// steps.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compare/compared_run.h"
#include "core/base/result.h"
#include "core/model/result_table.h"

namespace gpuprof::compare {

// Names of the analyses that rows_table() supports; `kernels` and `steps` have separate tables.
std::vector<std::string_view> comparable_analyses();

// Rows with the same key are paired; if a key repeats, in order of occurrence. Per step, like everything else.
Result<ResultTable> rows_table(std::string_view analysis, const Run& base, const Run& next);

// The steps of two recordings, pair by pair: by name if no name repeats on a side and both share some, otherwise in
// order.
Result<ResultTable> steps_table(const Run& base, const Run& next);

}  // namespace gpuprof::compare
