// A lane at its resolutions, cut into the chunks that the manifest lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "present/view/levels.h"

namespace gpuprof::inline view {

// A chunk of a level, as listed in the manifest.
struct Chunk {
    std::size_t blob = 0, first = 0, count = 0;
    TimeNs start = 0, end = 0;
    std::int64_t events_before = 0;
    DurNs time_before = 0;
};

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
