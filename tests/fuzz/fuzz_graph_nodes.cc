// Fuzz target of graph nodes: a chunk as it is, or events made of choices, five bytes each, in two parts of which the second repeats the
// first. Whatever they say, a node leads to one that was created before it was launched, and a dependency to events that say so.
#include <string>

#include "analyze/facts/facts.h"
#include "analyze/facts/host/graph_origins.h"
#include "core/model/graph_node_kinds.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/spooled.h"

namespace gpuprof::fuzz {
namespace {

using spool::GraphNodeEvent;
using spool::GraphNodeOp;

template <class T>
void append_bytes(std::string& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct MadeNodes {
    std::string events;
    std::size_t created = 0, linked = 0;
};

MadeNodes nodes_of(Choices& choices) {
    MadeNodes made;
    std::uint64_t time = 1;
    while (!choices.empty()) {
        std::uint32_t what = choices.byte();
        GraphNodeEvent event{};
        event.op = static_cast<GraphNodeOp>(what % 6);
        event.type = static_cast<std::uint8_t>(what / 6 % 16);
        event.time = time += choices.byte() % 4u;
        event.node = 1 + choices.byte() % 16u;
        event.other = 1 + choices.byte() % 16u;
        event.graph = choices.byte() % 4u;
        event.thread = 1;
        made.created +=
            event.op == GraphNodeOp::created || event.op == GraphNodeOp::cloned || event.op == GraphNodeOp::updated;
        made.linked += event.op == GraphNodeOp::linked;
        append_bytes(made.events, event);
    }
    return made;
}

}  // namespace

void run_graph_nodes(std::string_view bytes) {
    Choices choices(bytes);
    bool made_here = choices.byte() % 2 == 1;
    Spooled spooled;
    MadeNodes made;
    if (made_here) {
        made = nodes_of(choices);
        for (int part = 0; part < 2; ++part)
            spooled.take(ChunkKind::spool_graph_nodes, std::string(8, '\0') + made.events);
    } else {
        spooled.take(ChunkKind::spool_graph_nodes, choices.rest());
    }
    Trace trace = trace_of(std::move(spooled).finish());
    const GraphNodeTable& nodes = trace.tables().graph_node;
    if (made_here) {
        promise(nodes.rows == made.created, "every creation, copy and update is a row, once");
        promise(trace.tables().graph_edge.rows == made.linked, "every dependency is a row, once");
    }
    Facts facts(trace, Options{});
    const GraphOrigins& origins = facts.get<GraphOrigins>();
    for (Row row = 0; row < nodes.rows && row < 1000; ++row) {
        if (!nodes.time.has(row)) continue;
        StringId process = nodes.process.value_or(row, kNoString);
        Row origin = origins.of_node(process, nodes.graph_node_id[row], nodes.time[row]);
        if (origin == kNoRow) continue;
        promise(trace.text(nodes.action[origin]) == graph_action::kCreated, "a node leads to its creation");
        promise(nodes.time[origin] <= nodes.time[row], "and that was before");
        origins.waits_for(process, nodes.graph_node_id[row]);
    }
}

}  // namespace gpuprof::fuzz
