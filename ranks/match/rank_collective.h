// A collective of one rank (collectives_of_rank.h).
#pragma once

#include <cstdint>
#include <vector>

#include "ranks/reduce/kernel_calls.h"
#include "ranks/reduce/own_time.h"

namespace gpuprof::inline ranks {

inline constexpr std::uint32_t kFollowsNothing = 0;

struct RankCollective {
    Row kernel = kNoRow;       // kNoRow: executed by the CPU
    Row record = kNoRow;       // of table collective; kNoRow: not recorded
    std::int32_t device = -1;  // -1: the CPU
    std::int64_t stream = -1;
    std::size_t step = 0;  // index in RankSteps
    Interval span;
    CollectiveMessage message;
    Undescribed undescribed = Undescribed::no;
    std::vector<Row> batch;                   // as in KernelCalls
    std::uint32_t follows = kFollowsNothing;  // how many points before; the first ones of a device follow nothing
    DurNs overlapped_compute = 0;             // compute that it needed and that ran while that one was in flight
    bool queued = false;                      // began when the one before it on its stream ended
    // Between the end of what it follows and its start; if it follows nothing, from the start of the step.
    OwnTime own;
    // When the host launched it (collective_launches.h): how many points before is the one that had ended last when the host last
    // waited for the device, and the time from that end to the launch.
    std::uint32_t waited_for = kFollowsNothing;
    DurNs lead = 0, lead_input = 0;
};

}  // namespace gpuprof::ranks
