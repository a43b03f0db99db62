// Drivers sometimes answer success with nonsense (all bits set, values of another field). What cannot be true is left out
// and said, never clamped.
#pragma once

#include "core/schema/metrics.h"

namespace gpuprof {

// Whether a device can have this value at all. NaN cannot.
bool plausible(Metric metric, double value);

}  // namespace gpuprof
