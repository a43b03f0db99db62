// The edges of calls that wait for the device.
#include <algorithm>

#include "analyze/knowledge/host_names.h"
#include "analyze/replay/graph_builder.h"

namespace gpuprof::inline replay {
namespace {

constexpr DurNs kBlocking = 20'000;     // a copy call at least this long that returns with its copy was blocked by it
constexpr DurNs kEarlyReturn = 10'000;  // a pageable copy may return this long before its record ends
constexpr DurNs kSlack = 1'000;         // clocks of host and device agree to about this
constexpr DurNs kSimilar = 5'000;  // ops of two streams that end this close may both be the one that was waited for
constexpr DurNs kUsualReturn = 4'000, kUsualCopyReturn = 2'000, kUsualBase = 3'000;

}  // namespace

// The last op of a stream that was issued before a time, and done by another; null if none was.
const GraphBuilder::RecentOp* GraphBuilder::last_done(const StreamState& stream, TimeNs issued_before,
                                                      TimeNs done_by) const {
    for (std::uint64_t n = 1;; ++n) {
        const RecentOp* op = stream.back(n);
        if (op == nullptr || (op->issued < issued_before && op->end <= done_by)) return op;
    }
}

// `last`: no other op that the call waited for ended later, so that it shows how long the return takes.
void GraphBuilder::sync_edge(const RecentOp& op, StringId name, TimeNs begun, TimeNs returned, EdgeKind kind,
                             bool last) {
    std::uint16_t lag =
        classes_.id(kind, 0, index_of(name), kind == EdgeKind::sync_return ? kUsualReturn : kUsualCopyReturn);
    std::uint16_t base = classes_.id(EdgeKind::sync_return, 1, index_of(name), kUsualBase);
    if (last) classes_.add_sample(op.end > begun ? lag : base, returned - std::max(op.end, begun));
    edge(op.point, lag, kind, true);
}

bool GraphBuilder::wait_for_copy(Row call, TimeNs begun, TimeNs returned) {
    if (returned - begun < kBlocking) return false;
    for (const StreamState& stream : streams_) {
        const RecentOp* op = stream.last();
        if (op == nullptr || op->call != call || op->kind != DeviceOp::memcpy) continue;
        if (op->end > returned + kEarlyReturn || op->end <= begun) continue;
        sync_edge(*op, call_name(call), begun, returned,
                  op->to_device ? EdgeKind::copy_to_device : EdgeKind::copy_to_host, true);
        return true;
    }
    return false;
}

bool GraphBuilder::wait_for_stream(Row call, TimeNs begun, TimeNs returned) {
    std::optional<SyncScope> known = scopes_.of(call);
    TimeNs issued_before = known ? std::min(begun, known->issued_before) : begun;
    StringId process = trace_.api_call().process.value_or(call, kNoString);
    std::uint16_t lane = graph_.info[end_point_[call]].lane;
    const RecentOp* best = nullptr;
    bool unsure = false;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        if (graph_.streams[i].process != process || (known && graph_.streams[i].stream != known->stream)) continue;
        const RecentOp* op = last_done(streams_[i], issued_before, returned + kSlack);
        if (op == nullptr) continue;
        if (best != nullptr && op->end > begun)
            unsure = std::max(op->end, best->end) - std::min(op->end, best->end) < kSimilar;
        if (best == nullptr || op->end > best->end) best = op;
    }
    if (best == nullptr) return false;
    graph_.unsure_syncs += unsure;
    // Frameworks wait for a copy of pageable memory right after its call; with pinned memory they would not.
    bool of_copy =
        best->to_device && best->call == previous_call_[lane] && paths_.pageable(op_row(graph_.object[best->point]));
    sync_edge(*best, call_name(call), begun, returned, of_copy ? EdgeKind::copy_to_device : EdgeKind::sync_return,
              true);
    return true;
}

// Every stream with work since the thread last waited for the device.
bool GraphBuilder::wait_for_device(Row call, TimeNs begun, TimeNs returned, EdgeKind kind) {
    StringId process = trace_.api_call().process.value_or(call, kNoString);
    std::uint16_t lane = graph_.info[end_point_[call]].lane;
    std::vector<const RecentOp*> done;
    const RecentOp* last = nullptr;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        const RecentOp* op =
            graph_.streams[i].process == process ? last_done(streams_[i], begun, returned + kSlack) : nullptr;
        if (op == nullptr) continue;
        done.push_back(op);
        if (last == nullptr || op->end > last->end) last = op;
    }
    // Allocation calls are also slow without waiting.
    if (kind == EdgeKind::allocation_return && (last == nullptr || last->end <= begun)) return false;
    for (const RecentOp* op : done)
        if (op->end > synced_[lane]) sync_edge(*op, call_name(call), begun, returned, kind, op == last);
    synced_[lane] = returned;
    return true;
}

void GraphBuilder::call_returned(PointInfo info) {
    Row call = graph_.object.back();
    TimeNs begun = trace_.api_call().start[call], returned = call_end(call);
    StringId name = call_name(call);
    Point end = static_cast<Point>(graph_.points() - 1);
    bool waits = false;
    switch (info.call) {
        case CallKind::sync:
            waits = scopes_.whole_device(name) ? wait_for_device(call, begun, returned, EdgeKind::sync_return)
                                               : wait_for_stream(call, begun, returned);
            break;
        case CallKind::copy: waits = wait_for_copy(call, begun, returned); break;
        case CallKind::allocation:
            waits = returned - begun >= kBlocking && name != kNoString && call_blocks(trace_.text(name)) &&
                    wait_for_device(call, begun, returned, EdgeKind::allocation_return);
            break;
        case CallKind::set:
        case CallKind::launch:
        case CallKind::compilation:
        case CallKind::other: break;
    }
    graph_.info[end].waits = waits;
    previous_call_[info.lane] = call;
}

}  // namespace gpuprof::replay
