#include "cli/view/pair.h"

#include <fmt/format.h>

#include "cli/compare/compare_report.h"
#include "cli/output.h"
#include "cli/program.h"
#include "core/base/text/shell_words.h"
#include "io/importers/open_trace.h"

namespace gpuprof::inline cli {
Result<Trace> open_for_page(const std::vector<std::string>& files, const ReadLimits& limits) {
    Result<Trace> trace = open_trace(files, limits, Naming::base_names);
    if (trace.ok()) return trace;
    Error error = trace.error();
    for (const std::string& file : files)
        if (std::string name = base_name(file); error.message.starts_with(name + ":")) {
            error.message.replace(0, name.size(), file);
            break;
        }
    return error;
}

namespace {

// Every row: tables of a comparison have a row for each name, cause or step, not for each event.
Result<std::string> comparison_json(const compare::Run& base, const compare::Run& next) {
    compare::Comparison found = compare::compare_runs(base, next, {}, {});
    std::vector<std::string> names;
    for (std::string_view name : comparison_tables()) names.emplace_back(name);
    Result<ComparisonReport> report = ComparisonReport::make(names, found, base, next);
    if (!report.ok()) return report.error();
    StringSink sink;
    write_json(report->report(), {.limit = 0}, sink);
    return sink.text();
}

std::array<compare::Run, 2> runs_of_copies(const Trace& base, const Trace& next) {
    Options options;
    options.limit = 0;
    return compare::runs_by_same_steps(copy_of(base), copy_of(next), options);
}

Trace shown_trace(Trace trace, const PairChoice& choice) {
    return choice.hidden ? without_folders(std::move(trace), *choice.hidden) : std::move(trace);
}

Result<ViewPair::Base> compared_with(const PairChoice& choice, const Trace& next, const Options& options) {
    Result<Trace> trace = open_for_page({choice.base}, choice.limits);
    if (!trace.ok()) return trace.error();
    trace = shown_trace(std::move(trace).value(), choice);
    std::array<compare::Run, 2> runs = runs_of_copies(*trace, next);
    Result<std::string> comparison = comparison_json(runs[0], runs[1]);
    if (!comparison.ok()) return comparison.error();
    Result<ViewDocument> document = ViewDocument::make(std::move(trace).value(), program_version(), options);
    if (!document.ok()) return document.error();
    return ViewPair::Base{std::move(document).value(), std::move(comparison).value()};
}

}  // namespace

Result<ViewPair> view_pair(Trace trace, const PairChoice& choice, std::optional<Trace> timeline) {
    Options options;
    options.sources = choice.sources;
    note_damage(trace);
    trace = shown_trace(std::move(trace), choice);
    std::optional<Result<ViewPair::Base>> before;
    if (!choice.base.empty()) before.emplace(compared_with(choice, trace, options));
    if (before && !before->ok()) return before->error();
    StageReport on_stage = choice.on_stage;
    if (before && on_stage)  // a comparison is shown with both
        on_stage = [&](const ViewProgress& now) { choice.on_stage({now.stage, now.known}); };
    Result<ViewDocument> document =
        ViewDocument::make(std::move(trace), program_version(), options, choice.detail, on_stage, std::move(timeline));
    if (!document.ok()) return document.error();
    if (!before) return ViewPair{std::move(document).value(), std::nullopt};
    if (!document->timed() || !before->value().document.timed())
        return Error{
            ExitCode::empty,
            fmt::format("cannot compare {} with {}: the former has no timeline; view each file alone",
                        document->timed() ? choice.base : choice.name, document->timed() ? choice.name : choice.base)};
    return ViewPair{std::move(document).value(), std::move(*before).value()};
}

}  // namespace gpuprof::cli
