// The points of the host threads that submit device work: outermost calls, and cuts at steps, input ranges and hand-overs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/facts/steps/iterations.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/replay/graph.h"
#include "core/base/ids.h"
#include "core/base/pod_vector.h"
#include "core/model/interval.h"

namespace gpuprof::inline replay {

// Hand-overs between host threads, by their activity: thread B works only inside pauses of thread A, in which A begins and ends
// nothing and is in no call. Autograd does that: the main thread waits in backward() while the engine's thread submits.

// Times in ascending order, in half of their memory: the lower half of each, and where the upper one changes.
class AscendingTimes {
public:
    std::size_t size() const { return lower_.size(); }
    void push_back(TimeNs time);
    TimeNs operator[](std::size_t i) const;
    // The place of the first that is later.
    std::size_t first_after(TimeNs time) const;

private:
    static constexpr int kBits = 32;
    struct Part {
        std::size_t first;
        TimeNs upper;
    };
    std::vector<Part> parts_;
    PodVector<std::uint32_t> lower_;
};

// Recorded activity of one thread.
struct ThreadActivity {
    AscendingTimes bounds;  // starts and ends of everything recorded
    IntervalSet calls;      // inside calls of the driver or runtime
    IntervalSet with_ops;   // the same, and inside operators; empty if there are none
    const IntervalSet& active() const { return with_ops.empty() ? calls : with_ops; }
};

// One visit: A pauses from `pause.start` to `pause.end`, and B works from `work.start` to `work.end` in between.
struct HandOver {
    std::size_t from = 0, to = 0;  // lanes A and B
    Interval pause, work;
};

// Visits of B to the pauses of A; empty unless they are nearly all that B does.
std::vector<HandOver> find_hand_overs(const ThreadActivity& a, const ThreadActivity& b);

// The points of one thread in order of time. A point takes four bytes, because the calls have the rest: twice the row of its call,
// plus 1 for the end; or kCut and an index of `cuts`.
struct HostLane {
    static constexpr std::uint32_t kCut = 0x80000000u;
    StringId thread = kNoString;
    PodVector<std::uint32_t> points;
    PodVector<TimeNs> cuts;  // ascending
    IntervalSet input;       // inside ranges that fetch input
    EngineStretches::OfThread stretches;
    const ApiCallTable* calls = nullptr;

    std::size_t size() const { return points.size(); }
    bool is_cut(std::size_t at) const { return (points[at] & kCut) != 0; }
    bool is_end(std::size_t at) const { return (points[at] & 1u) != 0; }  // of calls
    Row call(std::size_t at) const { return points[at] / 2; }
    TimeNs time(std::size_t at) const {
        std::uint32_t code = points[at];
        if ((code & kCut) != 0) return cuts[code & ~kCut];
        Row row = code / 2;
        return calls->start[row] + ((code & 1u) != 0 ? calls->dur[row] : 0);
    }
    // The first point at this time or later, and the last at this time or earlier (or -1).
    std::uint32_t first_at(TimeNs time) const;
    std::uint32_t last_at(TimeNs time) const;
};

struct HostLanes {
    std::vector<HostLane> lanes;
    std::vector<HandOver> hand_overs;
    std::vector<StringId> independent;
    std::vector<Step> steps;  // of the host if `host_steps`, otherwise of the device
    bool host_steps = false;
    IntervalSet in_steps, between_steps;
    StringId step_thread = kNoString;
    PodVector<Row> outer_call;  // by row of api_call: the outermost call around it; empty if no call is nested
    std::vector<std::optional<CallKind>> kinds;  // of calls, by the string id of their name; absent: no call has it
    static constexpr std::size_t kMaxLanes = 256;
    static HostLanes make(const Facts& facts);
};

}  // namespace gpuprof::replay
