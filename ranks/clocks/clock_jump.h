// A clock that was set during a recording. Its distance from the other clocks then has a step, which no offset and rate
// describe. Private to clocks.cc and its tests.
#pragma once

#include <optional>
#include <vector>

namespace gpuprof::inline ranks {

// How far a clock is ahead of the others at a time, in ns.
struct ClockLead {
    double time, lead;
};

struct ClockJump {
    double time;  // between two of the leads
    double size;  // ns
};

// The step that explains most of the differences. Nothing if there are too few leads on a side of it, or the sides are as
// uneven themselves. Sorts the leads.
std::optional<ClockJump> find_jump(std::vector<ClockLead>& leads);

}  // namespace gpuprof::ranks
