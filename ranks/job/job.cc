#include "ranks/job/job.h"

#include <algorithm>
#include <utility>

namespace gpuprof::inline ranks {

std::uint32_t Job::find_rank(std::int32_t number) const {
    auto at = std::lower_bound(ranks.begin(), ranks.end(), number,
                               [](const Job::Rank& rank, std::int32_t wanted) { return rank.rank < wanted; });
    return at != ranks.end() && at->rank == number ? static_cast<std::uint32_t>(at - ranks.begin()) : kNone;
}

std::vector<std::uint32_t> Job::recorded_by() const {
    std::vector<std::uint32_t> counts(steps.size(), 0);
    for (const Job::RankStep& each : rank_steps)
        ++counts[static_cast<std::size_t>(std::lower_bound(steps.begin(), steps.end(), each.step) - steps.begin())];
    return counts;
}

const Job::RankStep* Job::find_step(std::uint32_t rank, std::int64_t step) const {
    std::pair key(rank, step);
    auto at = std::lower_bound(
        rank_steps.begin(), rank_steps.end(), key,
        [](const Job::RankStep& each, const auto& wanted) { return std::pair(each.rank, each.step) < wanted; });
    return at != rank_steps.end() && std::pair(at->rank, at->step) == key ? &*at : nullptr;
}

}  // namespace gpuprof::ranks
