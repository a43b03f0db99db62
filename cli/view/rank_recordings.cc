#include "cli/view/rank_recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/program.h"
#include "io/importers/open_trace.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::size_t kMostOpen = 4;

}  // namespace

RankRecordings::RankRecordings(const Trace& job, NamedFiles named, const ReadLimits& limits)
    : named_(std::move(named)), limits_(limits) {
    const RankTable& ranks = job.tables().rank;
    for (Row row = 0; row < ranks.rows; ++row)
        if (ranks.rank.has(row) && ranks.file.has(row))
            files_.try_emplace(ranks.rank[row], std::string(job.text(ranks.file[row])));
    const RankStepTable& steps = job.tables().rank_step;
    for (Row row = 0; row < steps.rows; ++row) {
        if (!steps.rank.has(row) || !steps.step.has(row) || !steps.from_time.has(row) || !steps.to_time.has(row))
            continue;
        Interval window{steps.from_time[row], steps.to_time[row]};
        auto [known, fresh] = steps_.try_emplace({steps.rank[row], steps.step[row]}, window);
        if (!fresh)
            known->second = {std::min(known->second.start, window.start), std::max(known->second.end, window.end)};
    }
}

std::vector<std::int32_t> RankRecordings::openable() const {
    std::vector<std::int32_t> ranks;
    for (const auto& [rank, file] : files_)
        if (named_.find(file).ok()) ranks.push_back(rank);
    return ranks;
}

std::optional<Interval> RankRecordings::step(std::int32_t rank, std::int64_t step) const {
    auto found = steps_.find({rank, step});
    return found == steps_.end() ? std::nullopt : std::optional(found->second);
}

Result<std::shared_ptr<const ViewDocument>> RankRecordings::open(std::int32_t rank) {
    auto known = std::find_if(open_.begin(), open_.end(), [&](const auto& each) { return each.first == rank; });
    if (known != open_.end()) {
        open_.splice(open_.begin(), open_, known);
        return open_.front().second;
    }
    auto file = files_.find(rank);
    if (file == files_.end()) return Error{ExitCode::unreadable, fmt::format("rank {} has no file", rank)};
    Result<std::string> found = named_.find(file->second);
    if (!found.ok())
        return Error{ExitCode::unreadable, fmt::format("cannot open rank {}: {}", rank, found.error().message)};
    Result<Trace> trace = open_trace(*found, limits_, Naming::base_names);
    if (!trace.ok()) return trace.error();
    Result<ViewDocument> document = ViewDocument::make(std::move(trace).value(), program_version());
    if (!document.ok()) return document.error();
    open_.emplace_front(rank, std::make_shared<const ViewDocument>(std::move(document).value()));
    if (open_.size() > kMostOpen) open_.pop_back();
    return open_.front().second;
}

RankPages rank_pages(const Trace& job, const std::vector<std::string>& given, const ReadLimits& limits) {
    auto ranks = std::make_shared<RankRecordings>(job, NamedFiles(given), limits);
    return {[ranks] { return ranks->openable(); },
            [ranks](std::int32_t rank, std::int64_t step) { return ranks->step(rank, step); },
            [ranks](std::int32_t rank) { return ranks->open(rank); }};
}

}  // namespace gpuprof::cli
