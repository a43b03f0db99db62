// `bench compare A B`: whether B is faster than A, for each benchmark. Method:
// docs/how-it-works/benchmarking-method.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/result_table.h"
#include "measure/bench_comparison.h"
#include "measure/bench_document.h"

namespace gpuprof::inline cli {

// A condition that fails a comparison: "slower", "slower>5%" (by more than 5 %), "cannot-tell".
struct FailCondition {
    measure::SpeedVerdict verdict = measure::SpeedVerdict::slower;
    double more_than = 0;  // share of the baseline time
};
Result<FailCondition> parse_fail_condition(const std::string& text);

struct BenchComparison {
    ResultTable table;
    std::vector<std::string> failed;  // one sentence per benchmark that meets a condition
};

// Fails if there is nothing to compare.
Result<BenchComparison> compare_results(const measure::BenchDocument& baseline, const measure::BenchDocument& candidate,
                                        double min_effect, const std::vector<FailCondition>& conditions);

}  // namespace gpuprof::cli
