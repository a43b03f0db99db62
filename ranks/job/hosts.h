// Ranks of one machine, where no recording names it. Launchers number the ranks of a machine in the order of its GPUs, and
// its processes share a clock. So ranks whose numbers are as far apart as their GPUs are of one machine if the ends of
// their collectives agree as they are: clocks of two machines differ by more, as a rule, and if not, nothing is lost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/facts/facts.h"
#include "ranks/job/job.h"

namespace gpuprof::inline ranks {

// Gives such ranks one clock.
void join_clocks(Job& job);

// "of ranks 0-7". `ranks`: indices in Job::ranks.
std::string name_of_machine(const Job& job, const std::vector<std::uint32_t>& ranks);

// Hosts that nothing can be compared with: all ranks that do the same, as those of a stage of a pipeline, are on one host.
// If that is slow, all peers are slow alike.
struct LoneHost {
    std::uint32_t host = 0;  // index in JobHosts::hosts
    // Per step: how much longer its devices are idle for the host than those of other roles, at least.
    double more_ns = 0;
};

// The one with the most; absent if there is none or only one host.
std::optional<LoneHost> lone_host(const Facts& facts);

}  // namespace gpuprof::ranks
