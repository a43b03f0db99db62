// The critical path of a replay: from the completion of the last step back to that of the first, at each point along the edge that
// made it as late as it is. What lies on it sums to the time between the two; shortening anything else gains nothing at first.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "analyze/replay/graph.h"
#include "core/model/interval.h"

namespace gpuprof::inline replay {

enum class PathClass : std::uint8_t {
    kernel,
    copy,         // copies and fills
    input,        // host code that fetches input
    host_code,    // other host code
    launch_call,  // inside calls that submit work
    allocation,
    other_call,
    wait,       // from the end of device work to the return of the call that waited for it
    hand_over,  // between threads
    gap,        // launch latency, and gaps between ops of a stream
};
inline constexpr std::size_t kPathClasses = 10;
std::string_view name_of(PathClass what);

struct PathPart {
    Point point;  // the op, or the host point in front of which the time passed
    PathClass what;
    DurNs dur;
    TimeNs start;
    Point source;   // where it begins: at this point, or at the end of this op; the op itself for its execution
    bool from_end;  // at the end
};

struct CriticalPath {
    PodVector<PathPart> parts;  // last first; empty if something else saw them
    std::array<DurNs, kPathClasses> by_class{};
    DurNs total = 0;
};

// `times` is the replay of `scenario`. `see`: called with each part, last first, instead of keeping them: of a long recording they are
// millions.
using SeePart = std::function<void(const PathPart&)>;
CriticalPath critical_path(const ReplayGraph& graph, const Scenario& scenario, const PodVector<TimeNs>& times,
                           const SeePart& see = {});

// The recorded time of each part, asked for last first. They do not overlap; time between them is not on the path.
class RecordedTimes {
public:
    RecordedTimes(const ReplayGraph& graph, const Trace& trace);
    Interval of(const PathPart& part);

private:
    const ReplayGraph& graph_;
    PodVector<TimeNs> recorded_;  // by point
    TimeNs begin_, next_;         // next_: where the part of the last call begins, which comes later
};

}  // namespace gpuprof::replay
