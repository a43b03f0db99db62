// Whether so much device work is known to be missing that apparent idle time may be unrecorded work.
#pragma once

#include "core/model/trace.h"

namespace gpuprof::inline facts {

inline constexpr double kMaxMissingShare = 0.05;  // share of the device work

inline bool work_missing(const Trace& trace) { return trace.completeness().missing_share() > kMaxMissingShare; }

}  // namespace gpuprof::facts
