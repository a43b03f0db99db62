// What the collectives are that no record describes and that their kernels do not name: NCCL sends and receives with the
// kernel that also serves all-to-all, and RCCL has one kernel for everything. PyTorch launches them within an operator or
// range that says it ("nccl:all_to_all").
#pragma once

#include "core/base/large_vector.h"
#include "ranks/match/rank_collective.h"

namespace gpuprof::inline ranks {

// Sets message.kind of such points.
void name_kinds_by_range(const Trace& trace, LargeVector<RankCollective>& points);

}  // namespace gpuprof::ranks
