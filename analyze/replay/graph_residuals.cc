// Lags of classes, and what is missing to the recorded times.
#include <algorithm>
#include <limits>
#include <utility>

#include "analyze/replay/graph_builder.h"

namespace gpuprof::inline replay {
namespace {

constexpr DurNs kMaxResidual = std::numeric_limits<std::int32_t>::max();
constexpr DurNs kUsualLaunchCall = 5'000, kUsualReturnBase = 3'000;

}  // namespace

void GraphBuilder::set_residual(ReplayEdge& edge, DurNs residual) {
    if (residual >= -kMaxResidual && residual <= kMaxResidual) {
        edge.residual = static_cast<std::int32_t>(residual);
        return;
    }
    edge.lag = classes_.with_extra(edge.lag, residual);
}

// Cuts edges that say "later" than recorded. Returns the edge that leaves least time to the recorded time, and how much.
std::pair<ReplayEdge*, DurNs> GraphBuilder::cut_late_edges(Point p) {
    const TimeNs time = time_of(p);
    ReplayEdge* binding = nullptr;
    DurNs least = std::numeric_limits<DurNs>::max();
    for (std::uint32_t e = graph_.first_edge[p]; e < graph_.first_edge[p + 1]; ++e) {
        ReplayEdge& edge = graph_.edges[e];
        graph_.reach = std::max(graph_.reach, p - edge.source);
        DurNs lag = classes_.lag(edge.lag) + (edge.from_end ? graph_.length[edge.source] : 0);
        DurNs slack = time - (time_of(edge.source) + lag);
        if (slack < 0) set_residual(edge, slack);
        slack = std::max<DurNs>(slack, 0);
        if (edge.kind != EdgeKind::bypass && slack < least) {
            least = slack;
            binding = &edge;
        }
    }
    return {binding, least};
}

// Adds what is missing to the edge that binds.
void GraphBuilder::explain_op(Point p) {
    auto [binding, missing] = cut_late_edges(p);
    if (binding == nullptr || missing == 0) return;
    set_residual(*binding, missing);
    if (graph_.info[p].in_step) graph_.unexplained_ns += missing;
}

// What a call costs without waiting: the median of those that did not. A release costs at most what the shortest does.
DurNs GraphBuilder::base_cost(Row call, CallKind kind) {
    if (kind == CallKind::launch) return kUsualLaunchCall;
    StringId name = call_name(call);
    std::uint16_t base = classes_.id(EdgeKind::sync_return, 1, index_of(name), kUsualReturnBase);
    if (kind != CallKind::allocation || classes_.samples(base) > 0) return classes_.lag(base);
    auto [shortest, first] = shortest_call_.try_emplace(name, std::numeric_limits<DurNs>::max());
    if (first) {
        const ApiCallTable& calls = trace_.api_call();
        for (Row row = 0; row < calls.rows; ++row)
            if (calls.name.value_or(row, kNoString) == name)
                shortest->second = std::min(shortest->second, calls.dur[row]);
    }
    return shortest->second;
}

// A call that waited returns when the device is done, and not before it could have returned without waiting.
void GraphBuilder::explain_host(Point p, bool first) {
    DurNs recorded = graph_.length[p];
    DurNs base = recorded;
    const PointInfo& info = graph_.info[p];
    if (info.idle) {
        base = 0;
    } else if (info.waits) {
        base = std::clamp<DurNs>(base_cost(graph_.object[p], info.call), 0, recorded);
    }
    auto [binding, least] = cut_late_edges(p);
    // A thread that begins when another hands over to it begins at no time of its own.
    bool handed = first && binding != nullptr && info.idle;
    if (handed) graph_.thread_start[info.lane] = std::numeric_limits<TimeNs>::min();
    bool host_binds = !handed && (first || binding == nullptr || recorded - base <= least);
    graph_.length.set(p, host_binds ? recorded : base);
    if (!host_binds && least > 0) set_residual(*binding, least);
}

void GraphBuilder::explain_points() {
    classes_.take_medians();
    std::vector<bool> begun(host_.lanes.size());
    for (Point p = 0; p < graph_.points(); ++p) {
        const PointInfo& info = graph_.info[p];
        if (info.kind == PointKind::op) {
            explain_op(p);
            continue;
        }
        if (graph_.first_edge[p] != graph_.first_edge[p + 1]) explain_host(p, !begun[info.lane]);
        begun[info.lane] = true;
    }
    graph_.lags = classes_.lags();
    graph_.stream_lags = classes_.between_kernels();
    graph_.node_lags = classes_.between_nodes();
}

}  // namespace gpuprof::replay
