#include "cli/compare/compare_report.h"

#include "cli/program.h"
#include "compare/comparison_rows.h"
#include "compare/kernel_changes.h"

namespace gpuprof::inline cli {
namespace {

Result<ResultTable> table_of(std::string_view name, const compare::Comparison& found, const compare::Run& base,
                             const compare::Run& next) {
    if (name == "metrics") return compare::metrics_table(found.changes);
    if (name == "attribution") return compare::attribution_table(found.attribution);
    if (name == "kernels")
        return compare::kernels_table(base, found.base_kernels, next, found.new_kernels, found.pairs);
    if (name == "steps") return compare::steps_table(base, next);
    return compare::rows_table(name, base, next);
}

}  // namespace

std::vector<std::string_view> comparison_tables() {
    std::vector<std::string_view> names = {"metrics", "attribution", "kernels", "steps"};
    for (std::string_view name : compare::comparable_analyses()) names.push_back(name);
    return names;
}

Result<ComparisonReport> ComparisonReport::make(const std::vector<std::string>& names, const compare::Comparison& found,
                                                const compare::Run& base, const compare::Run& next) {
    ComparisonReport made(base, next);
    made.trust_.statements = found.comparability.statements;
    made.lead_ = compare::headline(found);
    made.answer_.verdict.name = compare::name_of_speed(found.word());
    made.answer_.verdict.metric = compare::kMetrics[static_cast<std::size_t>(found.deciding)].name;
    made.answer_.verdict.because = made.lead_[1];
    for (const std::string& name : names) {
        Result<ResultTable> table = table_of(name, found, base, next);
        if (!table.ok()) return table.error();
        made.tables_.push_back(std::move(table).value());
    }
    return made;
}

Report ComparisonReport::report() const {
    return {.version = program_version(),
            .origin = next_->trace->origin(),
            .window = next_->span,
            .zero = next_->trace->zero(),
            .base = &base_->trace->origin(),
            .base_window = base_->span,
            .base_zero = base_->trace->zero(),
            .trust = trust_,
            .answer = &answer_,
            .lead = lead_,
            .tables = tables_};
}

}  // namespace gpuprof::cli
