// Warp samples of a function, over all its launches, in the form of counters of a launch.
#pragma once

#include <utility>
#include <vector>

#include "analyze/facts/kernels/source_lines.h"
#include "analyze/knowledge/kernel_metrics.h"

namespace gpuprof::inline facts {

// Sorted by metric; every reason, because a reason without samples was looked for too. Empty if the function has no samples.
std::vector<std::pair<KernelMetric, double>> samples_as_counters(const SourceLines& lines, StringId function);

}  // namespace gpuprof::facts
