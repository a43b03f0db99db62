// The points of the host threads that submit device work: outermost calls, and cuts at steps, input ranges and hand-overs.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analyze/facts/step_finder.h"
#include "core/analyze/replay/graph.h"
#include "core/analyze/replay/hand_over.h"
#include "core/base/pod_vector.h"
#include "core/model/interval.h"

namespace gpuprof {

struct HostLane {
    StringId thread = kNoString;
    PodVector<TimeNs> time;  // by point, ascending
    PodVector<PointInfo> info;
    PodVector<std::uint32_t> object;
    PodVector<RecordedWork> work;  // empty when the recorder's cost is unknown
};

struct HostLanes {
    std::vector<HostLane> lanes;
    std::vector<HandOver> hand_overs;
    std::vector<StringId> independent;
    std::vector<Step> steps;  // of the host if `host_steps`, otherwise of the device
    bool host_steps = false;
    StringId step_thread = kNoString;
    PodVector<Row> outer_call;  // by row of api_call: the outermost call around it; empty if no call is nested
    static constexpr std::size_t kMaxLanes = 256;
    static HostLanes make(const Facts& facts);
};

}  // namespace gpuprof
