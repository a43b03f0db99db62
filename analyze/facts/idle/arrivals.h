// How work comes to a device: one unit after the other, or when somebody asks for it. A unit of work is a burst of kernels between
// two long pauses; there are no units where pauses have all lengths. If the thread that submits it slept in the pauses, the time
// from one unit to the next says what it waited for: a clock (frames, ticks) or requests, which come at irregular times. A program
// that computes between units, or of whose pauses nothing is known, is neither; only inference whose units are alike, hardly occupy
// the device and come irregularly is suspected of waiting (`unproved`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/ids.h"

namespace gpuprof::inline facts {

class Facts;

enum class ArrivalPattern : std::uint8_t {
    none,
    paced,     // units start at a constant period
    requests,  // units start at irregular times, after the thread slept
    unproved,  // like paced or requests, but nothing of the host was recorded in the pauses
};

struct Arrivals {
    ArrivalPattern pattern = ArrivalPattern::none;
    std::size_t units = 0;
    DurNs unit = 0;             // median length
    DurNs period = 0;           // from start to start: typical if constant, else mean
    bool constant = false;      // the period
    DurNs shortest_pause = 0;   // pauses are at least this long
    StringId name = kNoString;  // of the range around each unit, if there is one
    static Arrivals make(const Facts& facts);
};

}  // namespace gpuprof::facts
