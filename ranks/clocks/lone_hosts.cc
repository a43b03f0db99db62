#include "ranks/clocks/lone_hosts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "ranks/clocks/clocks.h"
#include "ranks/price/peers.h"
#include "ranks/price/quantile.h"

namespace gpuprof::inline ranks {

std::optional<LoneHost> lone_host(const Facts& facts) {
    const Job& job = facts.get<Job>();
    const JobHosts& hosts = facts.get<JobHosts>();
    struct Role {
        std::set<std::uint32_t> hosts;
        std::vector<double> idle;  // by step: the median of its ranks
    };
    std::map<std::uint32_t, Role> roles;
    for (const auto& [key, steps] : facts.get<Peers>().alike) {
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
