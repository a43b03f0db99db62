// The collectives of a rank and their groups, as rows of rank_collective, rank_transfer and rank_group. Private to reduce.cc.
#pragma once

#include <cstdint>

#include "core/base/large_vector.h"
#include "core/model/build/trace_builder.h"
#include "ranks/match/rank_collective.h"
#include "ranks/reduce/rank_steps.h"

namespace gpuprof::inline ranks {

// `world`: ranks of the job; 0: unknown.
void reduce_collectives(const Trace& trace, std::int32_t rank, std::int64_t world, const RankSteps& steps,
                        const LargeVector<RankCollective>& points, Batch& into);

}  // namespace gpuprof::ranks
