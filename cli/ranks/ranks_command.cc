// `ranks`: the recordings of a distributed job, one or more files of each rank, as one answer: who holds the job up, and what it costs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/facts/facts.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/common_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/ranks/job_conditions.h"
#include "cli/ranks/job_of_files.h"
#include "cli/ranks/job_view.h"
#include "cli/ranks/reduce_command.h"
#include "cli/report/report_command.h"
#include "cli/view/page.h"
#include "cli/view/pair.h"
#include "cli/view/serve_view.h"
#include "cli/view/sql_pages.h"
#include "core/base/result.h"
#include "core/base/text/rank_list.h"
#include "core/base/text/shell_words.h"
#include "core/model/trace.h"
#include "core/schema/losses.h"
#include "core/schema/read_limits.h"
#include "io/exporters/capture_export.h"
#include "present/answer/analyses.h"
#include "present/report/report.h"

namespace gpuprof::inline cli {
namespace {

Result<RankList> chosen_ranks(const std::string& text) {
    std::optional<RankList> ranks = parse_ranks(text);
    if (!ranks || ranks->empty())
        return Error{ExitCode::usage, fmt::format("--timeline '{}' is not a list of ranks, as in 3,7 or 0-7", text)};
    if (ranks->size() > kMostTimelines)
        return Error{ExitCode::usage,
                     fmt::format("--timeline {} names {} ranks; the limit is {}", text, ranks->size(), kMostTimelines)};
    return std::move(*ranks);
}

constexpr std::string_view kReduce = "reduce", kView = "view";
constexpr std::int64_t kMaxRanks = 1 << 20;

// The analyses of a job.
std::vector<std::string_view> table_names() {
    std::vector<std::string_view> names;
    for (const Analysis* each : analyses())
        if (each->traits.of_job) names.push_back(each->name);
    return names;
}

struct RanksArguments {
    std::vector<std::string> words;  // recordings and analyses
    AnalysisRequest request;
    JobRequest job;
    std::vector<std::string> fail_on;
    std::string save, host, timeline;
    ServeChoice serve;
    std::int64_t rank = -1, memory = 0;
};

// --step-range that names nothing in any rank: each whole recording would count as one step, in silence.
Status check_step_range(const Trace& job, const std::string& name) {
    const LossTable& losses = job.tables().loss;
    std::size_t without = 0;
    for (Row row = 0; row < losses.rows; ++row)
        without += job.text(losses.kind.value_or(row, kNoString)) == spec_of(Loss::no_steps).name ? 1 : 0;
    if (name.empty() || without == 0 || without < job.tables().rank_step.rows) return {};
    return Error{ExitCode::usage,
                 fmt::format("--step-range '{}': no range or operator of these ranks has this name", name)};
}

// Reads the job, and saves it on request.
Result<ExitCode> read_and_save(const RanksArguments& arguments, const std::vector<std::string>& paths,
                               const std::string& name, std::optional<Trace>& job) {
    JobRequest asked = arguments.job;
    asked.name = name;
    asked.engine.memory = static_cast<std::uint64_t>(arguments.memory);
    const AnalysisRequest& request = arguments.request;
    Result<ExitCode> ended = read_job(paths, asked, request.options, request.limits, job);
    if (!ended.ok() || *ended != ExitCode::ok) return ended;
    if (Status known = check_step_range(*job, request.options.step_range); !known) return known.error();
    if (arguments.save.empty()) return ended;
    Progress progress;
    Status saved = write_output(
        arguments.save, [&](Sink& sink) { return write_capture(*job, sink, {}); }, FileAccess::owner);
    if (!saved) return saved.error();
    return ended;
}

// `ranks reduce FILE`, or the job of the process at the other end of the standard streams.
Result<ExitCode> reduce(RanksArguments& arguments) {
    const AnalysisRequest& request = arguments.request;
    bool converse = arguments.words.size() == 2 && arguments.words[1] == "-";
    if (converse && !arguments.save.empty()) {
        arguments.job.converse = true;
        std::optional<Trace> job;
        return read_and_save(arguments, {}, "job", job);
    }
    if (arguments.words.size() != 2 || request.output == "-")
        return Error{ExitCode::usage, "ranks reduce needs one FILE and --output SUMMARY"};
    RankFile file;
    file.path = arguments.words[1];
    file.host = arguments.host;
    if (arguments.rank >= 0) file.rank = static_cast<std::int32_t>(arguments.rank);
    return reduce_file(std::move(file), static_cast<std::uint64_t>(arguments.memory), request.options, request.limits,
                       request.output);
}

// The page of the job, or one timeline of some of its ranks, served until Ctrl-C.
Result<ExitCode> view(const RanksArguments& arguments) {
    if (Result<std::string_view> viewer = viewer_page(); !viewer.ok()) return viewer.error();
    std::vector<std::string> paths(arguments.words.begin() + 1, arguments.words.end()), names;
    if (paths.empty()) return Error{ExitCode::usage, "name the recordings, or a folder with one file of each rank"};
    for (const std::string& path : paths) names.push_back(base_name(path));
    std::optional<Trace> found;
    Result<ExitCode> ended = read_and_save(arguments, paths, shell_quoted_files(names), found);
    if (!ended.ok() || *ended != ExitCode::ok) return ended;
    const ReadLimits& limits = arguments.request.limits;
    std::optional<Trace> timeline;
    if (!arguments.timeline.empty()) {
        Result<RankList> ranks = chosen_ranks(arguments.timeline);
        if (!ranks.ok()) return ranks.error();
        Result<Trace> aligned = aligned_timeline(*found, *ranks, paths, limits);
        if (!aligned.ok()) return aligned.error();
        timeline = std::move(aligned).value();
    }
    auto content = [&](const StageReport& on_stage) -> Result<ViewContent> {
        if (!timeline) return job_content(std::move(*found), paths, limits, on_stage);
        PairChoice choice{.name = names.front(), .limits = limits, .on_stage = on_stage};
        Result<ViewPair> pair = view_pair(std::move(*timeline), choice);
        if (!pair.ok()) return pair.error();
        return ViewContent{.pair = std::move(pair).value(), .sql = make_sql_pages};
    };
    return serve_view(content, shell_quoted_files(paths), arguments.serve);
}

Result<ExitCode> run_ranks(RanksArguments arguments) {
    if (arguments.words.front() == kReduce) return reduce(arguments);
    if (arguments.words.front() == kView) return view(arguments);
    std::vector<std::string> paths;
    for (const std::string& word : arguments.words) {
        bool is_table = find_analysis(word) != nullptr;
        if (!is_table && !is_path(word) && !is_url(word))
            return Error{ExitCode::usage,
                         fmt::format("'{}' is neither an existing path nor a table; the tables of a job are {}", word,
                                     fmt::join(table_names(), ", "))};
        (is_table ? arguments.request.analyses : paths).push_back(word);
    }
    if (paths.empty()) return Error{ExitCode::usage, "name the recordings, or a folder with one file of each rank"};
    if (Status free = check_output(arguments.request.output, paths); !free) return free.error();
    Result<std::vector<JobCondition>> conditions = job_conditions_of(arguments.fail_on);
    if (!conditions.ok()) return conditions.error();
    std::optional<Trace> job;
    Result<ExitCode> ended = read_and_save(arguments, paths, shell_quoted_files(paths), job);
    if (!ended.ok() || *ended != ExitCode::ok) return ended;
    Progress progress;
    ExitCode judged = ExitCode::ok;
    Result<ExitCode> shown = report_trace(std::move(*job), arguments.request,
                                          [&](const Facts& facts) { judged = evaluate_all(*conditions, facts); });
    return shown.ok() && *shown == ExitCode::ok ? judged : shown;
}

std::function<Result<ExitCode>()> declare_ranks(CommandLine& line) {
    auto arguments = std::make_shared<RanksArguments>();
    line.option("PATH", arguments->words,
                "Folders with one file of each rank, or such files, and the tables to show; `ranks view PATH` shows "
                "the job in the browser, and `ranks reduce FILE -o SUMMARY` makes the summary of one file.")
        .required()
        .suggest(table_names())
        .value("");
    line.option("--format", arguments->request.format, "Output format: text, csv, json or md (default: text).")
        .suggest(names_of(report_formats()))
        .value("FORMAT");
    line.option("-o,--output", arguments->request.output, "Write to this file instead of standard output.")
        .value("FILE");
    line.flag("--verbose", arguments->request.verbose, "Show all of the first answer: every warning and row.");
    line.option("--save", arguments->save, "Also write the job's summaries to this capture, which every command reads.")
        .value("FILE");
    declare_job(line, arguments->job);
    line.option(
            "--fail-on", arguments->fail_on,
            "Exit with 1 if the job loses more than this: cost>PCT (one straggler), uneven>PCT (all of them), lost>N "
            "(ranks without a whole recording).")
        .one_value_per_use()
        .suggest(names_of(std::span(kJobMetrics)))
        .value("METRIC>PCT");
    line.option(
            "--memory", arguments->memory,
            "Memory limit of reading one file in bytes; a second try gets twice as much if that is free (default: 0, "
            "about 256 MB, with the rest in files).")
        .integer_range(0, std::int64_t{1} << 46)
        .value("BYTES");
    line.option("--rank", arguments->rank, "With reduce: the rank, if the file names none.")
        .integer_range(0, kMaxRanks)
        .value("N");
    line.option("--host", arguments->host, "With reduce: the host, if the file names none.").value("NAME");
    line.option("--port", arguments->serve.port, fmt::format("With view: {}", kPortDoc))
        .integer_range(0, 65535)
        .value("N");
    line.flag("!--no-open", arguments->serve.open_browser, fmt::format("With view: {}", kNoOpenDoc));
    line.option("--timeline", arguments->timeline,
                "With view: show the recordings of these ranks, at most 16, as one timeline on the job's common clock "
                "(3,7 or 0-7).")
        .value("RANKS");
    declare_options(line, arguments->request.options, {AnalysisOption::limit, AnalysisOption::step_range});
    declare_read_limits(line, arguments->request.limits);
    return [arguments] { return run_ranks(*arguments); };
}

}  // namespace

extern const Command kRanksCommand;
const Command kRanksCommand{"ranks", "Analyse recordings", "PATH... [TABLE...]",
                            "Show who holds a distributed job up, and what it costs.", declare_ranks};

}  // namespace gpuprof::cli
