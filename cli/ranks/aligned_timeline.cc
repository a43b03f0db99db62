#include "cli/ranks/aligned_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/base/files/named_files.h"
#include "core/base/text/rank_list.h"
#include "core/base/text/shell_words.h"
#include "core/model/build/merge_traces.h"
#include "io/importers/open_trace.h"
#include "ranks/clocks/clocks.h"

namespace gpuprof::inline cli {
namespace {

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

Result<RankList> chosen_ranks(const std::string& text) {
    std::optional<RankList> ranks = parse_ranks(text);
    if (!ranks || ranks->empty())
        return Error{ExitCode::usage, fmt::format("--timeline '{}' is not a list of ranks, as in 3,7 or 0-7", text)};
    if (ranks->size() > kMostTimelines)
        return Error{ExitCode::usage,
                     fmt::format("--timeline {} names {} ranks; the limit is {}", text, ranks->size(), kMostTimelines)};
    return std::move(*ranks);
}

}  // namespace

Result<Trace> aligned_timeline(const Trace& job, const std::string& text, const std::vector<std::string>& given,
                               const ReadLimits& limits) {
    NamedFiles files(given);
    Result<RankList> ranks = chosen_ranks(text);
    if (!ranks.ok()) return ranks.error();
    Facts facts(job, {});
    const RankJob& known = facts.get<RankJob>();
    const AlignedClocks& clocks = facts.get<AlignedClocks>();
    std::vector<JobPart> parts;
    std::vector<std::string> names;
    std::optional<std::uint32_t> island;
    for (std::int32_t number : *ranks) {
        std::uint32_t index = known.find_rank(number);
        const JobRank* rank = index != kNone ? &known.ranks[index] : nullptr;
        if (rank == nullptr || !rank->present)
            return Error{ExitCode::usage, fmt::format("--timeline: rank {} has no recording", number)};
        const ClockFit& clock = clocks.clocks[rank->clock];
        if (!clock.aligned || clock.island != island.value_or(clock.island))
            return Error{ExitCode::unreadable,
                         fmt::format("--timeline: the clock of rank {} cannot be compared with the others' (see the "
                                     "table hosts)",
                                     number)};
        island = clock.island;
        std::string file(job.text(job.tables().rank.file.value_or(rank->row, kNoString)));
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

}  // namespace gpuprof::cli
