// The edges of device ops.
#include <algorithm>

#include "analyze/replay/graph_builder.h"

namespace gpuprof::inline replay {
namespace {

constexpr DurNs kQueuedAhead = 15'000;  // an op issued this long before its stream was free did not wait for its launch
constexpr DurNs kOverlap = 5'000;       // ops of a stream that overlap by more are branches of a graph
constexpr DurNs kLongCall = 20'000;     // a launch call this long may have waited for room in a queue
constexpr std::uint64_t kDeepQueue = 500;
// Longer ones are no property of the device: it ran something that was not recorded.
constexpr DurNs kMaxStreamLag = 20'000, kMaxLaunchLag = 200'000;
// From measurements on an H200 with CUDA 13, for classes with too few samples.
constexpr DurNs kUsualLaunch = 1'800, kUsualStart = 4'000, kUsualNodeGap = 100, kUsualGraphGap = 5'570,
                kUsualKernelGap = 1'150, kUsualCopyGap = 5'000, kUsualRoom = 2'000;

DurNs usual_gap(DeviceOp to, bool one_graph, bool graphs) {
    if (one_graph) return kUsualNodeGap;
    if (graphs) return kUsualGraphGap;
    return to == DeviceOp::memcpy ? kUsualCopyGap : kUsualKernelGap;
}

}  // namespace

void GraphBuilder::add_op(const OpRow& op) {
    std::uint16_t number = op_streams_.of(op);
    StreamState& stream = streams_[number];
    Row own = launch_of(trace_, op.kind, op.row);
    Row call = own == kNoRow || host_.outer_call.empty() ? own : host_.outer_call[own];
    bool known = call != kNoRow && start_point_[call] != kNoPoint;
    graph_.ops_without_call += !known;
    TimeNs issued = own == kNoRow ? op.start : trace_.api_call().start[own];
    Point p = push(PointInfo{.lane = number, .kind = PointKind::op}, op_code(op.kind, op.row), op.start, op.dur);
    if (work_.known()) graph_.recorded_work.push_back({});
    bool alone = !waits_for_event(number, issued, stream);
    if (known) launch_edge(op, call, stream, alone);
    stream_edges(op, call, stream, alone);
    event_edges(number, issued, stream);
    if (known) back_pressure(call, stream);
    bool copy = op.kind == DeviceOp::memcpy && paths_.to_device(op.row);
    note_step(p, issued, op.start, copy ? stream.copies_in_steps : stream.others_in_steps, copy);
    (copy ? stream.last_copy : stream.last_other) = p;
    stream.add({p, issued, op.start, op.start + op.dur, call, op.kind, is_graph(own), copy});
}

// A call's first op on a stream depends on the call; the others follow on their stream.
void GraphBuilder::launch_edge(const OpRow& op, Row call, const StreamState& stream, bool alone) {
    const RecentOp* last = stream.last();
    if (last != nullptr && last->call == call) return;
    TimeNs begun = trace_.api_call().start[call], returned = call_end(call);
    bool after = op.start >= returned && end_point_[call] != kNoPoint;
    std::uint32_t what = static_cast<std::uint32_t>(op.kind) | (after ? 4u : 0u);
    std::uint16_t lag =
        classes_.id(EdgeKind::launch, what, index_of(call_name(call)), after ? kUsualLaunch : kUsualStart);
    if (alone && (last == nullptr || last->end <= begun))
        if (DurNs seen = op.start - (after ? returned : begun); seen <= kMaxLaunchLag) classes_.add_sample(lag, seen);
    edge(after ? end_point_[call] : start_point_[call], lag, EdgeKind::launch, false);
}

void GraphBuilder::stream_edges(const OpRow& op, Row call, const StreamState& stream, bool alone) {
    const RecentOp* last = stream.last();
    if (last == nullptr) return;
    bool graph = is_graph(call), one_graph = graph && last->call == call, graphs = graph && last->graph;
    if (op.start + kOverlap < last->end) {
        edge(last->point, classes_.id(EdgeKind::stream, 1'000, 0, 0), EdgeKind::stream, false);
        return;
    }
    std::uint32_t from = static_cast<std::uint32_t>(last->kind), to = static_cast<std::uint32_t>(op.kind);
    std::uint32_t between = graphs ? kBetweenGraphs : kBetweenCalls;
    if (one_graph) between = kWithinGraph;
    std::uint16_t lag = classes_.id(EdgeKind::stream, from * 4 + to, between, usual_gap(op.kind, one_graph, graphs));
    if (alone && (one_graph || (call != kNoRow && call_end(call) + kQueuedAhead <= last->end)))
        if (DurNs seen = op.start - last->end; seen <= kMaxStreamLag) classes_.add_sample(lag, seen);
    bool copy = op.kind == DeviceOp::memcpy && paths_.to_device(op.row), after_copy = last->to_device;
    edge(last->point, lag, copy && !after_copy ? EdgeKind::copy_order : EdgeKind::stream, true);
    // In a replay in which copies to the device have a stream of their own, kernels follow kernels and copies follow copies.
    if (copy == after_copy) return;
    if (Point same = copy ? stream.last_copy : stream.last_other; same != kNoPoint)
        edge(same, classes_.id(EdgeKind::stream, to * 4 + to, 0, usual_gap(op.kind, false, false)), EdgeKind::bypass,
             true);
}

bool GraphBuilder::waits_for_event(std::uint16_t to, TimeNs issued, const StreamState& stream) const {
    const std::vector<StreamWait>& waits = waits_of_stream_[to];
    return stream.next_wait < waits.size() && waits[stream.next_wait].waited <= issued;
}

void GraphBuilder::event_edges(std::uint16_t to, TimeNs issued, StreamState& stream) {
    const std::vector<StreamWait>& waits = waits_of_stream_[to];
    for (; stream.next_wait < waits.size() && waits[stream.next_wait].waited <= issued; ++stream.next_wait) {
        const StreamState& from = streams_[waits[stream.next_wait].from];
        std::uint64_t n = 1;
        while (from.back(n) != nullptr && from.back(n)->issued >= waits[stream.next_wait].recorded) ++n;
        const RecentOp* source = from.back(n);
        if (source != nullptr && source->end <= now_ + kOverlap)
            edge(source->point, classes_.id(EdgeKind::event, 0, 0, kUsualKernelGap), EdgeKind::event, true);
    }
}

// A launch call that is long, with a deep queue in front of its op, waited for room: for the op that had just started when
// it returned. The call's end came before this op, so the edge is kept for later.
void GraphBuilder::back_pressure(Row call, const StreamState& stream) {
    if (end_point_[call] == kNoPoint || trace_.api_call().dur[call] < kLongCall) return;
    TimeNs returned = call_end(call);
    std::uint64_t low = 1, high = stream.ring.size();
    while (low < high) {  // ops are in order of their start
        std::uint64_t middle = (low + high) / 2;
        if (stream.back(middle)->start < returned)
            high = middle;
        else
            low = middle + 1;
    }
    const RecentOp* made_room = stream.back(low);
    if (made_room == nullptr || low < kDeepQueue || made_room->start >= returned) return;
    std::uint16_t lag = classes_.id(EdgeKind::back_pressure, 0, 0, kUsualRoom);
    classes_.add_sample(lag, returned - made_room->start);
    graph_.info[end_point_[call]].waits = true;
    late_.push_back({end_point_[call], {made_room->point, 0, lag, EdgeKind::back_pressure, false}});
}

// Adds an op to the step that launched it, or in which it started if steps come from the device. Copies to the device and other ops of a
// stream count apart: in a replay in which copies have a stream of their own, the last op of a step need not be a copy that was.
void GraphBuilder::note_step(Point op, TimeNs issued, TimeNs start, LastInStep& last, bool copy) {
    TimeNs time = host_.host_steps ? issued : start;
    const std::vector<Step>& steps = host_.steps;
    if (steps.empty()) return;
    if (step_ >= steps.size() || time < steps[step_].start || time >= steps[step_].end) {
        std::optional<std::size_t> step = step_at(steps, time);
        if (!step) {
            graph_.info[op].between = time >= steps.front().start && time < steps.back().start;
            return;
        }
        step_ = *step;
    }
    graph_.info[op].in_step = true;
    std::vector<Point>& ops = graph_.steps[step_].ops;
    if (!last.any || last.step != step_) {
        auto same = [&](Point each) {
            std::uint32_t object = graph_.object[each];
            return graph_.info[each].lane == graph_.info[op].lane &&
                   copy == (op_kind(object) == DeviceOp::memcpy && paths_.to_device(op_row(object)));
        };
        auto place = static_cast<std::size_t>(std::find_if(ops.begin(), ops.end(), same) - ops.begin());
        last = {.any = true, .step = step_, .place = place};
        if (place == ops.size()) ops.push_back(op);
    }
    ops[last.place] = op;
}

}  // namespace gpuprof::replay
