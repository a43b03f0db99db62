#include "analyze/replay/graph.h"

#include <algorithm>
#include <limits>

namespace gpuprof::inline replay {
namespace {

constexpr TimeNs kNoTime = std::numeric_limits<TimeNs>::min();

// The latest time that the edges into `p` allow, or kNoTime if none holds.
TimeNs latest(const ReplayGraph& graph, const Scenario& scenario, const PodVector<TimeNs>& times, Point p, bool all) {
    TimeNs time = kNoTime;
    for (std::uint32_t e = graph.first_edge[p]; e < graph.first_edge[p + 1]; ++e) {
        const ReplayEdge& edge = graph.edges[e];
        if (all ? edge.kind == EdgeKind::bypass : !scenario.holds(edge.kind, graph.info[p])) continue;
        time = std::max(time, times[edge.source] + scenario.lag_of(edge));
    }
    return time;
}

TimeNs begin_of_steps(const ReplayGraph& graph, const Scenario& scenario, const PodVector<TimeNs>& times) {
    Point p = 0;
    while (p + 1 < graph.points() && !graph.info[p].in_step) ++p;
    return times[p] - (graph.info[p].kind == PointKind::op ? 0 : scenario.length[p]);
}

}  // namespace

TimeNs recorded_start(const Trace& trace, std::uint32_t code) {
    switch (op_kind(code)) {
        case DeviceOp::kernel: return trace.kernel().start[op_row(code)];
        case DeviceOp::memcpy: return trace.memcpy().start[op_row(code)];
        case DeviceOp::memset: return trace.memset().start[op_row(code)];
        case DeviceOp::none: break;
    }
    return 0;
}

Scenario::Scenario(const ReplayGraph& graph) : length(graph.length), lags(graph.lags) {
    in_steps.fill(true);
    in_steps[static_cast<std::size_t>(EdgeKind::bypass)] = false;
    outside = between = in_steps;
}

PodVector<TimeNs> replay_times(const ReplayGraph& graph, const Scenario& scenario, const Trace& trace) {
    PodVector<TimeNs> times(graph.points());
    std::vector<Point> last(graph.threads.size(), kNoPoint);
    for (Point p = 0; p < graph.points(); ++p) {
        const PointInfo& info = graph.info[p];
        TimeNs time = latest(graph, scenario, times, p, false);
        if (info.kind == PointKind::op) {
            // A change that drops all edges of an op leaves it where the program needs it.
            if (time == kNoTime) time = latest(graph, scenario, times, p, true);
            if (time == kNoTime) time = recorded_start(trace, graph.object[p]);
        } else {
            Point& before = last[info.lane];
            time =
                std::max(time, before == kNoPoint ? graph.thread_start[info.lane] : times[before] + scenario.length[p]);
            before = p;
        }
        times[p] = time;
    }
    return times;
}

std::vector<TimeNs> completions(const ReplayGraph& graph, const Scenario& scenario, const PodVector<TimeNs>& times) {
    std::vector<TimeNs> ends;
    for (const ReplayGraph::Completion& step : graph.steps) {
        TimeNs end = step.host == kNoPoint ? kNoTime : times[step.host];
        for (Point op : step.ops) end = std::max(end, times[op] + scenario.length[op]);
        ends.push_back(end);
    }
    if (ends.size() == 1) ends.insert(ends.begin(), begin_of_steps(graph, scenario, times));
    return ends;
}

}  // namespace gpuprof::replay
