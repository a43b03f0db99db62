// Which ranks and which steps of a large job a reader looks at first.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/facts/facts.h"
#include "ranks/price/straggler.h"

namespace gpuprof::inline ranks {

// The ranks of a unit, as indices in Job::ranks; empty for a unit that is nobody in particular.
std::vector<std::uint32_t> ranks_of(const Facts& facts, const Straggler& unit);

// Why a rank is among those shown.
enum class ChosenFor : std::uint8_t { all, straggler, critical_path, group, quantile };
// "all", "straggler", "critical path", "group", "quantile".
std::string_view name_of(ChosenFor reason);

struct ChosenRank {
    std::uint32_t rank = 0;  // index in Job::ranks
    ChosenFor reason = ChosenFor::all;
};

// At most `most` ranks that recorded the step, by rank: all if they are few; else stragglers, the ranks in `critical`,
// ranks that share a group with a straggler (small groups first), and evenly spaced quantiles of the rest, by own time.
std::vector<ChosenRank> chosen_ranks(const Facts& facts, std::int64_t step, const std::vector<std::uint32_t>& critical,
                                     std::size_t most);

// Indices in Job::steps: the `slowest` longest steps, longest first, and the median one.
std::vector<std::size_t> chosen_steps(const std::vector<DurNs>& lengths, std::size_t slowest);

}  // namespace gpuprof::ranks
