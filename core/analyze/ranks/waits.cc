#include "core/analyze/ranks/waits.h"

#include <algorithm>

#include "core/analyze/ranks/clocks.h"
#include "core/analyze/ranks/match.h"
#include "core/analyze/ranks/replay.h"

namespace gpuprof {
namespace {

constexpr double kTimesError = 3;

}  // namespace

RankWaits RankWaits::make(const Facts& facts) {
    const RankJob& job = facts.get<RankJob>();
    const MatchedJob& matched = facts.get<MatchedJob>();
    const AlignedClocks& clocks = facts.get<AlignedClocks>();
    const JobReplay& replay = facts.get<JobReplay>();
    RankWaits found;
    found.wait.assign(job.syncs.size(), 0);
    found.lateness.assign(matched.instances.size(), 0);
    found.last.assign(matched.instances.size(), kNone);
    for (std::size_t i = 0; i < matched.instances.size(); ++i) {
        const Instance& instance = matched.instances[i];
        if (instance.count < 2) continue;
        std::uint32_t last = kNone, second = kNone;
        for (std::uint32_t sync : matched.of(instance)) {
            if (last == kNone || replay.common[sync].start > replay.common[last].start)
                second = last, last = sync;
            else if (second == kNone || replay.common[sync].start > replay.common[second].start)
                second = sync;
        }
        std::uint32_t last_clock = job.ranks[job.syncs[last].rank].clock;
        // The error of a difference of times of two clocks; within one clock there is none.
        auto error_to = [&](std::uint32_t sync) {
            std::uint32_t clock = job.ranks[job.syncs[sync].rank].clock;
            return clock == last_clock ? 0.0 : clocks.clocks[clock].error_ns + clocks.clocks[last_clock].error_ns;
        };
        auto comparable = [&](std::uint32_t sync) {
            std::uint32_t clock = job.ranks[job.syncs[sync].rank].clock;
            return clock == last_clock || (clocks.clocks[clock].aligned && clocks.clocks[last_clock].aligned);
        };
        for (std::uint32_t sync : matched.of(instance)) {
            DurNs wait =
                std::min(replay.common[last].start, std::max(replay.common[sync].end, replay.common[sync].start)) -
                replay.common[sync].start;
            if (sync != last && comparable(sync) && static_cast<double>(wait) > kTimesError * error_to(sync))
                found.wait[sync] = wait;
        }
        DurNs lateness = replay.common[last].start - replay.common[second].start;
        if (comparable(second) && static_cast<double>(lateness) > kTimesError * error_to(second)) {
            found.lateness[i] = lateness;
            found.last[i] = last;
        }
    }
    return found;
}

}  // namespace gpuprof
