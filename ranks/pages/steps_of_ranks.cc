#include "ranks/pages/steps_of_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "ranks/job/job.h"

namespace gpuprof::inline ranks {
namespace {

// Ascending numbers as "10-29", "10-12,14"; long lists end with dots.
std::string text_of(const std::vector<std::int64_t>& steps) {
    constexpr std::size_t kMostRuns = 4;
    std::string text;
    std::size_t runs = 0;
    for (std::size_t begin = 0, end = 0; begin < steps.size(); begin = end) {
        while (end < steps.size() && steps[end] - steps[begin] == static_cast<std::int64_t>(end - begin)) ++end;
        if (runs++ == kMostRuns) return text + ",...";
        text += fmt::format("{}{}", text.empty() ? "" : ",", steps[begin]);
        if (end - begin > 1) text += fmt::format("-{}", steps[end - 1]);
    }
    return text.empty() ? "none" : text;
}

bool is_whole(const Trace& trace, const Job::Rank& rank) {
    return trace.text(trace.tables().rank.status.value_or(rank.row, kNoString)) == "whole";
}

}  // namespace

StepsOfRanks StepsOfRanks::make(const Facts& facts) {
    const Job& job = facts.get<Job>();
    std::vector<std::vector<std::int64_t>> by_rank(job.ranks.size());
    std::map<std::int64_t, std::size_t> counts;
    for (const Job::RankStep& step : job.rank_steps) {
        by_rank[step.rank].push_back(step.step);
        ++counts[step.step];
    }
    auto recorders = static_cast<std::size_t>(
        std::count_if(by_rank.begin(), by_rank.end(), [](const auto& steps) { return !steps.empty(); }));
    std::vector<std::int64_t> usual;
    for (auto [step, count] : counts)
        if (2 * count > recorders) usual.push_back(step);
    StepsOfRanks found;
    for (std::uint32_t i = 0; i < job.ranks.size(); ++i) {
        const std::vector<std::int64_t>& steps = by_rank[i];
        if (steps.empty() || steps == usual) continue;
        bool more = !std::includes(usual.begin(), usual.end(), steps.begin(), steps.end());
        if (!more && !is_whole(facts.trace(), job.ranks[i])) continue;  // that its file is cut is said already
        found.others.push_back({job.ranks[i].rank, fmt::format("recorded steps {}; most ranks recorded {}",
                                                               text_of(steps), text_of(usual))});
    }
    return found;
}

}  // namespace gpuprof::ranks
