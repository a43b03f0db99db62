// When the host launched each collective, counted from the last moment at which it waited for the device. The host is
// ahead of the device most of the time, so a delay of the host shows on the device only where nothing else is later;
// here it shows always.
#pragma once

#include "core/base/large_vector.h"
#include "ranks/match/rank_collective.h"

namespace gpuprof::inline facts {
class Facts;
}

namespace gpuprof::inline ranks {

// Sets waited_for, lead and lead_input of points[first], ..., the collectives of one device. Without recorded launches
// or waits of the host, they stay as they are.
void find_leads(const Facts& facts, const OwnTimes& own, std::size_t first, LargeVector<RankCollective>& points);

}  // namespace gpuprof::ranks
