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
    std::vector<Row> batch;  // as in KernelCalls
    // The work that it needs ended then, at most at its start: what the host had launched before it.
    TimeNs needed = 0;
    bool queued = false;  // began when the one before it on its stream ended
    // The collective that this work waited for last: how many points before. The first ones of a device follow nothing. And what
    // the rank did since that one ended, or since the step began: compute until `needed`, idle time until its start.
    std::uint32_t follows = kFollowsNothing;
    OwnTime own;
    // The collective that work waited for last before this one ended: how many points before, or after if negative. And what the
    // rank did since that one ended, or since the step began, until this one ended: it did not wait for this one.
    std::int32_t wait_before = 0;
    DurNs overlapped = 0;
    // When the host launched it (collective_launches.h): how many points before is the one that had ended last when the host last
    // waited for the device, and the time from that end to the launch.
    std::uint32_t waited_for = kFollowsNothing;
    DurNs lead = 0, lead_input = 0;
};

}  // namespace gpuprof::ranks
