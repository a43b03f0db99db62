// How far two clocks are apart, from kernels whose ends do not agree because each waits for other ranks too (match.h).
// A receiver cannot end before its sender has arrived and the message has been transferred. That bounds the difference of
// their clocks from one side; a message back bounds it from the other. Where both waited only for each other, the bounds meet.
// Private to clocks.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "ranks/job/job.h"
#include "ranks/match/match.h"

namespace gpuprof::inline ranks {

struct ClockBracket {
    std::uint32_t a = 0, b = 0;  // clocks
    double time = 0;             // of a, ns from `middle`
    double difference = 0;       // what b shows more than a, in ns: the middle of the bounds
    double slack = 0;            // half of their distance
};

// One of each pair of ranks and step, between clocks of different islands, where the bounds are narrow.
// `islands`: by clock.
std::vector<ClockBracket> clock_brackets(const Job& job, const MatchedJob& matched,
                                         const std::vector<std::uint32_t>& islands, TimeNs middle);

}  // namespace gpuprof::ranks
