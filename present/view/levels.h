// A lane at several resolutions, so that any time span is drawn from few slices. The level of resolution r has one
// slice for all events that are shorter than r and start in the same r-wide time bin; longer events are unchanged. Each
// level is built from the previous one, which gives the same result as building from the events, because the bins nest.
// So a part of a level can be built again from the events that it stands for, and only levels with few items are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "present/view/scene.h"
#include "present/view/slices.h"

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
    PodVector<Merged> items;  // may be released
};
template <class Merged>
using SeeLevel = std::function<void(Level<Merged>&)>;

// The levels above the events, finest first. Each has at most half the items of the one below; the last one has few. `made`: called in this
// order for each level that no other is built from any more.
std::vector<Level<MergedSlice>> levels_of(const Slices& slices, const SeeLevel<MergedSlice>& made = {});
std::vector<Level<MergedValue>> levels_of(const PodVector<Value>& values, const SeeLevel<MergedValue>& made = {});

// The items of a level that stand for events `begin` to `end`, the first of which begins an item.
PodVector<MergedSlice> merged_items(const Slices& events, std::size_t begin, std::size_t end, DurNs resolution);
PodVector<MergedValue> merged_items(const PodVector<Value>& events, std::size_t begin, std::size_t end,
                                    DurNs resolution);

// A chunk of a level, as listed in the manifest.
struct Chunk {
    std::size_t blob = 0, first = 0, count = 0;
    std::optional<std::size_t> stacks = {};  // blob: of its events, each one's frame
    TimeNs start = 0, end = 0;
    std::int64_t events_before = 0;
    DurNs time_before = 0;
};

// A lane at its resolutions, cut into the chunks that the manifest lists.
struct LaneParts {
    std::vector<Level<MergedSlice>> slices;
    std::vector<Level<MergedValue>> values;
    std::vector<std::vector<Chunk>> chunks;  // per level, events first
    std::size_t levels() const { return 1 + slices.size() + values.size(); }
    DurNs resolution(std::size_t level) const {
        if (level == 0) return 0;
        return slices.empty() ? values[level - 1].resolution : slices[level - 1].resolution;
    }
};

}  // namespace gpuprof::view
