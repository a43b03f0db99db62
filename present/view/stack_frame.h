// A frame is an event's name below the frame of the event that encloses it. Frames have plain names, so that instances
// that differ by a number share a frame.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/pod_vector.h"
#include "core/base/string_pool.h"
#include "present/view/slice_table.h"

namespace gpuprof::inline view {

inline constexpr std::uint32_t kNoFrame = 0xffff'ffff;

struct StackFrame {
    std::uint32_t parent = kNoFrame;
    SliceTable table = SliceTable::none;  // of its events; none: a thread
    StringId name = kNoString;            // in CallStacks::names
};

struct CallStacks {
    std::vector<StackFrame> frames;                 // parents before children
    std::vector<PodVector<std::uint32_t>> of_lane;  // for each lane of the scene, the frame of each slice; may be empty
    StringPool names;
};

}  // namespace gpuprof::view
