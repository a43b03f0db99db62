// `graph_nodes`: what does each node of the launched CUDA graphs cost, and where was it captured? One row per process and node of
// an executable graph. The time before a node starts, after the last of the nodes that it waits for has ended, belongs to the
// graph: no call of the host can shorten it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyze/facts/device_op.h"
#include "analyze/facts/host/code_places.h"
#include "analyze/facts/host/graph_origins.h"
#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"
#include "core/model/meta_values.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline tables {
namespace {

struct NodeOp {
    StringId process, name;  // no name: a copy or fill
    std::int64_t node, graph;
    Row call;
    DeviceOp kind;
    TimeNs start, end, launched;
};

struct NodeTotals {
    StringId process = kNoString, name = kNoString;
    std::int64_t node = 0, graph = -1;
    DeviceOp kind = DeviceOp::none;
    std::uint64_t count = 0, lags = 0, host_nodes = 0;
    bool dependencies = false;  // whether they are known
    std::size_t waits_for = 0;
    WideSum time = {}, lag = {};
    Row origin = kNoRow;  // at its first launch
};

template <class Table>
void add_node_ops(const Facts& facts, const Table& table, DeviceOp kind, std::vector<NodeOp>& ops) {
    const Trace& trace = facts.trace();
    std::int64_t only = facts.options().device;
    for (Row row = 0; row < table.rows; ++row) {
        if (!table.graph_node_id.has(row) || (only >= 0 && table.device.value_or(row, -1) != only)) continue;
        Row call = launch_of(trace, kind, row);
        StringId name = kNoString;
        if constexpr (requires { table.name; }) name = table.name.value_or(row, kNoString);
        TimeNs start = table.start[row];
        ops.push_back({table.process.value_or(row, kNoString), name, table.graph_node_id[row],
                       table.graph_id.value_or(row, -1), call, kind, start, start + table.dur[row],
                       call != kNoRow ? trace.api_call().start[call] : start});
    }
}

// Adds the time between the end of the last node that each one waits for and its start, over the ops of one launch.
void add_lags(const GraphOrigins& origins, const std::vector<NodeOp>& ops, std::size_t begin, std::size_t end,
              std::map<std::pair<StringId, std::int64_t>, NodeTotals>& totals) {
    std::unordered_map<std::int64_t, TimeNs> ended;
    for (std::size_t i = begin; i < end; ++i) {
        const NodeOp& op = ops[i];
        TimeNs last = 0;
        bool any = false;
        for (std::int64_t node : origins.waits_for(op.process, op.node))
            if (auto done = ended.find(node); done != ended.end()) {
                last = any ? std::max(last, done->second) : done->second;
                any = true;
            }
        ended[op.node] = op.end;
        if (!any) continue;
        NodeTotals& node = totals[{op.process, op.node}];
        ++node.lags;
        node.lag.add(op.start - last);
    }
}

struct GraphNodeRow {
    const Facts& facts;
    const NodeTotals& node;
};

std::string_view name_of_op(DeviceOp kind) {
    return kind == DeviceOp::kernel ? "kernel" : kind == DeviceOp::memcpy ? "memcpy" : "memset";
}

constexpr auto kGraphNodesColumns = columns_of<GraphNodeRow>({
    {"process", CellType::text, Unit::none, "Key of the process.",
     [](auto& r) { return text_cell(r.facts.trace(), r.node.process); }},
    {"graph", CellType::integer, Unit::none, "CUDA graph id; absent if the recording has none.",
     [](auto& r) { return r.node.graph < 0 ? kAbsent : integer(r.node.graph); }},
    {"node", CellType::integer, Unit::none, "Id of the executable graph's node.", [](auto& r) { return r.node.node; }},
    {"kind", CellType::text, Unit::none, "kernel, memcpy or memset.", [](auto& r) { return name_of_op(r.node.kind); }},
    {"name", CellType::text, Unit::none, "Name of the kernel; of the longest, if an update changed it.",
     [](auto& r) { return text_cell(r.facts.trace(), r.node.name); }},
    {"count", CellType::integer, Unit::count, "How often it ran.", [](auto& r) { return r.node.count; }},
    {"total_ns", CellType::integer, Unit::ns, "Sum of its durations.", [](auto& r) { return r.node.time.value(); }},
    {"mean_ns", CellType::real, Unit::ns, "Mean duration.", [](auto& r) { return r.node.time.over(r.node.count); }},
    {"waits_for", CellType::integer, Unit::count,
     "Nodes that it waits for; absent if its dependencies were not recorded.",
     [](auto& r) { return !r.node.dependencies ? kAbsent : integer(static_cast<std::int64_t>(r.node.waits_for)); }},
    {"host_nodes", CellType::integer, Unit::count,
     "Those of them that are functions of the host, which the GPU waits for.",
     [](auto& r) { return !r.node.dependencies ? kAbsent : integer(static_cast<std::int64_t>(r.node.host_nodes)); }},
    {"lag_mean_ns", CellType::real, Unit::ns,
     "Mean time from the end of the last node that it waits for to its start; absent if none of them is in the "
     "recording.",
     [](auto& r) { return r.node.lags == 0 ? std::nullopt : std::optional(r.node.lag.over(r.node.lags)); }},
    {"place", CellType::text, Unit::none,
     "Where it was captured: operator, module, line and range; absent if that was not recorded.",
     [](auto& r) {
         std::string place = r.facts.template get<CodePlaces>().of_graph_node(r.facts, r.node.origin);
         return place.empty() ? std::nullopt : std::optional(place);
     }},
});

void note_unknown_origins(const Trace& trace, const std::vector<NodeTotals>& nodes, const GraphOrigins& origins,
                          ResultTable& table) {
    std::int64_t without =
        std::count_if(nodes.begin(), nodes.end(), [](const NodeTotals& node) { return node.origin == kNoRow; });
    if (nodes.empty()) table.notes.push_back("No device work names a node of a CUDA graph.");
    if (origins.ignored() > 0)
        table.notes.push_back("There are too many dependencies between nodes: some are omitted.");
    if (without == 0) return;
    std::string why = "they were made before the recording began, or its recorder does not say where";
    for (std::string_view state : meta_values(trace, meta_key::kStreamCalls))
        if (state != meta_key::kStreamCallsRecorded) why = fmt::format("callbacks were not recorded: {}", state);
    table.notes.push_back(fmt::format("Where {} of {} nodes were captured is unknown: {}.", readable_count(without),
                                      readable_count(static_cast<std::int64_t>(nodes.size())), why));
}

Result<ResultTable> graph_nodes_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const GraphOrigins& origins = facts.get<GraphOrigins>();
    std::vector<NodeOp> ops;
    add_node_ops(facts, trace.kernel(), DeviceOp::kernel, ops);
    add_node_ops(facts, trace.memcpy(), DeviceOp::memcpy, ops);
    add_node_ops(facts, trace.memset(), DeviceOp::memset, ops);
    std::stable_sort(ops.begin(), ops.end(), [](const NodeOp& a, const NodeOp& b) {
        return std::tie(a.process, a.call, a.start) < std::tie(b.process, b.call, b.start);
    });
    std::map<std::pair<StringId, std::int64_t>, NodeTotals> totals;
    std::map<std::pair<StringId, std::int64_t>, DurNs> longest;
    for (const NodeOp& op : ops) {
        NodeTotals& node = totals[{op.process, op.node}];
        if (node.count++ == 0) {
            node.process = op.process;
            node.node = op.node;
            node.graph = op.graph;
            node.kind = op.kind;
            node.origin = origins.of_node(op.process, op.node, op.launched);
        }
        node.time.add(op.end - op.start);
        if (DurNs& most = longest[{op.process, op.node}]; node.name == kNoString || op.end - op.start > most) {
            most = op.end - op.start;
            node.name = op.name;
        }
    }
    for (std::size_t begin = 0, end = 0; begin < ops.size(); begin = end) {
        while (end < ops.size() && ops[end].process == ops[begin].process && ops[end].call == ops[begin].call) ++end;
        if (ops[begin].call != kNoRow) add_lags(origins, ops, begin, end, totals);
    }
    std::vector<NodeTotals> nodes;
    for (auto& [key, node] : totals) {
        node.dependencies = node.origin != kNoRow && trace.tables().graph_edge.rows > 0;
        auto after = origins.waits_for(node.process, node.node);
        node.waits_for = after.size();
        for (std::int64_t each : after) node.host_nodes += origins.kind(node.process, each) == "host";
        nodes.push_back(node);
    }
    std::stable_sort(nodes.begin(), nodes.end(),
                     [](const NodeTotals& a, const NodeTotals& b) { return a.time > b.time; });
    ResultTable table("graph_nodes", kGraphNodesColumns);
    table.handle_prefix = "gn";
    table.wanted = {"name", "count", "mean_ns", "lag_mean_ns", "place"};
    for (const NodeTotals& node : nodes) table.add(kGraphNodesColumns, {facts, node});
    note_unknown_origins(trace, nodes, origins, table);
    return table;
}

}  // namespace

const Analysis kGraphNodes{"graph_nodes", "",
                           "Per node of a CUDA graph: its work, what it waits for, and where it was captured.",
                           kGraphNodesColumns, graph_nodes_table};

}  // namespace gpuprof::tables
