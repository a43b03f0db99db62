// The collectives of one rank, and how they depend on each other: before each, the rank worked on its own, since the
// collective that it waited for last. Collectives that ran beside compute held nobody up and are not waited for.
// Collectives that the CPU executes (Gloo) are ranges on host threads; before each, all time counts as the host's.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analyze/facts/collective_records.h"
#include "core/analyze/ranks/own_time.h"
#include "core/analyze/ranks/rank_steps.h"

namespace gpuprof {

inline constexpr std::uint32_t kFollowsNothing = 0;

struct SyncPoint {
    Row kernel = kNoRow;       // kNoRow: executed by the CPU
    Row record = kNoRow;       // of table collective; kNoRow: not recorded
    std::int32_t device = -1;  // -1: the CPU
    std::int64_t stream = -1;
    std::size_t step = 0;  // index in RankSteps
    Interval span;
    CollectiveMessage message;
    std::uint32_t follows = kFollowsNothing;  // how many points before; the first ones of a device follow nothing
    bool queued = false;                      // began when the one before it on its stream ended
    OwnTime own;                              // between the end of what it follows and its start
};

// Those of the CPU, if no device has any; else by device, then start.
std::vector<SyncPoint> sync_points(const Facts& facts, const RankSteps& steps);

}  // namespace gpuprof
