// A lane at several resolutions, so that any time span is drawn from few slices. The level of resolution r has one
// slice for all events that are shorter than r and start in the same r-wide time bin; longer events are unchanged. Each
// level is built from the previous one, which gives the same result as building from the events, because the bins nest.
#pragma once

#include <vector>

#include "present/view/scene.h"

namespace gpuprof::inline view {

struct MergedSlice {
    TimeNs start = 0;
    DurNs dur = 0;              // to the latest end
    StringId name = kNoString;  // of the longest
    Row row = kNoRow;           // of the first
    std::int64_t count = 0;     // events
    DurNs busy = 0;             // sum of their durations
    DurNs longest = 0;          // their longest duration
};

struct MergedValue {
    TimeNs time = 0;  // of the first
    double mean = 0, low = 0, high = 0;
    std::int64_t count = 0;
};

template <class Merged>
struct Level {
    DurNs resolution = 0;
    PodVector<Merged> items;
};

// The levels above the events, finest first. Each has at most half the items of the one below; the last one has few.
std::vector<Level<MergedSlice>> levels_of(const PodVector<Slice>& slices);
std::vector<Level<MergedValue>> levels_of(const PodVector<Value>& values);

}  // namespace gpuprof::view
