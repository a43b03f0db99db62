// The call stack of every slice of a timeline, so that any stretch can be summed by name and by stack. Device work is
// below the call that submitted it, and that below its stack if one was recorded (`record --launch-stacks`); a piece of idle time is below the innermost event that was open during all of it, on
// the thread that explains it.
//
// Invariant: at any time, what is open on a thread is one path of frames, the later start below. An event that outlasts what it started in is cut there,
// and its rest lies on what is still open. So the self time of a frame is its time minus that of the frames directly below, and never negative.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/facts/host/graph_origins.h"
#include "core/base/ids.h"
#include "core/base/string_pool.h"
#include "core/model/column.h"
#include "present/view/scene.h"

namespace gpuprof::inline view {

// The name of an event without the number of the instance: step#12 is step*, and aten::add, op_id = 7 is aten::add. The
// same rules as web/model/recording/plain_name.ts.
std::string plain_name(std::string_view name);

// A frame is an event's name below the frame of the event that encloses it. Frames have plain names, so that instances
// that differ by a number share a frame.
inline constexpr std::uint32_t kNoFrame = 0xffff'ffff;

struct StackFrame {
    std::uint32_t parent = kNoFrame;
    SliceTable table = SliceTable::none;  // of its events; none: a thread
    StringId name = kNoString;            // in CallStacks::names
};

// At `time` a slice moves elsewhere.
struct StackCut {
    std::uint32_t lane = 0;
    std::size_t slice = 0;
    TimeNs time = 0;
    std::uint32_t frame = kNoFrame;
    auto operator<=>(const StackCut&) const = default;
};

struct CallStacks {
    std::vector<StackFrame> frames;             // parents before children
    std::vector<Column<std::int32_t>> of_lane;  // for each lane of the scene, the frames of frame(); may be empty
    std::vector<StackCut> cuts;                 // in order
    StringPool names;

    // The frame at the start of a slice; kNoFrame: none.
    std::uint32_t frame(std::size_t lane, std::size_t slice) const {
        return static_cast<std::uint32_t>(of_lane[lane].value_or(static_cast<Row>(slice), -1));
    }
};

CallStacks call_stacks(const Trace& trace, const Scene& scene, const GraphOrigins& origins);

}  // namespace gpuprof::view
