// The order in which gaps are listed, which is what their handles (gap-1, gap-2, ...) count.
#pragma once

#include <vector>

#include "core/analyze/idle_cause.h"
#include "core/analyze/study.h"

namespace gpuprof {

// Gaps of at least options().gap_min_ns, the longest first, then by start, then by device.
std::vector<const IdleGap*> gaps_by_length(const Study& study);

}  // namespace gpuprof
