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

// When the work that each collective needs had ended: kernels that the host launched before it, on any stream. Compute that was
// launched later and ran before it began holds it up in no replay.
//
// Sets RankCollective::queued and ::needed of the points of a device, from index `first`; without its launch, all work until it
// began is needed. A communicator whose collectives begin before the compute that was launched before them waits for other
// events: of these, one that began when a kernel ended needs that, and one that queued needs what the one before it does.
void find_needed_work(const Facts& facts, std::int32_t device, std::size_t first, LargeVector<RankCollective>& points);

// When the host launched each collective, counted from the last moment at which it waited for the device. The host is
// ahead of the device most of the time, so a delay of the host shows on the device only where nothing else is later;
// here it shows always.
//
// Sets waited_for, lead and lead_input of points[first], ..., the collectives of one device. Without recorded launches
// or waits of the host, they stay as they are.
void find_leads(const Facts& facts, const OwnTimes& own, std::size_t first, LargeVector<RankCollective>& points);

}  // namespace gpuprof::ranks
