// Drivers sometimes report success with a nonsensical value (all bits set, or the value of another field). Implausible
// values are dropped and reported, never clamped.
#pragma once

#include "core/schema/metrics.h"

namespace gpuprof::inline schema {

// Whether a device can have this value at all. NaN is implausible.
bool plausible(Metric metric, double value);

}  // namespace gpuprof::schema
