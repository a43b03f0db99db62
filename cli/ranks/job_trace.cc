#include "cli/ranks/job_trace.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "core/importers/importer.h"
#include "core/model/merge_traces.h"

namespace gpuprof {
namespace {

class Job {
public:
    explicit Job(const std::string& name) : builder_({name, "ranks", {}}) {}

    Status add(const ReducedFile& file, const ReadLimits& limits) {
        if (file.foreign) {
            rows_.lose(Loss::foreign_file, file.file.path);
            return {};
        }
        if (file.summary.empty()) {
            add_row(file.file.rank, file.file.path, "unreadable", file.problem);
            return {};
        }
        Result<Trace> summary = open_file(file.summary, limits);
        if (!summary.ok() || summary->tables().rank.rows == 0) {
            add_row(file.file.rank, file.file.path, "unreadable",
                    fmt::format("its summary {} is damaged; delete it", file.summary));
            return {};
        }
        const RankTable& about = summary->tables().rank;
        for (Row row = 0; row < about.rows; ++row) {
            if (!about.rank.has(row)) continue;
            world_ = std::max(world_, std::int64_t{about.world_size.value_or(row, 0)});
            File own{file.file.path, about.from_time.value_or(row, 0), about.to_time.value_or(row, 0),
                     summary->tables().rank_sync.rows};
            auto [other, fresh] = files_.try_emplace(about.rank[row], own);
            if (fresh) continue;
            if (own.same_recording(other->second)) {
                rows_.lose(Loss::second_copy, file.file.path);
                return {};
            }
            return Error{ExitCode::unreadable, fmt::format("{} and {} are both of rank {}; name the files of one run",
                                                           other->second.path, file.file.path, about.rank[row])};
        }
        builder_.append(batch_of(std::move(summary).value()));
        return {};
    }

    Trace finish(std::int64_t expected) && {
        constexpr std::int64_t kMaxListed = 1 << 20;
        for (std::int64_t rank = 0, end = std::min(std::max(expected, world_), kMaxListed); rank < end; ++rank)
            if (auto number = static_cast<std::int32_t>(rank);
                !files_.contains(number) && !unreadable_.contains(number))
                add_row(number, {}, "missing", "no file");
        builder_.append(std::move(rows_));
        return std::move(builder_).finish();
    }

private:
    void add_row(std::optional<std::int32_t> rank, std::string_view file, std::string_view status,
                 std::string_view reason) {
        RankTable& table = rows_.tables.rank;
        Row row = table.add();
        if (rank) table.rank.set(row, *rank);
        if (rank) unreadable_.insert(*rank);
        if (!file.empty()) table.file.set(row, rows_.intern(file));
        table.status.set(row, rows_.intern(status));
        table.reason.set(row, rows_.intern(reason));
        table.close();
    }

    TraceBuilder builder_;
    Batch rows_;
    struct File {
        std::string path;
        TimeNs from, to;
        std::size_t collectives;

        bool same_recording(const File& other) const {
            return from == other.from && to == other.to && collectives == other.collectives;
        }
    };
    std::map<std::int32_t, File> files_;
    std::set<std::int32_t> unreadable_;
    std::int64_t world_ = 0;
};

}  // namespace

Result<Trace> job_trace(const std::vector<ReducedFile>& files, std::int64_t expected, const std::string& name,
                        const ReadLimits& limits) {
    Job job(name);
    for (const ReducedFile& file : files)
        if (Status added = job.add(file, limits); !added) return added.error();
    return std::move(job).finish(expected);
}

}  // namespace gpuprof
