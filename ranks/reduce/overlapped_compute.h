// Compute that a collective needed and that ran while the one that it follows was still waiting or transferring. If that
// one had ended earlier, this would have had to wait for the compute all the same.
#pragma once

#include <cstddef>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "core/base/large_vector.h"
#include "ranks/match/rank_collective.h"

namespace gpuprof::inline ranks {

// Sets RankCollective::overlapped_compute of the points of a device, from index `first`. A collective needs the kernels that were launched
// before it. Without its launch: all of them, unless it was queued, which tells nothing.
void find_overlapped_compute(const Facts& facts, const DeviceActivity& device, std::size_t first,
                             LargeVector<RankCollective>& points);

}  // namespace gpuprof::ranks
