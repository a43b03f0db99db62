// Fusing chains of elementwise kernels: what a compiler does to consecutive operators on one tensor.
#pragma once

#include "analyze/replay/estimate.h"
#include "analyze/replay/graph.h"

namespace gpuprof::inline replay {

// Each chain of up to 64 consecutive elementwise kernels of a stream, with durations within a factor of three and no wait for
// one of them in between, becomes one kernel as long as the longest; at Estimate::low as long as that and 30 % of the rest.
bool fuse_elementwise(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate);

}  // namespace gpuprof::replay
