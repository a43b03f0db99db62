// A lane at several resolutions, so that a picture of any length of time is drawn from few slices. The level of resolution r has one
// slice for all that is shorter than r and begins in the same r-wide bin of time; what is longer stays as it is. Levels are made from
// each other, which gives the same as making them from the events, since the bins nest.
#pragma once

#include <vector>

#include "core/view/scene.h"

namespace gpuprof {

struct MergedSlice {
    TimeNs start = 0;
    DurNs dur = 0;              // to the largest end
    StringId name = kNoString;  // of the longest
    Row row = kNoRow;           // of the first
    std::int64_t count = 0;     // events
    DurNs busy = 0;             // their durations together
    DurNs longest = 0;          // the longest of them
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

// The levels above the events, the finest first; each has at most half as many items as the one below, the last one few.
std::vector<Level<MergedSlice>> levels_of(const PodVector<Slice>& slices);
std::vector<Level<MergedValue>> levels_of(const PodVector<Value>& values);

}  // namespace gpuprof
