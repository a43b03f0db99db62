// `report`: reads a recording and shows analyses of it. The order of work is the order of possible complaints: first
// everything that can be wrong with the command line, then the file, then the output.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "core/analyze/analysis.h"
#include "core/importers/importer.h"
#include "core/report/report.h"

namespace gpuprof {
namespace {

struct Arguments {
    std::string file;
    std::vector<std::string> analyses;
    std::string format = "text";
    std::string output = "-";
    Options options;
};

// What the arguments name, all of it existing.
struct Plan {
    const ReportFormat* format = nullptr;
    std::vector<const Analysis*> analyses;
};

std::vector<std::string_view> analysis_names() {
    std::vector<std::string_view> names;
    for (const Analysis* analysis : analyses()) names.push_back(analysis->name);
    return names;
}

Error unknown_analysis(std::string_view name) {
    std::vector<std::string_view> names = analysis_names();
    std::string hint = did_you_mean(name, names);
    if (hint.empty()) hint = fmt::format("; there are: {}", joined(names));
    return {ExitCode::usage, fmt::format("there is no analysis {}{}", name, hint)};
}

Error unknown_format(std::string_view name) {
    std::vector<std::string_view> names;
    for (const ReportFormat& format : report_formats()) names.push_back(format.name);
    return {ExitCode::usage, fmt::format("there is no format {}; there are: {}", name, joined(names))};
}

Result<Plan> plan_of(const Arguments& arguments) {
    Plan plan;
    plan.format = find_report_format(arguments.format);
    if (plan.format == nullptr) return unknown_format(arguments.format);
    for (const std::string& name : arguments.analyses) {
        plan.analyses.push_back(find_analysis(name));
        if (plan.analyses.back() == nullptr) return unknown_analysis(name);
    }
    if (plan.format->one_table && plan.analyses.size() != 1)
        return Error{
            ExitCode::usage,
            fmt::format("{} holds one table: name one analysis, e.g. gpu-profile report FILE kernels --format {}",
                        plan.format->name, plan.format->name)};
    return plan;
}

// A format without a place for it says on standard error that rows are missing.
void note_left_off(const Plan& plan, const Report& report, std::int64_t limit) {
    if (!plan.format->one_table) return;
    for (const ResultTable& table : report.tables)
        if (std::size_t shown = shown_rows(table, limit); shown < table.rows())
            note(fmt::format("{} of {} rows of {} written; --limit 0 writes all", shown, table.rows(), table.name()));
}

Result<ExitCode> run(const Arguments& arguments) {
    Result<Plan> plan = plan_of(arguments);
    if (!plan.ok()) return plan.error();
    Result<Trace> trace = open_trace(arguments.file);
    if (!trace.ok()) return trace.error();

    Study study(*trace, arguments.options);
    std::vector<ResultTable> tables;
    for (const Analysis* analysis : plan->analyses) {
        Result<ResultTable> table = analysis->run(study);
        if (!table.ok()) return table.error();
        tables.push_back(std::move(table).value());
    }
    Report report{.version = program_version(),
                  .origin = trace->origin(),
                  .window = trace->window(),
                  .trust = {},
                  .tables = tables};

    Result<Output> output = Output::open(arguments.output);
    if (!output.ok()) return output.error();
    Style style = style_for(arguments.output);
    style.limit = arguments.options.limit;
    plan->format->write(report, style, *output);
    note_left_off(*plan, report, style.limit);
    if (Status closed = output->close(); !closed.ok()) return closed.error();
    return ExitCode::ok;
}

std::function<Result<ExitCode>()> declare(CLI::App& app) {
    auto arguments = std::make_shared<Arguments>();
    app.add_option("FILE", arguments->file, "A recording of any supported tool; - is standard input.")
        ->required()
        ->type_name("");
    app.add_option("ANALYSIS", arguments->analyses,
                   "What to show; none is the first answer. `gpu-profile schema` lists them.")
        ->type_name("");
    app.add_option("--format", arguments->format, "text, csv, json or md.")->type_name("FORMAT");
    app.add_option("-o,--output", arguments->output, "Write to this file instead of standard output.")
        ->type_name("FILE");
    declare_options(app, arguments->options);
    return [arguments] { return run(*arguments); };
}

}  // namespace

extern const Command kReportCommand;
const Command kReportCommand{"report", "Read a recording", "FILE [ANALYSIS...] [OPTION...]",
                             "Where the time went; with no analysis named, the first answer.", declare};

}  // namespace gpuprof
