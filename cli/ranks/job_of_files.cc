#include "cli/ranks/job_of_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/common_options.h"
#include "cli/progress.h"
#include "cli/ranks/job_trace.h"
#include "cli/ranks/remote_engine.h"
#include "core/base/text/ascii.h"
#include "core/base/text/shell_words.h"
#include "core/model/build/merge_traces.h"
#include "core/model/privacy/scrub.h"
#include "core/model/trace.h"
#include "ranks/reduce/chosen_steps.h"

namespace gpuprof::inline cli {
namespace {

namespace fs = std::filesystem;

// A job that can be shown to others: hosts, files and users under short names, numbered in the order of ranks, so the same
// job always gets the same names. Kernels and groups keep theirs (`scrub` replaces them).

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != text.npos && !from.empty(); at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

struct RedactedRow {
    std::string file, reason;
};

// A reason often names a file, its summary or a host; what still looks like a path or a host is withheld.
class Reasons {
public:
    explicit Reasons(const Trace& job) : job_(job) {
        const RankTable& ranks = job.tables().rank;
        for (Row row = 0; row < ranks.rows; ++row)
            if (ranks.host.has(row)) hosts_.insert(std::string(job.text(ranks.host[row])));
    }

    std::vector<RedactedRow> redacted() {
        const RankTable& ranks = job_.tables().rank;
        std::vector<RedactedRow> rows(ranks.rows);
        for (Row row = 0; row < ranks.rows; ++row) {
            std::string path(job_.text(ranks.file.value_or(row, kNoString)));
            if (!path.empty())
                rows[row].file = names_.try_emplace(path, fmt::format("file-{}", names_.size() + 1)).first->second;
            rows[row].reason =
                without_names(std::string(job_.text(ranks.reason.value_or(row, kNoString))), path, rows[row].file);
        }
        return rows;
    }

private:
    std::string without_names(std::string reason, const std::string& path, const std::string& file) const {
        replace_all(reason, path, file);
        replace_all(reason, last_part(path), file);
        bool private_text = reason.find('/') != reason.npos;
        for (const std::string& host : hosts_) private_text |= reason.find(host) != reason.npos;
        return private_text ? "withheld, because it names a path or a host" : reason;
    }

    const Trace& job_;
    std::set<std::string> hosts_;
    std::map<std::string, std::string> names_;
};

Trace anonymous_job(Trace job) {
    std::vector<RedactedRow> redacted = Reasons(job).redacted();
    Batch rows = batch_of(scrubbed(std::move(job), {}));
    RankTable& ranks = rows.tables.rank;
    auto refill = [&](Column<StringId>& column, std::string RedactedRow::*text) {
        Column<StringId> made;
        for (Row row = 0; row < ranks.rows; ++row)
            if (!(redacted[row].*text).empty()) made.set(row, rows.strings.intern(redacted[row].*text));
        made.pad(ranks.rows);
        column = std::move(made);
    };
    refill(ranks.file, &RedactedRow::file);
    refill(ranks.reason, &RedactedRow::reason);
    TraceBuilder builder({"job", "ranks", {}});
    builder.append(std::move(rows));
    return std::move(builder).finish();
}

constexpr double kMaxSeconds = 1e6;

bool needs_python(const std::vector<std::string>& paths, const JobRequest& request) {
    return !request.dask.empty() || !request.storage.empty() || std::any_of(paths.begin(), paths.end(), is_url);
}

Result<std::vector<ReducedFile>> reduce_here(const std::vector<std::string>& paths, const JobRequest& request) {
    JobProgress counted;
    if (request.converse) return reduce_elsewhere(STDIN_FILENO, STDOUT_FILENO, request, counted);
    std::optional<Progress> progress;
    if (!request.quiet) progress.emplace([&](DurNs elapsed) { return counted.line(elapsed); });
    std::vector<JobInput> inputs;
    for (const std::string& path : paths) inputs.emplace_back().path = path;
    Result<std::vector<ListedFile>> files = list_rank_files(inputs, request.names);
    if (!files.ok()) return files.error();
    return reduce_files(*files, request.engine, counted);
}

std::string absolute(const std::string& path) {
    std::error_code unknown;
    return fs::absolute(path, unknown).lexically_normal().string();
}

// Reduces the files. `folder` has the summaries that are not kept, until they are joined.
Result<ExitCode> reduce_job(const std::vector<std::string>& paths, JobRequest& request,
                            std::optional<TemporaryFolder>& folder, std::vector<ReducedFile>& files) {
    if (request.converse) request.engine.unkept = absolute(".");
    bool python = !request.converse && needs_python(paths, request);
    if (python || request.converse) request.engine.cache = absolute(request.engine.cache);  // others may run elsewhere
    if (!python) {
        Result<std::vector<ReducedFile>> reduced = reduce_here(paths, request);
        if (!reduced.ok()) return reduced.error();
        files = std::move(reduced).value();
        return ExitCode::ok;
    }
    Result<TemporaryFolder> made = TemporaryFolder::make();
    if (!made.ok()) return made.error();
    folder.emplace(std::move(made).value());
    request.engine.unkept = folder->path();
    return reduce_with_python(paths, request, *folder, files);
}

Result<Trace> joined(const std::vector<ReducedFile>& files, const std::vector<std::string>& paths,
                     const JobRequest& request, const ReadLimits& limits) {
    bool any = std::any_of(files.begin(), files.end(), [](const ReducedFile& file) { return !file.summary.empty(); });
    if (!any) {
        auto said =
            std::find_if(files.begin(), files.end(), [](const ReducedFile& file) { return !file.problem.empty(); });
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: none of the {} files is of a rank; first error: {}",
                                 request.engine.unkept.empty() ? shell_quoted_files(paths) : "the job", files.size(),
                                 said == files.end() ? "no files" : said->problem)};
    }
    Result<StepChoice> steps = StepChoice::parse(request.steps);
    if (!steps.ok()) return steps.error();
    Result<Trace> job = job_trace(files, {request.expect, request.job, *steps}, request.name, limits);
    if (!job.ok() || !request.anonymise) return job;
    return anonymous_job(std::move(job).value());
}

}  // namespace

// A scheme, or several in a chain (`filecache::s3://bucket`).
bool is_url(const std::string& word) {
    auto end = std::find_if_not(word.begin(), word.end(),
                                [](char c) { return is_alphanumeric(c) || c == '+' || c == '.' || c == '-'; });
    if (end == word.begin() || !is_letter(word[0])) return false;
    std::string_view rest(end, word.end());
    return (rest.starts_with("://") || rest.starts_with("::")) && !is_path(word);
}

Result<ExitCode> read_job(const std::vector<std::string>& paths, const JobRequest& request, const Options& options,
                          const ReadLimits& limits, std::optional<Trace>& job) {
    if (Result<StepChoice> steps = StepChoice::parse(request.steps); !steps.ok()) return steps.error();
    JobRequest asked = request;
    asked.engine.step_range = options.step_range;
    if (asked.engine.cache.empty()) asked.engine.cache = usual_cache();
    std::vector<ReducedFile> files;
    std::optional<TemporaryFolder> folder;
    Result<ExitCode> ended = reduce_job(paths, asked, folder, files);
    if (!ended.ok() || *ended != ExitCode::ok) return ended;
    Result<Trace> found = joined(files, paths, asked, limits);
    if (!found.ok()) return found.error();
    job.emplace(std::move(found).value());
    return ExitCode::ok;
}

void declare_job(CommandLine& line, JobRequest& request) {
    line.option("--expect", request.expect, "Number of ranks in the job (default: as recorded).")
        .integer_range(0, std::int64_t{1} << 20)
        .value("N");
    line.option(
            "--job", request.job,
            "Which job to read if the files are of several jobs or attempts: its number, or all to read them as one "
            "(default: several are an error that lists them).")
        .value("N");
    line.number_option(
            "--workers", [&request](double count) { request.engine.workers = static_cast<unsigned>(count); },
            "Files to read at once (default: 0, one per core if memory allows).")
        .integer_range(0, 256)
        .value("N");
    line.option(
            "--dask", request.dask,
            "Read the files on a Dask cluster: the address of its scheduler, or its scheduler file. Needs the Python "
            "package and distributed.")
        .value("ADDRESS");
    line.option(
            "--storage", request.storage,
            "Option of the storage of URLs, for fsspec; a dot leads into a nested option. Needs the Python package.")
        .append_each_use()
        .value("KEY=VALUE");
    line.option(
            "--steps", request.steps,
            "Steps that prices are based on: all, a number of steps spread over the job, slowest:NUMBER, or FIRST:END "
            "(default: all if their collectives fit into about 2 GB, else as many as do).")
        .value("STEPS");
    line.option("--rank-from", request.names.rank_from,
                "Regular expression whose group is the rank in a file's name (default: rank-12, r00012). The rank that "
                "a file itself names comes first.")
        .value("REGEX");
    line.option("--host-from", request.names.host_from,
                "Regular expression whose group is the host in a file's name (default: the host that the file itself "
                "names).")
        .value("REGEX");
    line.option("--cache", request.engine.cache, "Folder for summaries of files (default: in the user's cache folder).")
        .value("DIR");
    line.option("--time-out", request.engine.seconds, "Timeout of reading one file, in seconds (default: 600).")
        .seconds(1e-3, kMaxSeconds)
        .value("S");
    line.flag("--anonymise", request.anonymise,
              "Replace the names of hosts and files by short ones in every output, also in that of --save.");
    line.flag("--quiet", request.quiet, "Show no progress.");
}

}  // namespace gpuprof::cli
