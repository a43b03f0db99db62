// `bench compare A B`: whether B is faster than A, for each benchmark. Method:
// docs/how-it-works/benchmarking-method.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/result_table.h"
#include "measure/bench_comparison.h"
#include "measure/bench_document.h"

namespace gpuprof::inline cli {

// Energy per call or run of two benchmarks, and what the change is worth: of one call of a function, or one run of a program on all its devices.
struct BenchEnergy {
    double joules = 0, off = 0;  // plus or minus
};

// Absent if it was not measured, or not on every device.
std::optional<BenchEnergy> energy_of(const measure::Benchmark& benchmark);

struct EnergyChange {
    double pct = 0;
    std::optional<double> low_pct, high_pct;  // by the uncertainty of both; absent if that exceeds the baseline
    // Whether the uncertainty leaves the sign open.
    bool is_open() const { return !low_pct || (*low_pct <= 0 && *high_pct >= 0); }
};

// `baseline` is more than 0.
EnergyChange change_of(const BenchEnergy& baseline, const BenchEnergy& candidate);

// "12.1 J instead of 15.3 J per call (-21.0 %, -24.1 to -17.8 %)".
std::string to_text(const BenchEnergy& baseline, const BenchEnergy& candidate, std::string_view per);

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
