#include "core/analyze/ranks/waits.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/analyze/ranks/clocks.h"
#include "core/analyze/ranks/match.h"
#include "core/analyze/ranks/replay.h"

namespace gpuprof {
namespace {

constexpr double kTimesError = 3;

// The largest part of the members whose times can be compared: those of all aligned clocks, or those of one other clock.
template <class ClockOf>
std::vector<std::uint32_t> comparable(std::span<const std::uint32_t> members, ClockOf&& clock_of,
                                      const AlignedClocks& clocks) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> parts;  // clock, or kNone for the aligned ones; number
    auto part_of = [&](std::uint32_t sync) {
        std::uint32_t clock = clock_of(sync);
        return clocks.clocks[clock].aligned ? kNone : clock;
    };
    for (std::uint32_t sync : members) {
        std::uint32_t part = part_of(sync);
        auto known = std::find_if(parts.begin(), parts.end(), [&](const auto& each) { return each.first == part; });
        if (known == parts.end())
            parts.emplace_back(part, 1U);
        else
            ++known->second;
    }
    if (parts.size() == 1) return {members.begin(), members.end()};
    auto largest =
        std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    std::vector<std::uint32_t> found;
    for (std::uint32_t sync : members)
        if (part_of(sync) == largest->first) found.push_back(sync);
    return found;
}

}  // namespace

RankWaits RankWaits::make(const Facts& facts) {
    const RankJob& job = facts.get<RankJob>();
    const MatchedJob& matched = facts.get<MatchedJob>();
    const AlignedClocks& clocks = facts.get<AlignedClocks>();
    const JobReplay& replay = facts.get<JobReplay>();
    RankWaits found;
    found.wait.assign(job.syncs.size(), 0);
    found.known.assign(job.syncs.size(), false);
    found.lateness.assign(matched.instances.size(), std::nullopt);
    found.last.assign(matched.instances.size(), kNone);
    auto clock_of = [&](std::uint32_t sync) { return job.ranks[job.syncs[sync].rank].clock; };
    for (std::size_t i = 0; i < matched.instances.size(); ++i) {
        std::vector<std::uint32_t> members = comparable(matched.of(matched.instances[i]), clock_of, clocks);
        if (members.size() < 2) continue;
        std::uint32_t last = kNone, second = kNone;
        for (std::uint32_t sync : members) {
            if (last == kNone || replay.common[sync].start > replay.common[last].start)
                second = last, last = sync;
            else if (second == kNone || replay.common[sync].start > replay.common[second].start)
                second = sync;
        }
        // The error of a difference of times of two clocks; within one clock there is none.
        auto is_certain = [&](DurNs difference, std::uint32_t sync) {
            std::uint32_t own = clock_of(sync), other = clock_of(last);
            double error = own == other ? 0.0 : clocks.clocks[own].error_ns + clocks.clocks[other].error_ns;
            return static_cast<double>(difference) > kTimesError * error;
        };
        for (std::uint32_t sync : members) {
            const Interval& span = replay.common[sync];
            DurNs wait = std::min(replay.common[last].start, std::max(span.end, span.start)) - span.start;
            found.known[sync] = true;
            if (sync != last && is_certain(wait, sync)) found.wait[sync] = wait;
        }
        DurNs lateness = replay.common[last].start - replay.common[second].start;
        bool certain = is_certain(lateness, second);
        found.lateness[i] = certain ? lateness : 0;
        if (certain) found.last[i] = last;
    }
    return found;
}

}  // namespace gpuprof
