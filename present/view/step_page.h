// One step of a job as JSON: a bar for each chosen rank on the common clock, and the critical path.
#pragma once

#include <cstdint>
#include <string>

#include "analyze/facts/facts.h"

namespace gpuprof::inline view {

inline constexpr std::size_t kMostBars = 200;
inline constexpr std::size_t kMostSpans = 400;  // of a bar

// `step` is a number of RankJob::steps. Ranks whose clock cannot be compared with the others' are placed at the median
// start, and marked.
std::string step_page(const Facts& facts, std::int64_t step);

}  // namespace gpuprof::view
