// `bench compare A B`: is B faster than A, benchmark by benchmark, by the method of docs/how-it-works/benchmarking-method.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/result_table.h"
#include "measure/bench_document.h"
#include "measure/comparison.h"

namespace gpuprof {

// When a comparison counts as failed: "slower", "slower>5%" (by more than that), "cannot-tell".
struct FailCondition {
    measure::SpeedVerdict verdict = measure::SpeedVerdict::slower;
    double more_than = 0;  // share of the baseline's time
};
Result<FailCondition> parse_fail_condition(const std::string& text);

struct BenchComparison {
    ResultTable table;
    std::vector<std::string> failed;  // a sentence for each benchmark that meets a condition
};

// The error says that there is nothing to compare.
Result<BenchComparison> compare_results(const measure::BenchDocument& baseline, const measure::BenchDocument& candidate,
                                        double min_effect, const std::vector<FailCondition>& conditions);

}  // namespace gpuprof
