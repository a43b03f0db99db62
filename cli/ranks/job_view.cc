#include "cli/ranks/job_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "analyze/facts/facts.h"
#include "cli/view/pair.h"
#include "cli/view/rank_recordings.h"
#include "cli/view/sql_pages.h"
#include "core/base/files/named_files.h"
#include "core/base/text/shell_words.h"
#include "core/model/build/merge_traces.h"
#include "io/importers/open_trace.h"
#include "ranks/clocks/clocks.h"
#include "ranks/job/job.h"

namespace gpuprof::inline cli {
namespace {

// Of the files of all timelines on the page of a job, as stored: these take a few seconds to read.
constexpr std::uint64_t kMostTimelineBytes = std::uint64_t{256} << 20;

Trace on_common_clock(Trace given, const AlignedClocks& clocks, std::uint32_t clock) {
    TraceBuilder builder(given.origin());
    Batch rows = batch_of(std::move(given));
    rows.tables.each_table([&](const TableSpec&, auto& table) {
        table.each_column([&](const ColumnSpec& spec, auto& column) {
            if constexpr (std::is_same_v<std::remove_reference_t<decltype(column)>, Column<std::int64_t>>) {
                if (spec.type != ColumnType::Time) return;
                for (Row row = 0; row < column.size(); ++row)
                    if (column.has(row)) column.change(row, clocks.common(clock, column[row]));
            }
        });
    });
    builder.append(std::move(rows));
    return std::move(builder).finish();
}

std::string file_of(const Trace& job, const Job::Rank& rank) {
    return std::string(job.text(job.tables().rank.file.value_or(rank.row, kNoString)));
}

// The ranks whose clocks can be compared, of the largest such group; none if they do not fit on a page.
RankList shown_ranks(const Trace& job, const std::vector<std::string>& given) {
    Facts facts(job, {});
    const AlignedClocks& clocks = facts.get<AlignedClocks>();
    NamedFiles files(given);
    struct Island {
        RankList ranks;
        std::uint64_t bytes = 0;
    };
    std::map<std::uint32_t, Island> islands;
    for (const Job::Rank& rank : facts.get<Job>().ranks) {
        if (!rank.present || !clocks.clocks[rank.clock].aligned) continue;
        Result<std::string> path = files.find(file_of(job, rank));
        std::error_code failed;
        std::uint64_t bytes = path.ok() ? std::filesystem::file_size(*path, failed) : 0;
        if (!path.ok() || failed) continue;
        Island& island = islands[clocks.clocks[rank.clock].island];
        island.ranks.push_back(rank.rank);
        island.bytes += bytes;
    }
    Island most;
    for (auto& [key, island] : islands)
        if (island.ranks.size() > most.ranks.size()) most = std::move(island);
    bool fits = most.ranks.size() > 1 && most.ranks.size() <= kMostTimelines && most.bytes <= kMostTimelineBytes;
    return fits ? std::move(most.ranks) : RankList();
}

}  // namespace

Result<Trace> aligned_timeline(const Trace& job, const RankList& ranks, const std::vector<std::string>& given,
                               const ReadLimits& limits) {
    NamedFiles files(given);
    Facts facts(job, {});
    const Job& known = facts.get<Job>();
    const AlignedClocks& clocks = facts.get<AlignedClocks>();
    std::vector<JobPart> parts;
    std::vector<std::string> names;
    std::optional<std::uint32_t> island;
    for (std::int32_t number : ranks) {
        std::uint32_t index = known.find_rank(number);
        const Job::Rank* rank = index != kNone ? &known.ranks[index] : nullptr;
        if (rank == nullptr || !rank->present)
            return Error{ExitCode::usage, fmt::format("--timeline: rank {} has no recording", number)};
        const ClockFit& clock = clocks.clocks[rank->clock];
        if (!clock.aligned || clock.island != island.value_or(clock.island))
            return Error{ExitCode::unreadable,
                         fmt::format("--timeline: the clock of rank {} cannot be compared with the others' (see the "
                                     "table hosts)",
                                     number)};
        island = clock.island;
        std::string file = file_of(job, *rank);
        Result<std::string> found = files.find(file);
        if (!found.ok())
            return Error{ExitCode::unreadable, fmt::format("--timeline: rank {}: {}", number, found.error().message)};
        Result<Trace> trace = open_trace(*found, limits, Naming::base_names);
        if (!trace.ok()) return trace.error();
        names.push_back(base_name(file));
        parts.push_back(
            {fmt::format("rank {}", number), on_common_clock(std::move(trace).value(), clocks, rank->clock)});
    }
    Origin origin{shell_quoted_files(names), parts.front().trace.origin().importer, parts.front().trace.origin().tool};
    if (parts.size() == 1) return std::move(parts.front().trace);
    return merge_traces(std::move(parts), std::move(origin), {});
}

Result<ViewContent> job_content(Trace job, const std::vector<std::string>& given, const ReadLimits& limits,
                                const StageReport& on_stage) {
    RankPages pages = rank_pages(job, given, limits);
    RankList ranks = shown_ranks(job, given);
    std::optional<Trace> timeline;
    if (!ranks.empty())
        if (Result<Trace> found = aligned_timeline(job, ranks, given, limits); found.ok())
            timeline = std::move(found).value();
    Result<ViewPair> pair =
        view_pair(std::move(job),
                  {.name = base_name(given.front()), .limits = limits, .detail = StepDetail::all, .on_stage = on_stage},
                  std::move(timeline));
    if (!pair.ok()) return pair.error();
    return ViewContent{std::move(pair).value(), std::move(pages), make_sql_pages};
}

}  // namespace gpuprof::cli
