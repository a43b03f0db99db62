// Whether a time was read from a clock that tells the time of day, counted from 1970.
#pragma once

#include "core/base/ids.h"

namespace gpuprof::inline model {

// 9 September 2001; no other clock gets that far.
inline constexpr TimeNs kTimeOfDay = TimeNs{1'000'000'000} * 1'000'000'000;

}  // namespace gpuprof::model
