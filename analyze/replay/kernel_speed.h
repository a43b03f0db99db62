// How much faster kernels could be, from the peaks of their device. A peak is never reached in full, so the effect is a range.
#pragma once

#include "analyze/replay/estimate.h"
#include "analyze/replay/graph.h"

namespace gpuprof::inline replay {

// FP32 matrix products on CUDA cores that arithmetic limits run as TF32 on tensor cores: at half the ratio of the two peaks; at
// Estimate::low twice as fast, at Estimate::high at the ratio. False without such kernels or without both peaks.
bool use_tensor_cores(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate);

// Kernels of operators with recorded shapes reach 80 % (low 60, high 100) of the arithmetic or memory peak that limits them. False
// if no shapes were recorded or no kernel would be faster. Kernels below 25 % of both peaks keep their time: something else limits
// them.
bool reach_peaks(const Facts& facts, const ReplayGraph& graph, Scenario& scenario, Estimate estimate);

}  // namespace gpuprof::replay
