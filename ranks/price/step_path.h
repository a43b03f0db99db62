// The critical path of one step over ranks: what makes it as long as it is.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/model/interval.h"

namespace gpuprof::inline ranks {

// A piece of the critical path of a step: a rank's own work before it arrives, or the transfer after it, on the common
// clock.
struct PathPiece {
    std::uint32_t rank = 0;
    Interval time;
    bool transfer = false;
};

// From the last end of the step back to `begin`, a time of the common clock: at a collective to the rank that arrived
// last, else to what the rank did before. In the order of time. Where two arrivals are closer than the error of their
// clocks, the later one is taken.
std::vector<PathPiece> critical_path(const Facts& facts, std::int64_t step, TimeNs begin);

}  // namespace gpuprof::ranks
