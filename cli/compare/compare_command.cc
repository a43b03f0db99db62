// `compare`: reads two recordings and reports what changed. Checks run in the order in which their errors matter to
// users, as in report.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/tables/option_checks.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/common_options.h"
#include "cli/compare/compare_report.h"
#include "cli/conditions.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report_output.h"
#include "compare/comparison.h"
#include "core/base/parallel.h"
#include "io/importers/open_trace.h"
#include "present/report/report.h"

namespace gpuprof::inline cli {
namespace {

struct CompareArguments {
    std::string base, next;
    std::vector<std::string> analyses, base_repeats, new_repeats, fail_on;
    std::string format = "text";
    std::string output = "-";
    Options options;
    ReadLimits limits;
};

// The requested format and tables, all of them valid.
struct Plan {
    const ReportFormat* format = nullptr;
    std::vector<std::string> tables;
    std::vector<compare::Condition> conditions;
};

Result<Plan> plan_of(const CompareArguments& arguments) {
    Plan plan{.format = find_report_format(arguments.format), .tables = arguments.analyses, .conditions = {}};
    if (plan.format == nullptr) return unknown_choice("format", arguments.format, names_of(report_formats()));
    std::vector<std::string_view> known = comparison_tables();
    for (const std::string& name : plan.tables)
        if (std::find(known.begin(), known.end(), name) == known.end()) return unknown_choice("analysis", name, known);
    if (plan.format->one_table && plan.tables.size() != 1)
        return Error{
            ExitCode::usage,
            fmt::format("{0} output holds one table; name one, as in gpu-profile compare BASE NEW kernels --format {0}",
                        plan.format->name)};
    if (plan.tables.empty()) plan.tables = {"metrics", "attribution"};
    Result<std::vector<compare::Condition>> conditions = conditions_of(arguments.fail_on);
    if (!conditions.ok()) return conditions.error();
    plan.conditions = std::move(conditions).value();
    return plan;
}

// In parallel, because reading one recording is partly single-threaded. If one is standard input, one after the other.
Result<std::array<compare::Run, 2>> read_both(const CompareArguments& arguments) {
    std::array<const std::string*, 2> files = {&arguments.base, &arguments.next};
    bool from_input = arguments.base == "-" || arguments.next == "-";
    std::array<std::optional<Result<Trace>>, 2> traces;
    run_parallel(traces.size(), from_input ? 1 : 2,
                 [&](std::size_t side, unsigned) { traces[side] = open_trace(*files[side], arguments.limits); });
    for (std::size_t side = 0; side < traces.size(); ++side) {
        const Result<Trace>& trace = *traces[side];
        if (!trace.ok()) return trace.error();
        if (Status known = check_names(*trace, arguments.options); !known)
            return Error{known.error().code, fmt::format("{}: {}", *files[side], known.error().message)};
        // Counters of kernels have no times to compare. Everything else that is recorded has, or is empty.
        if (trace->tables().profiled_kernel.rows > 0 && trace->kernel().rows == 0 && trace->window().length() == 0)
            return Error{ExitCode::empty,
                         fmt::format("{} has counters of kernels, but no timeline to compare; gpu-profile "
                                     "report shows it",
                                     *files[side])};
    }
    return compare::runs_by_same_steps(std::move(*traces[0]).value(), std::move(*traces[1]).value(), arguments.options);
}

// Each recording is read, measured and released, so that memory does not limit their number.
Result<std::vector<compare::Values>> read_repeats(const std::vector<std::string>& files,
                                                  const CompareArguments& arguments, StepMethod method) {
    std::vector<compare::Values> repeats;
    for (const std::string& file : files) {
        Result<Trace> trace = open_trace(file, arguments.limits);
        if (!trace.ok()) return trace.error();
        repeats.push_back(compare::values_of(compare::run_of(std::move(trace).value(), arguments.options, method)));
    }
    return repeats;
}

Status write(const Plan& plan, const CompareArguments& arguments, const compare::Comparison& found,
             const compare::Run& base, const compare::Run& next) {
    Result<ComparisonReport> report = ComparisonReport::make(plan.tables, found, base, next);
    if (!report.ok()) return report.error();
    return write_report(*plan.format, report->report(), arguments.output, arguments.options.limit);
}

Result<ExitCode> run_compare(const CompareArguments& arguments) {
    Result<Plan> plan = plan_of(arguments);
    if (!plan.ok()) return plan.error();
    std::vector<std::string> inputs = {arguments.base, arguments.next};
    for (const std::vector<std::string>* repeats : {&arguments.base_repeats, &arguments.new_repeats})
        inputs.insert(inputs.end(), repeats->begin(), repeats->end());
    if (Status free = check_output(arguments.output, inputs); !free) return free.error();
    Progress progress;
    Result<std::array<compare::Run, 2>> runs = read_both(arguments);
    if (!runs.ok()) return runs.error();
    const auto& [base, next] = *runs;
    StepMethod method = base.steps.method;
    Result<std::vector<compare::Values>> base_repeats = read_repeats(arguments.base_repeats, arguments, method);
    if (!base_repeats.ok()) return base_repeats.error();
    Result<std::vector<compare::Values>> new_repeats = read_repeats(arguments.new_repeats, arguments, method);
    if (!new_repeats.ok()) return new_repeats.error();
    compare::Comparison found = compare::compare_runs(base, next, *base_repeats, *new_repeats);
    if (Status written = write(*plan, arguments, found, base, next); !written.ok()) return written.error();
    return evaluate_all(plan->conditions, found.changes, found.not_comparable());
}

std::function<Result<ExitCode>()> declare_compare(CommandLine& line) {
    auto arguments = std::make_shared<CompareArguments>();
    line.option("BASE", arguments->base, "Recording of the program before the change.").required().value("");
    line.option("NEW", arguments->next, "Recording of the program after the change.").required().value("");
    line.option("ANALYSIS", arguments->analyses, "Tables to show (default: metrics and attribution).")
        .suggest(comparison_tables())
        .value("");
    line.option("--repeat-base", arguments->base_repeats,
                "Further recordings of the same state as BASE, to measure noise.")
        .value("FILE...");
    line.option("--repeat-new", arguments->new_repeats,
                "Further recordings of the same state as NEW, to measure noise.")
        .value("FILE...");
    declare_conditions(line, arguments->fail_on);
    line.option("--format", arguments->format, "Output format: text, csv, json or md (default: text).")
        .suggest(names_of(report_formats()))
        .value("FORMAT");
    line.option("-o,--output", arguments->output, "Write to this file instead of standard output.").value("FILE");
    declare_options(line, arguments->options,
                    {AnalysisOption::limit, AnalysisOption::device, AnalysisOption::step_range});
    declare_read_limits(line, arguments->limits);
    line.footer("Analyses: " + joined(comparison_tables()));
    return [arguments] { return run_compare(*arguments); };
}

}  // namespace

extern const Command kCompareCommand;
const Command kCompareCommand{"compare", "Analyse recordings", "BASE NEW [ANALYSIS...]",
                              "Compare two recordings: faster or slower beyond the noise, and why.", declare_compare};

}  // namespace gpuprof::cli
