#include "ranks/price/step_path.h"

#include <algorithm>

#include "ranks/job/job.h"
#include "ranks/match/match.h"
#include "ranks/price/replay.h"

namespace gpuprof::inline ranks {

std::vector<PathPiece> critical_path(const Facts& facts, std::int64_t step, TimeNs begin) {
    const Job& job = facts.get<Job>();
    const MatchedJob& matched = facts.get<MatchedJob>();
    const JobReplay& replay = facts.get<JobReplay>();
    std::uint32_t at = kNone;
    for (std::uint32_t i = 0; i < job.collectives.size(); ++i)
        if (job.collectives[i].step == step && (at == kNone || replay.common[i].end > replay.common[at].end)) at = i;
    std::vector<PathPiece> path;
    auto add = [&](std::uint32_t rank, TimeNs from, TimeNs to, bool transfer) {
        if (std::max(from, begin) < to) path.push_back({rank, {std::max(from, begin), to}, transfer});
    };
    TimeNs until = at == kNone ? begin : replay.common[at].end;
    while (at != kNone && until > begin) {
        std::uint32_t last = at;
        if (std::uint32_t instance = matched.instance_of[at]; instance != kNone && replay.waits[at])
            for (std::uint32_t member : matched.of(matched.instances[instance])) {
                bool later = replay.common[member].start > replay.common[last].start;
                if (later && replay.awaits(matched, matched.instances[instance], member)) last = member;
            }
        TimeNs arrival = std::min(replay.common[last].start, until);
        add(job.collectives[at].rank, arrival, until, true);
        const Job::Collective& collective = job.collectives[last];
        std::uint32_t next = collective.before != kNone ? collective.before : collective.follows;
        TimeNs from = next == kNone ? begin : std::min(replay.common[next].end, arrival);
        add(collective.rank, from, arrival, false);
        if (from >= until) break;  // damaged rows that refer to each other
        at = next;
        until = from;
    }
    std::reverse(path.begin(), path.end());
    return path;
}

}  // namespace gpuprof::ranks
