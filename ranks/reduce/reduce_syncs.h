// The collectives of a rank and their groups, as rows of rank_sync, rank_transfer and rank_group. Private to reduce.cc.
#pragma once

#include <cstdint>

#include "core/analyze/ranks/rank_steps.h"
#include "core/analyze/ranks/sync_point.h"
#include "core/base/large_vector.h"
#include "core/model/trace_builder.h"

namespace gpuprof::inline ranks {

// `world`: ranks of the job; 0: unknown.
void reduce_syncs(const Trace& trace, std::int32_t rank, std::int64_t world, const RankSteps& steps,
                  const LargeVector<SyncPoint>& points, Batch& into);

}  // namespace gpuprof::ranks
