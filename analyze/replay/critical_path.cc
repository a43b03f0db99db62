#include "analyze/replay/critical_path.h"

#include <algorithm>
#include <limits>

namespace gpuprof::inline replay {
namespace {

class Walk {
public:
    Walk(const ReplayGraph& graph, const Scenario& scenario, const PodVector<TimeNs>& times, TimeNs until,
         const SeePart& see)
        : graph_(graph), scenario_(scenario), times_(times), until_(until), see_(see) {}

    CriticalPath from(Point last, bool its_end) && {
        Point p = last;
        if (its_end) add(p, class_of_op(p), times_[p], scenario_.length[p], p);
        while (p != kNoPoint && times_[p] > until_)
            p = graph_.info[p].kind == PointKind::op ? before_op(p) : before_host(p);
        return std::move(path_);
    }

private:
    // Only what lies after `until_` counts.
    void add(Point p, PathClass what, TimeNs start, DurNs dur, Point source, bool from_end = false) {
        if (start < until_) {
            dur -= until_ - start;
            start = until_;
        }
        if (dur <= 0) return;
        const PathPart part{p, what, dur, start, source, from_end};
        see_ ? see_(part) : path_.parts.push_back(part);
        path_.by_class[static_cast<std::size_t>(what)] += dur;
        path_.total += dur;
    }
    PathClass class_of_op(Point p) const {
        return op_kind(graph_.object[p]) == DeviceOp::kernel ? PathClass::kernel : PathClass::copy;
    }
    // The edge into `p` that binds; null if none does.
    const ReplayEdge* binding(Point p) const {
        const ReplayEdge* found = nullptr;
        TimeNs latest = 0;
        for (std::uint32_t e = graph_.first_edge[p]; e < graph_.first_edge[p + 1]; ++e) {
            const ReplayEdge& edge = graph_.edges[e];
            if (!scenario_.holds(edge.kind, graph_.info[p])) continue;
            TimeNs time = times_[edge.source] + scenario_.lag_of(edge);
            if (found == nullptr || time > latest) {
                found = &edge;
                latest = time;
            }
        }
        return found;
    }
    // Adds the lag of an edge, and the op at its other end if the edge begins at its end.
    Point follow(Point p, const ReplayEdge& edge, PathClass lag) {
        TimeNs source_end = times_[edge.source] + (edge.from_end ? scenario_.length[edge.source] : 0);
        add(p, lag, std::min(source_end, times_[p]), times_[p] - std::min(source_end, times_[p]), edge.source,
            edge.from_end);
        if (edge.from_end) {
            DurNs dur = std::min(scenario_.length[edge.source], times_[p] - times_[edge.source]);
            add(edge.source, class_of_op(edge.source), times_[edge.source], dur, edge.source);
        }
        return edge.source;
    }
    Point before_op(Point p) {
        const ReplayEdge* edge = binding(p);
        return edge == nullptr ? kNoPoint : follow(p, *edge, PathClass::gap);
    }
    Point before_host(Point p) {
        const PointInfo& info = graph_.info[p];
        Point before = p;
        while (before > 0 &&
               (graph_.info[before - 1].kind == PointKind::op || graph_.info[before - 1].lane != info.lane))
            --before;
        before = before == 0 ? kNoPoint : before - 1;
        const ReplayEdge* edge = binding(p);
        bool host = edge == nullptr || (before != kNoPoint && times_[before] + scenario_.length[p] >= times_[p]);
        if (!host) return follow(p, *edge, edge->kind == EdgeKind::hand_over ? PathClass::hand_over : PathClass::wait);
        if (before != kNoPoint) add(p, class_of_host(info), times_[before], times_[p] - times_[before], before);
        return before;
    }
    static PathClass class_of_host(const PointInfo& info) {
        if (info.in_input) return PathClass::input;
        if (info.kind != PointKind::call_end) return PathClass::host_code;
        switch (info.call) {
            case CallKind::launch:
            case CallKind::copy:
            case CallKind::set: return PathClass::launch_call;
            case CallKind::allocation: return PathClass::allocation;
            default: return PathClass::other_call;
        }
    }

    const ReplayGraph& graph_;
    const Scenario& scenario_;
    const PodVector<TimeNs>& times_;
    TimeNs until_;
    const SeePart& see_;
    CriticalPath path_;
};

}  // namespace

std::string_view name_of(PathClass what) {
    static constexpr std::array<std::string_view, kPathClasses> kNames{
        "kernel", "copy", "input", "host code", "launch call", "allocation", "other call", "wait", "hand-over", "gap"};
    return kNames[static_cast<std::size_t>(what)];
}

CriticalPath critical_path(const ReplayGraph& graph, const Scenario& scenario, const PodVector<TimeNs>& times,
                           const SeePart& see) {
    if (graph.steps.size() < 2) return {};
    std::vector<TimeNs> ends = completions(graph, scenario, times);
    const ReplayGraph::Completion& last = graph.steps.back();
    Point end = last.host;
    bool its_end = false;
    for (Point op : last.ops)
        if (times[op] + scenario.length[op] == ends.back()) {
            end = op;
            its_end = true;
        }
    if (end == kNoPoint) return {};
    return Walk(graph, scenario, times, ends.front(), see).from(end, its_end);
}

RecordedTimes::RecordedTimes(const ReplayGraph& graph, const Trace& trace)
    : graph_(graph), next_(std::numeric_limits<TimeNs>::max()) {
    Scenario unchanged(graph);
    recorded_ = replay_times(graph, unchanged, trace);  // by its residuals, the recording
    begin_ = completions(graph, unchanged, recorded_).front();
}

Interval RecordedTimes::of(const PathPart& part) {
    TimeNs start = recorded_[part.source] + (part.from_end ? graph_.length[part.source] : 0);
    TimeNs end = recorded_[part.point] + (part.source == part.point ? graph_.length[part.point] : 0);
    end = std::clamp(end, begin_, next_);
    start = std::clamp(start, begin_, end);
    next_ = start;
    return {start, end};
}

}  // namespace gpuprof::replay
