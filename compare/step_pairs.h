// The steps of two recordings, pair by pair: by name if no name repeats on a side and both share some, otherwise in
// order.
#pragma once

#include "compare/compared_run.h"
#include "core/base/result.h"
#include "core/model/result_table.h"

namespace gpuprof::compare {

Result<ResultTable> steps_table(const Run& base, const Run& next);

}  // namespace gpuprof::compare
