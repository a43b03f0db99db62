#include "cli/ranks/job_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "cli/ranks/several_jobs.h"
#include "core/base/parallel.h"
#include "core/model/build/merge_traces.h"
#include "io/importers/importer.h"
#include "ranks/price/quantile.h"

namespace gpuprof::inline cli {
namespace {

class JobWriter {
public:
    explicit JobWriter(std::set<std::int64_t> steps) : steps_(std::move(steps)) {}

    // Takes a summary, or makes a row of why there is none.
    void add(const ReducedFile& file, Result<Trace> summary) {
        if (file.foreign) {
            foreign_.push_back({file.file.rank, file.file.path, file.problem});
            return;
        }
        if (file.summary.empty()) {
            lost_.push_back({file.file.rank, file.file.path, file.problem});
            return;
        }
        if (!summary.ok() || summary->tables().rank.rows == 0) {
            lost_.push_back(
                {file.file.rank, file.file.path, fmt::format("its summary {} is damaged; delete it", file.summary)});
            return;
        }
        if (is_copy(*summary)) {
            rows_.lose(Loss::second_copy, file.file.path);
            return;
        }
        files_.push_back(JobFile::of(*summary, file.file.path));
        PodVector<Row> there;
        for (Row row = 0; row < summary->tables().rank.rows; ++row)
            if (!is_missing(*summary, row)) there.push_back(row);
        summaries_.push_back(batch_of(std::move(summary).value()));
        keep_rows(summaries_.back().tables.rank, there);
        if (!steps_.empty())
            keep_steps(summaries_.back().tables.rank_collective, summaries_.back().tables.rank_transfer, steps_);
    }

    // Leaves the files of one job.
    Status choose(const std::string& job) {
        std::vector<JobFiles> jobs = split_jobs(files_);
        if (job == "all" || (job.empty() && jobs.size() < 2)) return {};
        std::size_t number = 0;
        auto [end, failed] = std::from_chars(job.data(), job.data() + job.size(), number);
        bool valid = failed == std::errc() && end == job.data() + job.size() && number >= 1 && number <= jobs.size();
        if (!valid) {
            std::string list;
            for (std::size_t i = 0; i < jobs.size(); ++i) list += "; " + describe_job(files_, jobs[i], i + 1);
            if (!job.empty()) return Error{ExitCode::usage, fmt::format("there is no --job {}{}", job, list)};
            return Error{ExitCode::unreadable,
                         fmt::format("the files are of {} jobs; choose one with --job N{}", jobs.size(), list)};
        }
        std::vector<Batch> kept;
        std::vector<JobFile> files;
        for (std::size_t file : jobs[number - 1]) {
            kept.push_back(std::move(summaries_[file]));
            files.push_back(std::move(files_[file]));
        }
        summaries_ = std::move(kept);
        files_ = std::move(files);
        return {};
    }

    Result<Trace> finish(std::int64_t expected, const std::string& name) && {
        std::map<std::int32_t, const std::string*> known;
        for (const JobFile& file : files_) {
            world_ = std::max(world_, file.world);
            for (std::int32_t rank : file.ranks)
                if (auto [other, fresh] = known.try_emplace(rank, &file.path); !fresh)
                    return Error{ExitCode::unreadable,
                                 fmt::format("{} and {} are both of rank {}; name the files of one run", *other->second,
                                             file.path, rank)};
        }
        std::set<std::int32_t> present;
        for (const auto& [rank, path] : known) present.insert(rank);
        for (LostFile& file : lost_) {
            if (file.rank && !present.insert(*file.rank).second) file.rank.reset();  // another file is of that rank
            add_row(file.rank, file.path, "unreadable", file.problem);
        }
        constexpr std::int64_t kMaxRanksListed = 1 << 20;
        std::int64_t end = std::min(std::max(expected, world_), kMaxRanksListed);
        for (const LostFile& file : foreign_) {
            // Named like a rank that nothing else is of: its recording, cut before anything could be recognised.
            if (file.rank && *file.rank < end && present.insert(*file.rank).second)
                add_row(file.rank, file.path, "unreadable", file.problem);
            else
                rows_.lose(Loss::foreign_file, file.path);
        }
        for (std::int64_t rank = 0; rank < end; ++rank)
            if (!present.contains(static_cast<std::int32_t>(rank)))
                add_row(static_cast<std::int32_t>(rank), {}, "missing", "no file");
        TraceBuilder builder({name, "ranks", {}});
        // By rank, so that the answer does not depend on names of files.
        std::vector<std::size_t> order(files_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return files_[a].ranks < files_[b].ranks; });
        for (std::size_t file : order) builder.append(std::move(summaries_[file]));
        builder.append(std::move(rows_));
        return std::move(builder).finish();
    }

private:
    struct LostFile {
        std::optional<std::int32_t> rank;
        std::string path, problem;
    };
    // What two copies of one recording share.
    struct Recording {
        std::int32_t rank;
        TimeNs from, to;
        std::size_t collectives;
        auto operator<=>(const Recording&) const = default;
    };

    bool is_copy(const Trace& summary) {
        const RankTable& about = summary.tables().rank;
        bool copy = false;
        for (Row row = 0; row < about.rows; ++row)
            if (about.rank.has(row) && !is_missing(summary, row))
                copy |= !recordings_
                             .insert({about.rank[row], about.from_time.value_or(row, 0), about.to_time.value_or(row, 0),
                                      summary.tables().rank_collective.rows})
                             .second;
        return copy;
    }

    void add_row(std::optional<std::int32_t> rank, std::string_view file, std::string_view status,
                 std::string_view reason) {
        RankTable& table = rows_.tables.rank;
        Row row = table.add();
        if (rank) table.rank.set(row, *rank);
        if (!file.empty()) table.file.set(row, rows_.intern(file));
        table.status.set(row, rows_.intern(status));
        table.reason.set(row, rows_.intern(reason));
        table.close();
    }

    Batch rows_;
    std::set<std::int64_t> steps_;  // whose collectives are read; none: all
    std::vector<Batch> summaries_;
    std::vector<JobFile> files_;  // of the summaries
    std::vector<LostFile> lost_, foreign_;
    std::set<Recording> recordings_;
    std::int64_t world_ = 0;
};

// Files that say what all are like.
constexpr std::size_t kSampled = 4;
constexpr std::size_t kReadAhead = 256;

// Which steps to read, by the lengths that a few ranks have: a step takes about as long on all of them.
std::set<std::int64_t> steps_to_read(const std::vector<ReducedFile>& files, const StepChoice& choice,
                                     const ReadLimits& limits) {
    std::map<std::int64_t, std::vector<DurNs>> lengths;
    std::size_t sampled = 0, collectives = 0;
    for (std::size_t i = 0; i < files.size() && sampled < kSampled;
         i += std::max<std::size_t>(files.size() / kSampled, 1)) {
        if (files[i].summary.empty()) continue;
        Result<Trace> summary = open_file(files[i].summary, limits);
        if (!summary.ok()) continue;
        ++sampled;
        const RankStepTable& steps = summary->tables().rank_step;
        for (Row row = 0; row < steps.rows; ++row)
            if (steps.step.has(row))
                lengths[steps.step[row]].push_back(steps.to_time.value_or(row, 0) - steps.from_time.value_or(row, 0));
        collectives += summary->tables().rank_collective.rows;
    }
    std::map<std::int64_t, DurNs> usual;
    for (auto& [step, values] : lengths) usual[step] = median_of(std::move(values));
    if (usual.empty()) return {};
    return choice.choose(usual, collectives * files.size() / (sampled * usual.size()));
}

}  // namespace

Result<Trace> job_trace(const std::vector<ReducedFile>& files, const WantedJob& wanted, const std::string& name,
                        const ReadLimits& limits) {
    JobWriter job(steps_to_read(files, wanted.steps, limits));
    for (std::size_t begin = 0; begin < files.size(); begin += kReadAhead) {
        std::vector<std::optional<Result<Trace>>> read(std::min(kReadAhead, files.size() - begin));
        run_parallel(read.size(), default_threads(), [&](std::size_t i, unsigned) {
            if (const std::string& path = files[begin + i].summary; !path.empty()) read[i] = open_file(path, limits);
        });
        for (std::size_t i = 0; i < read.size(); ++i)
            job.add(files[begin + i], read[i] ? *std::move(read[i]) : Result<Trace>(Trace()));
    }
    if (Status chosen = job.choose(wanted.job); !chosen) return chosen.error();
    return std::move(job).finish(wanted.expected, name);
}

}  // namespace gpuprof::cli
