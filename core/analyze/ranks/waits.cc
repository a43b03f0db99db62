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

// The largest part of the members whose times can be compared: those of all aligned clocks of an island, or those of one
// other clock.
// Of an exchange, those that can be compared with its owner.
template <class ClockOf>
std::vector<std::uint32_t> comparable(const MatchedJob& matched, const Instance& instance, ClockOf&& clock_of,
                                      const AlignedClocks& clocks) {
    std::span<const std::uint32_t> members = matched.of(instance);
    using Part = std::pair<bool, std::uint32_t>;  // of aligned clocks, by island; else one clock
    std::vector<std::pair<Part, std::uint32_t>> parts;
    auto part_of = [&](std::uint32_t sync) {
        const ClockFit& clock = clocks.clocks[clock_of(sync)];
        return clock.aligned ? Part{true, clock.island} : Part{false, clock_of(sync)};
    };
    for (std::uint32_t sync : members) {
        Part part = part_of(sync);
        auto known = std::find_if(parts.begin(), parts.end(), [&](const auto& each) { return each.first == part; });
        if (known == parts.end())
            parts.emplace_back(part, 1U);
        else
            ++known->second;
    }
    if (parts.size() == 1) return {members.begin(), members.end()};
    auto largest =
        std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    Part chosen = instance.exchange ? part_of(members.front()) : largest->first;
    std::vector<std::uint32_t> found;
    for (std::uint32_t sync : members)
        if (part_of(sync) == chosen) found.push_back(sync);
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
        const Instance& instance = matched.instances[i];
        std::vector<std::uint32_t> members = comparable(matched, instance, clock_of, clocks);
        std::erase_if(members, [&](std::uint32_t sync) { return !replay.awaits(matched, instance, sync); });
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
        if (instance.exchange) members = {members.front()};
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
