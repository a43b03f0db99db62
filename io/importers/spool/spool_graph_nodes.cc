// Nodes of CUDA graphs: struct GraphNodeEvent of core/format/spool.h as rows of graph_node and graph_edge.
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/format/bytes.h"
#include "core/model/graph_node_kinds.h"
#include "io/importers/spool/spool_launch_stacks.h"

namespace gpuprof::inline importers {
namespace {

using spool::GraphNodeEvent;
using spool::GraphNodeOp;

std::string_view action_of(GraphNodeOp op) {
    switch (op) {
        case GraphNodeOp::created: return graph_action::kCreated;
        case GraphNodeOp::cloned: return graph_action::kCloned;
        case GraphNodeOp::updated: return graph_action::kUpdated;
        case GraphNodeOp::made_whole:
        case GraphNodeOp::linked:
        case GraphNodeOp::unlinked: break;
    }
    return {};
}

}  // namespace

bool SpoolGraphNodes::take(std::string_view payload) {
    ByteCursor cursor(payload);
    std::uint64_t number = cursor.u64();
    if (!cursor.ok() || cursor.left() % sizeof(GraphNodeEvent) != 0) return false;
    bool sound = true;
    for (; cursor.left() > 0; ++number) {
        GraphNodeEvent event{};
        std::memcpy(&event, cursor.take(sizeof event).data(), sizeof event);
        if (number < next_) continue;  // of an earlier part
        next_ = number + 1;
        bool known = event.op <= GraphNodeOp::unlinked && static_cast<TimeNs>(event.time) > 0;
        if (known) events_.push_back(event);
        sound &= known;
    }
    return sound;
}

// Whether of two linked nodes the second one waits. The header calls it "the dependent graph node", the field's name says the
// opposite. A node that is captured, or added with its dependencies, waits for older ones, so most links say which it is.
bool SpoolGraphNodes::second_waits() const {
    std::unordered_map<std::uint64_t, std::size_t> made;  // by node: number of the event
    std::int64_t second = 0;
    for (std::size_t i = 0; i < events_.size(); ++i) {
        const GraphNodeEvent& event = events_[i];
        if (event.op == GraphNodeOp::created) made[event.node] = i;
        if (event.op != GraphNodeOp::linked) continue;
        auto node = made.find(event.node), other = made.find(event.other);
        if (node != made.end() && other != made.end()) second += node->second < other->second ? 1 : -1;
    }
    return second > 0;
}

void SpoolGraphNodes::add_edges(GraphEdgeTable& edges, StringId process) const {
    bool second = second_waits();
    std::map<std::pair<std::uint64_t, std::uint64_t>, Row> linked;
    for (const GraphNodeEvent& event : events_) {
        auto time = static_cast<TimeNs>(event.time);
        std::pair both(second ? event.other : event.node, second ? event.node : event.other);
        if (event.op == GraphNodeOp::unlinked)
            if (auto known = linked.find(both); known != linked.end()) {
                edges.removed.set(known->second, time);
                linked.erase(known);
            }
        if (event.op != GraphNodeOp::linked) continue;
        Row row = edges.add();
        edges.time.set(row, time);
        edges.process.set(row, process);
        edges.graph_node_id.set(row, static_cast<std::int64_t>(both.first));
        edges.after.set(row, static_cast<std::int64_t>(both.second));
        linked[both] = row;
    }
}

void SpoolGraphNodes::finish(Batch& batch, StringId process, const SpoolLaunchStacks& stacks, NativeNames& names,
                             const std::function<StringId(std::uint32_t)>& thread_key) const {
    GraphNodeTable& nodes = batch.tables.graph_node;
    std::unordered_map<std::uint64_t, StringId> texts;
    add_edges(batch.tables.graph_edge, process);
    for (const GraphNodeEvent& event : events_) {
        std::string_view action = action_of(event.op);
        if (action.empty()) continue;  // a dependency, or a node whose copying says more
        Row row = nodes.add();
        nodes.time.set(row, static_cast<TimeNs>(event.time));
        nodes.process.set(row, process);
        nodes.thread.set(row, thread_key(event.thread));
        if (event.graph != 0) nodes.graph_id.set(row, event.graph);
        nodes.graph_node_id.set(row, static_cast<std::int64_t>(event.node));
        nodes.action.set(row, batch.intern(action));
        if (std::string_view kind = graph_node_kind(event.type); !kind.empty()) nodes.kind.set(row, batch.intern(kind));
        if (event.op != GraphNodeOp::created) nodes.original.set(row, static_cast<std::int64_t>(event.other));
        if (event.stack == 0) continue;
        if (StringId text = stacks.text_of(batch, event.stack, names, texts); text != kNoString)
            nodes.stack.set(row, text);
    }
}

}  // namespace gpuprof::importers
