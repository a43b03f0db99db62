#include "analyze/replay/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "analyze/facts/facts.h"
#include "core/model/build/submission.h"

namespace gpuprof::inline replay {
namespace {

constexpr std::size_t kMaxStreams = 10'000;
constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

std::vector<StringId> threads_of(const HostLanes& host) {
    std::vector<StringId> threads;
    for (const HostLane& lane : host.lanes) threads.push_back(lane.thread);
    return threads;
}

}  // namespace

GraphBuilder::GraphBuilder(const Trace& trace, HostLanes host)
    : trace_(trace),
      host_(std::move(host)),
      scopes_(trace),
      op_streams_(trace),
      paths_(trace),
      work_(trace, threads_of(host_)) {
    graph_.threads = threads_of(host_);
    for (const HostLane& lane : host_.lanes) {
        in_step_.emplace_back(host_.in_steps);
        between_.emplace_back(host_.between_steps);
        in_input_.emplace_back(lane.input);
        in_sampling_.emplace_back(lane.stretches.sampling);
        between_engine_steps_.emplace_back(lane.stretches.between);
    }
}

bool GraphBuilder::is_graph(Row call) {
    if (call == kNoRow || !trace_.api_call().name.has(call)) return false;
    std::optional<bool>& known = graph_call_[index_of(call_name(call))];
    if (!known) known = submission_of(trace_.text(call_name(call))) == Submission::graph;
    return *known;
}

// Numbers all streams, and finds waits of one for another, which need the ops of all.
void GraphBuilder::number_streams() {
    bool events = has_stream_waits(trace_);
    std::vector<std::vector<IssuedOp>> issued;
    OpsByStart ops(trace_);
    for (OpRow op = ops.next(); op.kind != DeviceOp::none; op = ops.next()) {
        std::uint16_t stream = op_streams_.of(op);
        ++graph_.ops;
        if (!events) continue;
        if (stream >= issued.size()) issued.resize(stream + std::size_t{1});
        Row call = launch_of(trace_, op.kind, op.row);
        TimeNs time = call == kNoRow ? op.start : trace_.api_call().start[call];
        if (!issued[stream].empty()) time = std::max(time, issued[stream].back().issued);
        issued[stream].push_back({time, op.start, op.start + op.dur});
    }
    graph_.streams = op_streams_.streams();
    streams_.resize(graph_.streams.size());
    waits_of_stream_.resize(graph_.streams.size());
    if (!events) return;
    StreamWaits found = find_stream_waits(trace_, graph_.streams, issued);
    for (const StreamWait& wait : found.waits) waits_of_stream_[wait.to].push_back(wait);
    graph_.recorded_events = found.recorded;
    graph_.inferred_events = found.inferred;
    graph_.unsure_events = found.unsure;
}

// Points that hand-overs and steps refer to: the first at a time is where a thread begins to act, the last where it has acted.
void GraphBuilder::number_marks() {
    std::size_t lanes = host_.lanes.size();
    marks_.resize(lanes);
    hand_over_edges_.resize(lanes);
    next_mark_.resize(lanes);
    next_hand_over_.resize(lanes);
    for (const HandOver& each : host_.hand_overs) {
        const HostLane &from = host_.lanes[each.from], &to = host_.lanes[each.to];
        std::uint32_t pause = from.last_at(each.pause.start), resume = from.first_at(each.pause.end);
        std::uint32_t begin = to.first_at(each.work.start), end = to.last_at(each.work.end);
        marks_[each.from].push_back({pause});
        marks_[each.to].push_back({end});
        hand_over_edges_[each.to].push_back({begin, each.from, pause});
        hand_over_edges_[each.from].push_back({resume, each.to, end});
    }
    graph_.steps.resize(host_.steps.size());
    for (std::size_t i = 0; i < lanes; ++i) {
        if (host_.lanes[i].thread == host_.step_thread)
            for (const Step& step : host_.steps) marks_[i].push_back({host_.lanes[i].last_at(step.end)});
        auto by_place = [](const Mark& a, const Mark& b) { return a.at < b.at; };
        auto same = [](const Mark& a, const Mark& b) { return a.at == b.at; };
        std::sort(marks_[i].begin(), marks_[i].end(), by_place);
        marks_[i].erase(std::unique(marks_[i].begin(), marks_[i].end(), same), marks_[i].end());
        std::sort(hand_over_edges_[i].begin(), hand_over_edges_[i].end(),
                  [](const HandOverEdge& a, const HandOverEdge& b) { return a.to_at < b.to_at; });
    }
}

Point GraphBuilder::mark_of(std::size_t lane, std::uint32_t at) const {
    auto found = std::lower_bound(marks_[lane].begin(), marks_[lane].end(), at,
                                  [](const Mark& mark, std::uint32_t place) { return mark.at < place; });
    return found == marks_[lane].end() || found->at != at ? kNoPoint : found->point;
}

Point GraphBuilder::push(PointInfo info, std::uint32_t object, TimeNs time, DurNs length) {
    graph_.info.push_back(info);
    graph_.object.push_back(object);
    graph_.length.push_back(length);
    graph_.first_edge.push_back(graph_.edges.size());
    now_ = time;
    return static_cast<Point>(graph_.points() - 1);
}

void GraphBuilder::edge(Point source, std::uint16_t lag, EdgeKind kind, bool from_end) {
    if (source == kNoPoint) {
        ++graph_.backward_edges;
        return;
    }
    graph_.edges.push_back({source, 0, lag, kind, from_end});
}

// Drains the lane with the earliest point as long as no other is earlier. Of points at one time, the host's come first.
void GraphBuilder::merge() {
    std::vector<std::size_t> at(host_.lanes.size(), 0);
    OpsByStart ops(trace_);
    OpRow op = ops.next();
    auto head = [&](std::size_t lane) {
        const HostLane& each = host_.lanes[lane];
        return at[lane] < each.size() ? each.time(at[lane]) : kNever;
    };
    while (true) {
        std::size_t first = 0;
        TimeNs earliest = kNever, second = op.kind == DeviceOp::none ? kNever : op.start;
        for (std::size_t lane = 0; lane < host_.lanes.size(); ++lane) {
            TimeNs time = head(lane);
            if (time < earliest) {
                second = std::min(second, earliest);
                earliest = time;
                first = lane;
            } else {
                second = std::min(second, time);
            }
        }
        if (earliest == kNever && op.kind == DeviceOp::none) return;
        if (op.kind != DeviceOp::none && op.start < earliest) {
            for (; op.kind != DeviceOp::none && op.start < earliest; op = ops.next()) add_op(op);
            continue;
        }
        do add_host_point(first, at[first]++);
        while (head(first) <= second && head(first) != kNever);
    }
}

PointInfo GraphBuilder::info_of(std::size_t lane, std::size_t at) {
    const HostLane& from = host_.lanes[lane];
    PointInfo info{.lane = static_cast<std::uint16_t>(lane), .kind = PointKind::cut};
    if (!from.is_cut(at)) {
        info.kind = from.is_end(at) ? PointKind::call_end : PointKind::call_start;
        StringId name = call_name(from.call(at));
        if (name != kNoString) info.call = *host_.kinds[index_of(name)];
    }
    info.in_step = in_step_[lane].holds_before(from.time(at));
    info.between = between_[lane].holds_before(from.time(at));
    info.in_input = in_input_[lane].holds_before(from.time(at));
    if (in_sampling_[lane].holds_before(from.time(at)))
        info.stretch = EngineStretch::sampling;
    else if (between_engine_steps_[lane].holds_before(from.time(at)))
        info.stretch = EngineStretch::between;
    // In front of a hand-over, the receiving thread had nothing to do but wait; so had the one that paused.
    const std::vector<HandOverEdge>& edges = hand_over_edges_[lane];
    info.idle = next_hand_over_[lane] < edges.size() && edges[next_hand_over_[lane]].to_at == at;
    return info;
}

void GraphBuilder::add_host_point(std::size_t lane, std::size_t at) {
    const HostLane& from = host_.lanes[lane];
    PointInfo info = info_of(lane, at);
    TimeNs time = from.time(at);
    if (at == 0) graph_.thread_start[lane] = time;
    Row call = info.kind == PointKind::cut ? kNoRow : from.call(at);
    Point p = push(info, call, time, at == 0 ? 0 : time - from.time(at - 1));
    if (work_.known()) graph_.recorded_work.push_back(work_.before(info.lane, time));
    if (info.kind == PointKind::cut) cut_times_.push_back({p, time});
    if (info.kind == PointKind::call_start) start_point_[call] = p;
    if (info.kind == PointKind::call_end) {
        end_point_[call] = p;
        call_returned(info);
    }
    std::vector<HandOverEdge>& edges = hand_over_edges_[lane];
    for (std::size_t& next = next_hand_over_[lane]; next < edges.size() && edges[next].to_at == at; ++next) {
        Point source = mark_of(edges[next].from_lane, edges[next].from_at);
        if (source == kNoPoint || source >= p) {
            ++graph_.backward_edges;
            graph_.info[p].idle = false;
            continue;
        }
        edge(source, classes_.id(EdgeKind::hand_over, 0, 0, 0), EdgeKind::hand_over, false);
    }
    std::vector<Mark>& marks = marks_[lane];
    if (std::size_t& next = next_mark_[lane]; next < marks.size() && marks[next].at == at) marks[next++].point = p;
}

TimeNs GraphBuilder::time_of(Point p) const {
    switch (graph_.info[p].kind) {
        case PointKind::op: return recorded_start(trace_, graph_.object[p]);
        case PointKind::call_start: return trace_.api_call().start[graph_.object[p]];
        case PointKind::call_end: return call_end(graph_.object[p]);
        case PointKind::cut: break;
    }
    return std::lower_bound(cut_times_.begin(), cut_times_.end(), p,
                            [](const CutTime& cut, Point point) { return cut.point < point; })
        ->time;
}

// Edges to points that came earlier than what they depend on was known.
void GraphBuilder::insert_late_edges() {
    if (late_.empty()) return;
    std::stable_sort(late_.begin(), late_.end(), [](const LateEdge& a, const LateEdge& b) { return a.to < b.to; });
    PodVector<ReplayEdge> edges;
    EdgeStarts first_edge;
    edges.reserve(graph_.edges.size() + late_.size());
    std::size_t next = 0;
    for (Point p = 0; p < graph_.points(); ++p) {
        std::uint32_t from = graph_.first_edge[p], to = graph_.first_edge[p + 1];
        first_edge.push_back(edges.size());
        edges.append(graph_.edges.data() + from, to - from);
        for (; next < late_.size() && late_[next].to == p; ++next) edges.push_back(late_[next].edge);
    }
    first_edge.push_back(edges.size());
    graph_.first_edge = std::move(first_edge);
    graph_.edges = std::move(edges);
}

ReplayGraph GraphBuilder::build() && {
    const std::size_t calls = trace_.api_call().rows;
    start_point_.resize(calls, kNoPoint), end_point_.resize(calls, kNoPoint);
    graph_call_.resize(trace_.strings().size());
    previous_call_.resize(host_.lanes.size(), kNoRow);
    synced_.resize(host_.lanes.size(), std::numeric_limits<TimeNs>::min());
    graph_.thread_start.resize(host_.lanes.size());
    graph_.independent = host_.independent;
    number_streams();
    if (graph_.streams.size() > kMaxStreams) {
        ReplayGraph none;
        none.why_not = fmt::format("the recording has {} streams", graph_.streams.size());
        none.first_edge.push_back(0);
        return none;
    }
    number_marks();
    std::size_t points = graph_.ops;
    for (const HostLane& lane : host_.lanes) points += lane.size();
    graph_.info.reserve(points);
    graph_.object.reserve(points);
    graph_.length.reserve(points);
    merge();
    graph_.first_edge.push_back(graph_.edges.size());
    insert_late_edges();
    for (std::size_t lane = 0; lane < host_.lanes.size(); ++lane)
        if (host_.lanes[lane].thread == host_.step_thread)
            for (std::size_t i = 0; i < host_.steps.size(); ++i)
                graph_.steps[i].host = mark_of(lane, host_.lanes[lane].last_at(host_.steps[i].end));
    explain_points();
    return std::move(graph_);
}

ReplayGraph ReplayGraph::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    ReplayGraph none;
    constexpr Row kMaxRows = 1u << kOpRowBits;
    if (trace.kernel().rows >= kMaxRows || trace.api_call().rows >= kMaxRows)
        none.why_not = "the recording has more than a billion events";
    else if (trace.api_call().rows == 0)
        none.why_not = "CUDA calls were not recorded";
    HostLanes host;
    if (none.why_not.empty()) {
        host = HostLanes::make(facts);
        if (host.lanes.empty()) none.why_not = "no recorded call submits work to the GPU, or more than 256 threads do";
    }
    if (!none.why_not.empty()) {
        none.first_edge.push_back(0);
        return none;
    }
    return GraphBuilder(trace, std::move(host)).build();
}

}  // namespace gpuprof::replay
