#include <cmath>

#include "analyze/facts/facts.h"
#include "ranks/clocks/clocks.h"
#include "ranks/clocks/one_machine.h"

namespace gpuprof::inline ranks {
namespace {

// Clocks of the GPUs of one host differ by a few microseconds; those of two hosts nearly never by so little.
constexpr double kSameHostNs = 10'000;
constexpr double kSameHostPpm = 3;

}  // namespace

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

}  // namespace gpuprof::ranks
