// What the launches of a rank's collectives say about them: their kinds, the compute that they needed, and how late the host was.
#pragma once

#include <cstddef>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "core/base/large_vector.h"
#include "ranks/match/rank_collective.h"

namespace gpuprof::inline ranks {

// What the collectives are that no record describes and that their kernels do not name: NCCL sends and receives with the
// kernel that also serves all-to-all, and RCCL has one kernel for everything. PyTorch launches them within an operator or
// range that says it ("nccl:all_to_all"). Sets message.kind of such points.
void name_kinds_by_range(const Trace& trace, LargeVector<RankCollective>& points);

// Compute that a collective needed and that ran while the one that it follows was still waiting or transferring. If that
// one had ended earlier, this would have had to wait for the compute all the same.
//
// Sets RankCollective::overlapped_compute of the points of a device, from index `first`. A collective needs the kernels that were launched
// before it. Without its launch: all of them, unless it was queued, which tells nothing.
void find_overlapped_compute(const Facts& facts, const DeviceActivity& device, std::size_t first,
                             LargeVector<RankCollective>& points);

// When the host launched each collective, counted from the last moment at which it waited for the device. The host is
// ahead of the device most of the time, so a delay of the host shows on the device only where nothing else is later;
// here it shows always.
//
// Sets waited_for, lead and lead_input of points[first], ..., the collectives of one device. Without recorded launches
// or waits of the host, they stay as they are.
void find_leads(const Facts& facts, const OwnTimes& own, std::size_t first, LargeVector<RankCollective>& points);

}  // namespace gpuprof::ranks
