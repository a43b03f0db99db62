// Why launches were not measured, as sentences with a remedy.
#pragma once

#include <string>

#include "collect/counters/spooled_images.h"

namespace gpuprof::counters {

// Such as "12 launches of collective kernels (first: ncclDevKernel...): replaying ... ".
std::string explain_skip(spool::CounterSkip reason, const Skipped& skipped);

}  // namespace gpuprof::counters
