// `whatif`: predicts the step time of a recording with something changed. The work is that of the analysis of this name; this
// command gives it changes as options of their own.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "analyze/replay/changes.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/common_options.h"
#include "cli/report/report_command.h"
#include "present/report/report.h"

namespace gpuprof::inline cli {
namespace {

std::function<Result<ExitCode>()> declare_whatif(CommandLine& line) {
    auto request = std::make_shared<AnalysisRequest>();
    auto changes = std::make_shared<std::vector<std::string>>();
    line.option("FILE", request->file, kRecordingDoc).required().value("");
    line.option("--change", *changes,
                fmt::format(
                    "What to change: {}, k-N=FACTOR or kernel:REGEX=FACTOR; may be repeated (default: each of them).",
                    fmt::join(usual_change_names(), ", ")))
        .append_each_use()
        .suggest(usual_change_names())
        .suggest_kernels()
        .value("CHANGE");
    line.option("--format", request->format, "Output format: text, csv, json or md (default: text).")
        .suggest(names_of(report_formats()))
        .value("FORMAT");
    line.option("-o,--output", request->output, "Write to this file instead of standard output.").value("FILE");
    declare_options(
        line, request->options,
        {AnalysisOption::limit, AnalysisOption::device, AnalysisOption::step_range, AnalysisOption::input_range});
    line.remove("--changes");
    line.refused("--changes", "use --change, once for each");
    declare_read_limits(line, request->limits);
    return [request, changes] {
        for (const std::string& change : *changes) request->options.changes += change + ";";
        request->analyses = {"whatif"};
        return report_analyses(*request);
    };
}

}  // namespace

extern const Command kWhatIfCommand;
const Command kWhatIfCommand{"whatif", "Analyse recordings", "FILE [OPTIONS]",
                             "Predict the step time with something changed.", declare_whatif};

}  // namespace gpuprof::cli
