// `ranks`: the recordings of a distributed job, one or more files of each rank, as one answer: who holds the job up, and what it costs.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/ranks/job_conditions.h"
#include "cli/ranks/rank_files.h"
#include "cli/ranks/read_job.h"
#include "cli/ranks/reduce.h"
#include "cli/report/report.h"
#include "core/analyze/tables/analysis.h"
#include "core/base/shell_words.h"
#include "core/base/temporary_file.h"
#include "core/exporters/capture.h"
#include "core/report/report.h"

namespace gpuprof {
namespace {

constexpr std::string_view kReduce = "reduce";
constexpr std::string_view kTables[] = {"ranks", "stragglers", "job_steps", "rank_collectives", "hosts"};
constexpr std::int64_t kMaxRanks = 1 << 20;

struct Arguments {
    std::vector<std::string> words;  // recordings and analyses
    AnalysisRequest request;
    JobRequest job;
    std::vector<std::string> fail_on;
    std::string save, host;
    std::int64_t rank = -1, memory = 0;
};

// What an engine starts for each file.
Result<ExitCode> reduce(const Arguments& arguments) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // the summary would be of no use
    if (arguments.words.size() != 2 || arguments.request.output == "-")
        return Error{ExitCode::usage, "ranks reduce needs one FILE and --output SUMMARY"};
    if (arguments.memory > 0) {
        auto most = static_cast<rlim_t>(arguments.memory);
        rlimit limit{most, most};
        setrlimit(RLIMIT_AS, &limit);
    }
    RankFile file;
    file.path = arguments.words[1];
    std::error_code unknown;
    std::uintmax_t bytes = std::filesystem::file_size(file.path, unknown);
    file.bytes = unknown ? 0 : bytes;
    if (arguments.rank >= 0)
        file.rank = static_cast<std::int32_t>(arguments.rank);
    else
        file.rank = rank_in_name(std::filesystem::path(file.path).filename().string());
    file.host = arguments.host;
    if (!file.host.empty()) file.host_from = "option";
    if (Status made = reduce_file(file, arguments.request.options, arguments.request.limits, arguments.request.output);
        !made)
        return made.error();
    return ExitCode::ok;
}

Result<ExitCode> run(Arguments arguments) {
    if (arguments.words.front() == kReduce) return reduce(arguments);
    std::vector<std::string> paths;
    for (const std::string& word : arguments.words) {
        bool is_table = find_analysis(word) != nullptr;
        if (!is_table && !is_path(word) && !is_url(word))
            return Error{ExitCode::usage,
                         fmt::format("'{}' is neither an existing path nor a table; the tables of a job are {}", word,
                                     fmt::join(kTables, ", "))};
        (is_table ? arguments.request.analyses : paths).push_back(word);
    }
    if (paths.empty()) return Error{ExitCode::usage, "name the recordings, or a folder with one file of each rank"};
    if (Status free = check_output(arguments.request.output, paths); !free) return free.error();
    Result<std::vector<JobCondition>> conditions = job_conditions_of(arguments.fail_on);
    if (!conditions.ok()) return conditions.error();
    arguments.job.engine.memory = static_cast<std::uint64_t>(arguments.memory);
    std::optional<Trace> job;
    const AnalysisRequest& request = arguments.request;
    Result<ExitCode> read = read_job(paths, arguments.job, request.options, request.limits, job);
    if (!read.ok() || *read != ExitCode::ok) return read;
    Progress progress;
    if (!arguments.save.empty())
        if (Status saved = write_output(arguments.save, [&](Sink& sink) { return write_capture(*job, sink, {}); });
            !saved)
            return saved.error();
    ExitCode judged = ExitCode::ok;
    Result<ExitCode> shown =
        report_trace(std::move(*job), request, [&](const Facts& facts) { judged = evaluate_all(*conditions, facts); });
    return shown.ok() && *shown == ExitCode::ok ? judged : shown;
}

std::function<Result<ExitCode>()> declare(CommandLine& line) {
    auto arguments = std::make_shared<Arguments>();
    line.option("PATH", arguments->words,
                "Folders with one file of each rank, or such files, and the tables to show; `ranks reduce FILE -o "
                "SUMMARY` makes the summary of one file.")
        .required()
        .value("");
    line.option("--format", arguments->request.format, "Output format: text, csv, json or md (default: text).")
        .value("FORMAT");
    line.option("-o,--output", arguments->request.output, "Write to this file instead of standard output.")
        .value("FILE");
    line.option("--save", arguments->save, "Also write the job's summaries to this capture, which every command reads.")
        .value("FILE");
    declare_job(line, arguments->job);
    line.option(
            "--fail-on", arguments->fail_on,
            "Exit with 1 if the job loses more than this: cost>PCT (one straggler), uneven>PCT (all of them), lost>N "
            "(ranks without a whole recording).")
        .one_value_per_use()
        .value("METRIC>PCT");
    line.option(
            "--memory", arguments->memory,
            "Memory limit of reading one file in bytes; a second try gets twice as much if that is free (default: 0, "
            "none).")
        .integer_range(0, std::int64_t{1} << 46)
        .value("BYTES");
    line.option("--rank", arguments->rank, "With reduce: the rank, if the file names none.")
        .integer_range(0, kMaxRanks)
        .value("N");
    line.option("--host", arguments->host, "With reduce: the host, if the file names none.").value("NAME");
    declare_options(line, arguments->request.options);
    declare_read_limits(line, arguments->request.limits);
    return [arguments] { return run(*arguments); };
}

}  // namespace

extern const Command kRanksCommand;
const Command kRanksCommand{"ranks",
                            "Analyse recordings",
                            "PATH... [TABLE...]",
                            "Show who holds a distributed job up, and what it costs.",
                            declare,
                            [] {
                                return std::vector<Choices>{{"PATH", {std::begin(kTables), std::end(kTables)}},
                                                            {"--format", names_of(report_formats())},
                                                            {"--fail-on", names_of(std::span(kJobMetrics))}};
                            }};

}  // namespace gpuprof
