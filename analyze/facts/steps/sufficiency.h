// Whether a recording contains enough work to judge it.
#pragma once

#include <string>

#include "core/model/trace.h"

namespace gpuprof::inline facts {

class Facts;

// Whether so much device work is known to be missing that apparent idle time may be unrecorded work.
inline constexpr double kMaxMissingShare = 0.05;  // share of the device work

inline bool work_missing(const Trace& trace) { return trace.completeness().missing_share() > kMaxMissingShare; }

// Few kernels, or few copies without any kernel, on a device that is hardly used: no part of it repeats.
bool too_little_work(const Facts& facts);

struct Sufficiency {
    std::string insufficient_because;     // a sentence; "" if it does
    std::string idle_unreliable_because;  // why idle time is not meaningful; "" if it is
    static Sufficiency make(const Facts& facts);
};

}  // namespace gpuprof::facts
