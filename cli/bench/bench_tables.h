// A result of `bench` as tables, for every format that shows tables.
#pragma once

#include <vector>

#include "core/model/result_table.h"
#include "measure/bench_document.h"

namespace gpuprof::inline cli {

// The first table is the one that CSV holds: functions if there are any, else programs.
std::vector<ResultTable> bench_tables(const measure::BenchDocument& document);

}  // namespace gpuprof::cli
