// Hand-overs between host threads, by their activity: thread B works only inside pauses of thread A, in which A begins and ends
// nothing and is in no call. Autograd does that: the main thread waits in backward() while the engine's thread submits.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/model/interval.h"

namespace gpuprof::inline replay {

// Recorded activity of one thread.
struct ThreadActivity {
    std::vector<TimeNs> bounds;  // starts and ends of everything recorded, ascending
    IntervalSet calls;           // inside calls of the driver or runtime
    IntervalSet active;          // inside anything recorded but ranges
};

// One visit: A pauses from `pause.start` to `pause.end`, and B works from `work.start` to `work.end` in between.
struct HandOver {
    std::size_t from = 0, to = 0;  // lanes A and B
    Interval pause, work;
};

// Visits of B to the pauses of A; empty unless they are nearly all that B does.
std::vector<HandOver> find_hand_overs(const ThreadActivity& a, const ThreadActivity& b);

}  // namespace gpuprof::replay
