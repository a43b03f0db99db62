// Ranks of one machine, where no recording names it. Launchers number the ranks of a machine in the order of its GPUs, and
// its processes share a clock. So ranks whose numbers are as far apart as their GPUs are of one machine if the ends of
// their collectives agree as they are: clocks of two machines differ by more, as a rule, and if not, nothing is lost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ranks/job/job.h"

namespace gpuprof::inline ranks {

// Gives such ranks one clock.
void join_clocks(Job& job);

// "of ranks 0-7". `ranks`: indices in Job::ranks.
std::string name_of_machine(const Job& job, const std::vector<std::uint32_t>& ranks);

}  // namespace gpuprof::ranks
