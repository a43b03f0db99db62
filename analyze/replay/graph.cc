#include "analyze/replay/graph.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace gpuprof::inline replay {
namespace {

constexpr TimeNs kNoTime = std::numeric_limits<TimeNs>::min();

// Replays point by point.
class Run {
public:
    // Times of points are kept at the point & mask.
    Run(const ReplayGraph& graph, const Scenario& scenario, const Trace& trace, PodVector<TimeNs>& times, Point mask)
        : graph_(graph), scenario_(scenario), trace_(trace), times_(times), mask_(mask) {
        for (TimeNs start : graph.thread_start) lanes_.push_back({start});
        for (unsigned place = 0; place < holding_.size(); ++place) {
            PointInfo to;
            to.stretch = static_cast<EngineStretch>(place / 4), to.in_step = place & 1u, to.between = place & 2u;
            for (unsigned kind = 0; kind < kEdgeKinds; ++kind)
                if (scenario.holds(static_cast<EdgeKind>(kind), to)) holding_[place] |= 1u << kind;
        }
    }

    // Replays the points before `end` that were not replayed before.
    void until(Point end) {
        for (; at_ < end; ++at_) {
            const PointInfo& info = graph_.info[at_];
            first_ = end_;
            end_ = graph_.first_edge[at_ + 1];
            TimeNs time = latest(holding_[static_cast<unsigned>(info.stretch) * 4 + info.between * 2u + info.in_step]);
            if (info.kind == PointKind::op) {
                // A change that drops all edges of an op leaves it where the program needs it.
                if (time == kNoTime) time = latest(~(1u << static_cast<unsigned>(EdgeKind::bypass)));
                if (time == kNoTime) time = recorded_start(trace_, graph_.object[at_]);
            } else {
                Lane& lane = lanes_[info.lane];
                time = std::max(time, lane.begun ? lane.now + scenario_.length[at_] : lane.now);
                lane = {time, true};
            }
            times_[at_ & mask_] = time;
        }
    }
    TimeNs operator[](Point p) const { return times_[p & mask_]; }

private:
    // The latest time that edges of these kinds into the point allow, or kNoTime if it has none.
    TimeNs latest(std::uint32_t kinds) const {
        TimeNs time = kNoTime;
        for (std::uint32_t e = first_; e < end_; ++e) {
            const ReplayEdge& edge = graph_.edges[e];
            if ((kinds >> static_cast<unsigned>(edge.kind) & 1u) == 0) continue;
            time = std::max(time, times_[edge.source & mask_] + scenario_.lag_of(edge));
        }
        return time;
    }
    const ReplayGraph& graph_;
    const Scenario& scenario_;
    const Trace& trace_;
    PodVector<TimeNs>& times_;
    Point mask_, at_ = 0;
    std::uint32_t first_ = 0, end_ = 0;  // the edges into that point
    struct Lane {
        TimeNs now;  // of its last point, or where its first may begin
        bool begun = false;
    };
    std::vector<Lane> lanes_;  // by thread
    // Kinds of edges that hold, a bit each: by stretch, whether between steps, whether in one.
    std::array<std::uint32_t, 12> holding_{};
};

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

DurNs PointLengths::long_at(Point p, std::int32_t code) const {
    return code == kInMap ? rest_.at(p) : long_[static_cast<std::size_t>(code - kFirst)];
}

void PointLengths::set_long(Point p, DurNs length) {
    std::int32_t code = code_of(p);
    if (code >= kLeast) {
        auto place = static_cast<std::int64_t>(long_.size()) + kFirst;
        code = place < kLeast ? static_cast<std::int32_t>(place) : kInMap;
        if (code != kInMap) long_.push_back(length);
        put(p, code);
    }
    if (code == kInMap)
        rest_[p] = length;
    else
        long_[static_cast<std::size_t>(code - kFirst)] = length;
}

void PointLengths::take(const PointLengths& from) {
    short_.clear();
    short_.append(from.short_.data(), from.short_.size());
    long_.clear();
    long_.append(from.long_.data(), from.long_.size());
    rest_ = from.rest_;
}

void EdgeStarts::push_back(std::size_t edge) {
    auto first = static_cast<std::uint32_t>(edge);
    std::size_t at = above_.size() % kBlock;
    if (at == 0) blocks_.push_back(first);
    std::uint32_t& block = blocks_.back();
    if ((block & kWide) == 0 && first - block > std::numeric_limits<std::uint8_t>::max()) {
        std::size_t index = wide_.size() / kBlock;
        wide_.resize(wide_.size() + kBlock);
        for (std::size_t i = 0; i < at; ++i) wide_[index * kBlock + i] = block + above_[above_.size() - at + i];
        block = kWide | static_cast<std::uint32_t>(index);
    }
    if ((block & kWide) != 0) wide_[(block & ~kWide) * kBlock + at] = first;
    above_.push_back(static_cast<std::uint8_t>(first - block));
}

void Scenario::reset(const ReplayGraph& graph) {
    length.take(graph.length);
    lags = graph.lags;
    residuals = true;
    in_steps.fill(true);
    in_steps[static_cast<std::size_t>(EdgeKind::bypass)] = false;
    outside = between = in_steps;
    waits_in_stretch = {};
}

void Scenario::reset(const Scenario& to) {
    length.take(to.length);
    lags = to.lags;
    in_steps = to.in_steps, between = to.between, outside = to.outside;
    waits_in_stretch = to.waits_in_stretch;
    residuals = to.residuals;
}

PodVector<TimeNs> replay_times(const ReplayGraph& graph, const Scenario& scenario, const Trace& trace) {
    PodVector<TimeNs> times(graph.points());
    Run(graph, scenario, trace, times, ~Point{0}).until(static_cast<Point>(graph.points()));
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

std::vector<TimeNs> replay_completions(const ReplayGraph& graph, const Scenario& scenario, const Trace& trace) {
    std::size_t kept = std::bit_ceil(std::size_t{graph.reach} + 1);
    if (kept >= graph.points() || graph.steps.size() < 2)
        return completions(graph, scenario, replay_times(graph, scenario, trace));
    struct Completing {
        Point point;
        std::size_t step;
        bool op;
    };
    std::vector<Completing> points;
    for (std::size_t i = 0; i < graph.steps.size(); ++i) {
        if (graph.steps[i].host != kNoPoint) points.push_back({graph.steps[i].host, i, false});
        for (Point op : graph.steps[i].ops) points.push_back({op, i, true});
    }
    std::sort(points.begin(), points.end(), [](const Completing& a, const Completing& b) { return a.point < b.point; });
    std::vector<TimeNs> ends(graph.steps.size(), kNoTime);
    PodVector<TimeNs> times(kept);
    Run run(graph, scenario, trace, times, static_cast<Point>(kept - 1));
    for (const Completing& each : points) {
        run.until(each.point + 1);
        TimeNs end = run[each.point] + (each.op ? scenario.length[each.point] : 0);
        ends[each.step] = std::max(ends[each.step], end);
    }
    return ends;
}

}  // namespace gpuprof::replay
