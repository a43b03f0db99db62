#include "analyze/replay/kernel_overlap.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/model/interval.h"

namespace gpuprof::inline replay {

KernelOverlap kernel_overlap(const ReplayGraph& graph, const Scenario& scenario, const PodVector<TimeNs>& times) {
    std::map<std::int32_t, std::vector<Interval>> by_device;
    for (Point p = 0; p < graph.points(); ++p) {
        if (graph.info[p].kind != PointKind::op || op_kind(graph.object[p]) != DeviceOp::kernel) continue;
        if (scenario.length[p] > 0)
            by_device[graph.streams[graph.info[p].lane].device].push_back({times[p], times[p] + scenario.length[p]});
    }
    KernelOverlap found;
    for (auto& [device, spans] : by_device) {
        std::sort(spans.begin(), spans.end(), [](const Interval& a, const Interval& b) { return a.start < b.start; });
        TimeNs until = spans.front().start;
        for (const Interval& span : spans) {
            found.kernels += span.length();
            found.overlap += std::max<DurNs>(0, std::min(until, span.end) - span.start);
            until = std::max(until, span.end);
        }
    }
    return found;
}

}  // namespace gpuprof::replay
