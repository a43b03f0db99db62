#include "ranks/job/hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/base/text/rank_list.h"
#include "ranks/clocks/clocks.h"
#include "ranks/match/match_order.h"
#include "ranks/price/peers.h"
#include "ranks/price/quantile.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

// More only take time.
constexpr std::size_t kMostEnds = 1'000;

// Of a rank's collectives whose members end together, by time.
struct End {
    TimeNs time;
    std::uint32_t group;
    auto operator<=>(const End&) const = default;
};

std::vector<End> ends_of(const Job& job, const Job::Rank& rank) {
    std::vector<End> ends;
    for (std::uint32_t i = rank.first; i < rank.first + rank.collectives && ends.size() < kMostEnds; ++i) {
        const Job::Collective& collective = job.collectives[i];
        if (ends_together(collective.kind) && !collective.is_pair() && collective.group != kNone)
            ends.push_back({collective.span.end, collective.group});
    }
    std::sort(ends.begin(), ends.end());
    return ends;
}

// Whether each end of `a` is also one of `b`, of the same group, while both were recorded.
bool agree(const std::vector<End>& a, const std::vector<End>& b) {
    if (a.empty() || b.empty()) return false;
    TimeNs from = std::max(a.front().time, b.front().time) - kSameEnd,
           to = std::min(a.back().time, b.back().time) + kSameEnd;
    std::size_t ends = 0, same = 0, others = 0;
    auto near = b.begin();
    for (const End& end : a) {
        if (end.time < from || end.time > to) continue;
        ++ends;
        while (near != b.end() && near->time < end.time - kSameEnd) ++near;
        auto found = std::find_if(near, b.end(), [&](const End& other) {
            return other.time > end.time + kSameEnd || other.group == end.group;
        });
        same += found != b.end() && found->time <= end.time + kSameEnd;
    }
    for (const End& end : b) others += end.time >= from && end.time <= to;
    return ends >= kFewestEnds && static_cast<double>(same) >= kAgreeing * static_cast<double>(ends) &&
           2.0 * kSameEnd * static_cast<double>(others) <= kMostNear * static_cast<double>(to - from);
}

}  // namespace

void join_clocks(Job& job) {
    std::vector<Job::Clock> clocks;
    std::vector<std::uint32_t> of_clock(job.clocks.size(), kNone);  // index in `clocks`
    std::vector<std::vector<End>> ends(job.ranks.size());
    // By the rank that would have GPU 0: indices in `clocks`.
    std::map<std::int32_t, std::vector<std::uint32_t>> machines;
    for (std::uint32_t i = 0; i < job.ranks.size(); ++i) {
        Job::Rank& rank = job.ranks[i];
        const Job::Clock& clock = job.clocks[rank.clock];
        std::uint32_t& joined = of_clock[rank.clock];
        bool unnamed = !clock.host && rank.device;
        std::vector<std::uint32_t>* known = unnamed ? &machines[rank.rank - *rank.device] : nullptr;
        if (unnamed) {
            ends[i] = ends_of(job, rank);
            for (std::uint32_t other : *known) {
                const std::vector<End>& of_other = ends[clocks[other].ranks.back()];
                if (agree(ends[i], of_other) && agree(of_other, ends[i])) joined = other;
            }
        }
        if (joined == kNone) {
            joined = static_cast<std::uint32_t>(clocks.size());
            clocks.push_back({clock.name, clock.host, {}});
            if (unnamed) known->push_back(joined);
        }
        rank.clock = joined;
        clocks[joined].ranks.push_back(i);
    }
    for (Job::Clock& clock : clocks)
        if (!clock.host && clock.ranks.size() > 1) clock.name = name_of_machine(job, clock.ranks);
    job.clocks = std::move(clocks);
}

std::string name_of_machine(const Job& job, const std::vector<std::uint32_t>& ranks) {
    RankList numbers;
    for (std::uint32_t rank : ranks) numbers.push_back(job.ranks[rank].rank);
    bool one_range = numbers.back() - numbers.front() + 1 == static_cast<std::int32_t>(numbers.size());
    return one_range ? fmt::format("of ranks {}-{}", numbers.front(), numbers.back())
                     : fmt::format("of ranks {}", format_ranks(numbers));
}

JobHosts JobHosts::make(const Facts& facts) {
    const Job& job = facts.get<Job>();
    const AlignedClocks& clocks = facts.get<AlignedClocks>();
    JobHosts found;
    found.of_rank.assign(job.ranks.size(), kNone);
    std::vector<std::uint32_t> host_of_clock(job.clocks.size(), kNone);
    for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank) {
        std::uint32_t clock = job.ranks[rank].clock;
        if (host_of_clock[clock] == kNone) {
            bool near = false;
            if (rank > 0 && !job.clocks[clock].host && clocks.clocks[clock].aligned) {
                std::uint32_t before = job.ranks[rank - 1].clock;
                const ClockFit &own = clocks.clocks[clock], &other = clocks.clocks[before];
                near = !job.clocks[before].host && other.aligned && own.island == other.island &&
                       job.ranks[rank].rank == job.ranks[rank - 1].rank + 1 &&
                       std::abs(own.offset_ns - other.offset_ns) <= kSameHostNs &&
                       std::abs(own.rate_ppm - other.rate_ppm) <= kSameHostPpm;
            }
            if (near) {
                host_of_clock[clock] = found.of_rank[rank - 1];
                found.hosts[host_of_clock[clock]].inferred = true;
            } else {
                host_of_clock[clock] = static_cast<std::uint32_t>(found.hosts.size());
                found.hosts.push_back({job.clocks[clock].name, !job.clocks[clock].host, {}});
            }
        }
        found.of_rank[rank] = host_of_clock[clock];
        found.hosts[host_of_clock[clock]].ranks.push_back(rank);
    }
    for (JobHost& host : found.hosts)
        if (host.inferred && host.ranks.size() > 1) host.name = name_of_machine(job, host.ranks);
    return found;
}

std::optional<LoneHost> lone_host(const Facts& facts) {
    const Job& job = facts.get<Job>();
    const JobHosts& hosts = facts.get<JobHosts>();
    struct Role {
        std::set<std::uint32_t> hosts;
        std::vector<double> idle;  // by step: the median of its ranks
    };
    std::map<std::uint32_t, Role> roles;
    for (const auto& [key, steps] : facts.get<Peers>().equal_steps) {
        Role& role = roles[key.second];
        std::vector<double> idle;
        for (std::uint32_t i : steps) {
            role.hosts.insert(hosts.of_rank[job.rank_steps[i].rank]);
            idle.push_back(static_cast<double>(job.rank_steps[i].own.host));
        }
        role.idle.push_back(median_of(std::move(idle)));
    }
    double least = std::numeric_limits<double>::max();
    for (auto& [number, role] : roles) least = std::min(least, median_of(role.idle));
    std::optional<LoneHost> found;
    if (hosts.hosts.size() < 2) return found;
    for (auto& [number, role] : roles) {
        double more = median_of(role.idle) - least;
        if (role.hosts.size() == 1 && more > (found ? found->more_ns : 0)) found = {*role.hosts.begin(), more};
    }
    return found;
}

}  // namespace gpuprof::ranks
