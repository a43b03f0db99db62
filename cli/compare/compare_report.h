// The report of a comparison, for the command `compare` and for the viewer when it shows two recordings.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "core/base/result.h"
#include "present/report/report.h"

namespace gpuprof::inline cli {

// Names of the tables of a comparison, in listing order.
std::vector<std::string_view> comparison_tables();

class ComparisonReport {
public:
    // `names`: from comparison_tables(). Both runs outlive this.
    static Result<ComparisonReport> make(const std::vector<std::string>& names, const compare::Comparison& found,
                                         const compare::Run& base, const compare::Run& next);
    // Refers to members of this object.
    Report report() const;

private:
    ComparisonReport(const compare::Run& base, const compare::Run& next) : base_(&base), next_(&next) {}
    const compare::Run *base_, *next_;
    Trust trust_;
    Answer answer_;
    std::vector<std::string> lead_;
    std::vector<ResultTable> tables_;
};

}  // namespace gpuprof::cli
