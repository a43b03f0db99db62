// `history`: keeps summaries of recordings in a SQLite file, and compares a recording with earlier ones.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analyze/tables/option_checks.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/common_options.h"
#include "cli/conditions.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/report_output.h"
#include "compare/history.h"
#include "core/base/ownership.h"
#include "core/base/text/shell_words.h"
#include "io/importers/open_trace.h"
#include "present/report/report.h"

namespace gpuprof::inline cli {
namespace {

struct HistoryArguments {
    std::string action, file, label, machine;
    std::string database;
    std::size_t last = 10;
    bool new_label = false;
    std::vector<std::string> fail_on;
    std::string format = "text";
    std::string output = "-";
    Options options;
    ReadLimits limits;
};

constexpr const char* kUsualDatabase = "gpu-profile-history.sqlite";
constexpr std::string_view kHistoryActions[] = {"add", "list", "check"};

Result<compare::Run> read_run(const HistoryArguments& arguments) {
    if (arguments.file.empty() || arguments.label.empty())
        return Error{ExitCode::usage, fmt::format("history {} needs FILE and --label", arguments.action)};
    Progress progress;
    Result<Trace> trace = open_trace(arguments.file, arguments.limits);
    if (!trace.ok()) return trace.error();
    if (Status known = check_names(*trace, arguments.options); !known) return known.error();
    compare::Run run = compare::run_of(std::move(trace).value(), arguments.options);
    compare::Values values = compare::values_of(run);
    if (std::none_of(values.begin(), values.end(), [](const auto& value) { return value && *value != 0; }))
        return Error{ExitCode::empty, fmt::format("{} has no timeline, so there is nothing to keep or compare; record "
                                                  "one with gpu-profile record",
                                                  arguments.file)};
    return run;
}

Status write(const HistoryArguments& arguments, Report report) {
    report.version = program_version();
    return write_report(*find_report_format(arguments.format), report, arguments.output, arguments.options.limit);
}

// The runs with the label; an error if runs are kept, but none with this label. An empty history begins with any.
Result<std::vector<compare::HistoryRun>> runs_of_label(const compare::History& history,
                                                       const HistoryArguments& arguments) {
    Result<std::vector<compare::HistoryRun>> runs = history.runs(arguments.label);
    if (!runs.ok() || !runs->empty() || arguments.label.empty() || arguments.new_label) return runs;
    Result<std::vector<compare::HistoryRun>> all = history.runs("");
    if (!all.ok()) return all;
    std::vector<std::string_view> labels;
    for (const compare::HistoryRun& each : *all)
        if (std::find(labels.begin(), labels.end(), each.key.label) == labels.end()) labels.push_back(each.key.label);
    if (labels.empty()) return runs;
    return unknown_choice("label", arguments.label, labels);
}

Result<ExitCode> add(const HistoryArguments& arguments) {
    Result<compare::Run> run = read_run(arguments);
    if (!run.ok()) return run.error();
    UnfinishedFile part;
    Result<compare::History> history =
        compare::History::open_to_add(arguments.database, [&part](const std::string& path) { part.set(path); });
    if (!history.ok()) return history.error();
    compare::HistoryRun entry;
    entry.key = compare::key_of(*run, arguments.label, arguments.machine);
    entry.file = arguments.file;
    entry.values = compare::values_of(*run);
    Result<std::int64_t> id = history->add(entry);
    if (!id.ok()) return id.error();
    Status printed = print(
        fmt::format("added run {} of '{}' on {} to {}\n", *id, arguments.label, entry.key.machine, arguments.database));
    return printed.ok() ? Result<ExitCode>(ExitCode::ok) : printed.error();
}

Result<ExitCode> list(const HistoryArguments& arguments) {
    Result<compare::History> history = compare::History::open_to_read(arguments.database);
    if (!history.ok()) return history.error();
    Result<std::vector<compare::HistoryRun>> runs = runs_of_label(*history, arguments);
    if (!runs.ok()) return runs.error();
    std::vector<ResultTable> tables;
    tables.push_back(compare::history_table(*runs));
    Report report{.version = {}, .origin = {}, .window = {}, .trust = {}, .tables = tables};
    report.origin.file = shell_quoted_file(arguments.database);
    Status written = write(arguments, report);
    return written.ok() ? Result<ExitCode>(ExitCode::ok) : written.error();
}

Result<ExitCode> check(const HistoryArguments& arguments, const std::vector<compare::Condition>& conditions) {
    Result<compare::Run> run = read_run(arguments);
    if (!run.ok()) return run.error();
    Result<compare::History> history = compare::History::open_to_read(arguments.database);
    if (!history.ok()) return history.error();
    Result<std::vector<compare::HistoryRun>> all = runs_of_label(*history, arguments);
    if (!all.ok()) return all.error();
    compare::HistoryKey key = compare::key_of(*run, arguments.label, arguments.machine);
    std::vector<compare::HistoryRun> before = compare::comparable(*all, key, arguments.last);
    std::vector<compare::Values> values;
    for (const compare::HistoryRun& each : before) values.push_back(each.values);
    compare::Changes changes = compare::changes_of(values, compare::values_of(*run));
    compare::Metric deciding = compare::deciding_metric(changes);
    std::vector<std::string> lead =
        compare::headline(changes, deciding, changes[static_cast<std::size_t>(deciding)].word);
    std::string basis = fmt::format("label {}, machine {}, {}, {}; {} run{} with this label in total", key.label,
                                    key.machine, key.hardware.empty() ? "unknown hardware" : key.hardware, key.tool,
                                    all->size(), all->size() == 1 ? "" : "s");
    if (before.empty())
        lead[1] = "no earlier run is comparable: " + basis;
    else
        lead.push_back(
            fmt::format("{} comparable earlier run{}: {}", before.size(), before.size() == 1 ? "" : "s", basis));
    std::vector<ResultTable> tables;
    tables.push_back(compare::metrics_table(changes));
    Answer answer;
    answer.verdict.name = compare::name_of_speed(changes[static_cast<std::size_t>(deciding)].word);
    answer.verdict.metric = compare::kMetrics[static_cast<std::size_t>(deciding)].name;
    answer.verdict.because = lead[1];
    Status written = write(arguments, {.version = {},
                                       .origin = run->trace->origin(),
                                       .window = run->trace->window(),
                                       .zero = run->trace->zero(),
                                       .trust = {},
                                       .answer = &answer,
                                       .lead = lead,
                                       .tables = tables});
    if (!written.ok()) return written.error();
    return evaluate_all(conditions, changes, before.empty() ? lead[1] : "");
}

Result<ExitCode> run_history(const HistoryArguments& arguments) {
    if (find_report_format(arguments.format) == nullptr)
        return unknown_choice("format", arguments.format, names_of(report_formats()));
    Result<std::vector<compare::Condition>> conditions = conditions_of(arguments.fail_on);
    if (!conditions.ok()) return conditions.error();
    std::vector<std::string> inputs = {arguments.file, arguments.database};
    if (Status free = check_output(arguments.output, inputs); !free.ok()) return free.error();
    if (arguments.action == "add")
        if (Status free = check_output(arguments.database, std::span(inputs).first(1)); !free.ok()) return free.error();
    if (arguments.action == "add") return add(arguments);
    if (arguments.action == "list") return list(arguments);
    if (arguments.action == "check") return check(arguments, *conditions);
    return unknown_choice("action", arguments.action, {std::begin(kHistoryActions), std::end(kHistoryActions)});
}

std::function<Result<ExitCode>()> declare_history(CommandLine& line) {
    auto arguments = std::make_shared<HistoryArguments>();
    line.option("ACTION", arguments->action,
                "What to do: add a recording, list the runs, or check a recording against earlier ones.")
        .required()
        .suggest(kHistoryActions)
        .value("");
    line.option("FILE", arguments->file, "Recording to add or to check.").value("");
    line.option("--label", arguments->label, "Name of what is measured; only runs with the same label are compared.")
        .value("L");
    line.option("--db", arguments->database, "History database (default: gpu-profile-history.sqlite).").value("PATH");
    line.option("--machine", arguments->machine,
                "Machine name to use instead of the host name, if that changes between runs.")
        .value("NAME");
    line.option("--last", arguments->last, "check: number of most recent runs to compare with (default: 10).")
        .integer_range(1, 1'000'000)
        .value("N");
    line.flag("--new-label", arguments->new_label, "check: Accept a label without runs, as of the first run.");
    declare_conditions(line, arguments->fail_on);
    line.option("--format", arguments->format, "list and check: output format: text, csv, json or md (default: text).")
        .suggest(names_of(report_formats()))
        .value("FORMAT");
    line.option("-o,--output", arguments->output, "Write to this file instead of standard output.").value("FILE");
    declare_options(line, arguments->options,
                    {AnalysisOption::limit, AnalysisOption::device, AnalysisOption::step_range});
    declare_read_limits(line, arguments->limits);
    return [arguments]() -> Result<ExitCode> {
        if (!arguments->database.empty()) return run_history(*arguments);
        arguments->database = kUsualDatabase;
        Status usual = check_usual_place(arguments->database, "--db");
        return usual.ok() ? run_history(*arguments) : usual.error();
    };
}

}  // namespace

extern const Command kHistoryCommand;
const Command kHistoryCommand{"history", "Analyse recordings", "add|list|check [FILE] [--label L]",
                              "Keep summaries of runs, and check a new run against them.", declare_history};

}  // namespace gpuprof::cli
