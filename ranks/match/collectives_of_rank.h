// The collectives of one rank, and how they depend on each other: before each, the rank worked on its own, since the
// collective that it waited for last. Collectives that ran beside compute held nobody up and are not waited for.
// Collectives that the CPU executes (Gloo) are ranges on host threads; before each, time counts as input or the host's.
#pragma once

#include "core/base/large_vector.h"
#include "ranks/match/rank_collective.h"
#include "ranks/reduce/rank_steps.h"

namespace gpuprof::inline ranks {

// Those of the CPU, if no device has any; else by device, then start.
LargeVector<RankCollective> collectives_of_rank(const Facts& facts, const RankSteps& steps);

}  // namespace gpuprof::ranks
