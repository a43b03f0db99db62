#include "ranks/price/rank_waits.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "ranks/clocks/clocks.h"
#include "ranks/match/match.h"
#include "ranks/price/replay.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

// The members of an instance whose times can be compared are a part: those of all aligned clocks of an island, and those
// of each other clock.
class Parts {
public:
    Parts(const Job& job, const MatchedJob& matched, const AlignedClocks& clocks)
        : job_(job), matched_(matched), clocks_(clocks) {
        one_ = clocks.islands == 1 && std::all_of(clocks.clocks.begin(), clocks.clocks.end(),
                                                  [](const ClockFit& clock) { return clock.aligned; });
    }

    std::uint32_t clock_of(std::uint32_t collective) const {
        return job_.ranks[job_.collectives[collective].rank].clock;
    }

    // The largest part; of an exchange, that of its owner.
    std::vector<std::uint32_t> comparable(const Instance& instance) const {
        std::span<const std::uint32_t> members = matched_.of(instance);
        if (one_) return {members.begin(), members.end()};
        std::map<Part, std::uint32_t> sizes = sizes_of(members);
        if (sizes.size() == 1) return {members.begin(), members.end()};
        auto largest = std::max_element(sizes.begin(), sizes.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
        Part chosen = instance.exchange ? part_of(members.front()) : largest->first;
        std::vector<std::uint32_t> found;
        for (std::uint32_t collective : members)
            if (part_of(collective) == chosen) found.push_back(collective);
        return found;
    }

    // As RankWaits::incomparable.
    double incomparable_share() const {
        double all = 0, apart = 0;
        if (one_) return 0;
        for (const Instance& instance : matched_.instances) {
            if (instance.count < 2) continue;
            std::map<Part, std::uint32_t> sizes = sizes_of(matched_.of(instance));
            for (std::uint32_t collective : matched_.owners(instance)) {
                auto length = static_cast<double>(job_.collectives[collective].span.length());
                all += length;
                apart += length * (instance.count - sizes[part_of(collective)]) / (instance.count - 1);
            }
        }
        return all > 0 ? apart / all : 0;
    }

private:
    using Part = std::pair<bool, std::uint32_t>;  // aligned: its island; else its clock
    Part part_of(std::uint32_t collective) const {
        const ClockFit& clock = clocks_.clocks[clock_of(collective)];
        return clock.aligned ? Part{true, clock.island} : Part{false, clock_of(collective)};
    }
    std::map<Part, std::uint32_t> sizes_of(std::span<const std::uint32_t> members) const {
        std::map<Part, std::uint32_t> sizes;
        for (std::uint32_t collective : members) ++sizes[part_of(collective)];
        return sizes;
    }

    const Job& job_;
    const MatchedJob& matched_;
    const AlignedClocks& clocks_;
    bool one_ = false;  // part
};

}  // namespace

RankWaits RankWaits::make(const Facts& facts) {
    const Job& job = facts.get<Job>();
    const MatchedJob& matched = facts.get<MatchedJob>();
    const AlignedClocks& clocks = facts.get<AlignedClocks>();
    const JobReplay& replay = facts.get<JobReplay>();
    RankWaits found;
    found.wait.assign(job.collectives.size(), 0);
    found.known.assign(job.collectives.size(), false);
    found.lateness.assign(matched.instances.size(), std::nullopt);
    found.last.assign(matched.instances.size(), kNone);
    const Parts parts(job, matched, clocks);
    found.incomparable = parts.incomparable_share();
    for (std::size_t i = 0; i < matched.instances.size(); ++i) {
        const Instance& instance = matched.instances[i];
        std::vector<std::uint32_t> members = parts.comparable(instance);
        std::erase_if(members, [&](std::uint32_t collective) { return !replay.awaits(matched, instance, collective); });
        if (members.size() < 2) continue;
        std::uint32_t last = kNone, second = kNone;
        for (std::uint32_t collective : members) {
            if (last == kNone || replay.common[collective].start > replay.common[last].start) {
                second = last;
                last = collective;
            } else if (second == kNone || replay.common[collective].start > replay.common[second].start)
                second = collective;
        }
        // The error of a difference of times of two clocks; within one clock there is none.
        auto is_certain = [&](DurNs difference, std::uint32_t collective) {
            std::uint32_t own = parts.clock_of(collective), other = parts.clock_of(last);
            double error = own == other ? 0.0 : clocks.clocks[own].error_ns + clocks.clocks[other].error_ns;
            return static_cast<double>(difference) > kCertainWait * error;
        };
        if (instance.exchange) members = {members.front()};
        for (std::uint32_t collective : members) {
            const Interval& span = replay.common[collective];
            DurNs wait = std::min(replay.common[last].start, std::max(span.end, span.start)) - span.start;
            found.known[collective] = true;
            if (collective != last && is_certain(wait, collective)) found.wait[collective] = wait;
        }
        DurNs lateness = replay.common[last].start - replay.common[second].start;
        bool certain = is_certain(lateness, second);
        found.lateness[i] = certain ? lateness : 0;
        if (certain) found.last[i] = last;
    }
    return found;
}

}  // namespace gpuprof::ranks
