// The collectives of one rank, and how they depend on each other: before each, the rank worked on its own, since the
// collective that it waited for last. Collectives that ran beside compute held nobody up and are not waited for.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analyze/facts/collective_records.h"
#include "core/analyze/ranks/own_time.h"
#include "core/analyze/ranks/rank_steps.h"

namespace gpuprof {

inline constexpr std::uint32_t kFollowsNothing = 0;

struct SyncPoint {
    Row kernel = kNoRow;
    Row record = kNoRow;  // of table collective; kNoRow: not recorded
    std::int32_t device = -1;
    std::size_t step = 0;  // index in RankSteps
    Interval span;
    CollectiveMessage message;
    std::uint32_t follows = kFollowsNothing;  // how many points before; the first ones of a device follow nothing
    bool queued = false;                      // began when the one before it on its stream ended
    OwnTime own;                              // between the end of what it follows and its start
};

// By device, then start.
std::vector<SyncPoint> sync_points(const Facts& facts, const RankSteps& steps);

}  // namespace gpuprof
