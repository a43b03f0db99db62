#include "analyze/facts/host/graph_origins.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "analyze/facts/facts.h"
#include "core/model/graph_node_kinds.h"

namespace gpuprof::inline facts {
namespace {

// Copies of copies: capture, child graph, clone of the whole, executable graph, update of it. A chain of a damaged file may be
// longer, or a circle.
constexpr int kMostCopies = 16;
constexpr std::uint64_t kMostDependencies = 4'000'000;

// PyTorch and CUPTI agree that the upper half of a node's id is that of its graph.
std::int64_t graph_of(const GraphNodeTable& nodes, Row row) {
    return nodes.graph_id.value_or(row, nodes.graph_node_id[row] >> 32);
}

bool has_all(const GraphNodeTable& nodes, Row row) {
    return nodes.time.has(row) && nodes.graph_node_id.has(row) && nodes.action.has(row);
}

}  // namespace

GraphOrigins GraphOrigins::make(const Facts& facts) {
    GraphOrigins made;
    made.trace_ = &facts.trace();
    const GraphNodeTable& nodes = facts.trace().tables().graph_node;
    for (Row row = 0; row < nodes.rows; ++row)
        if (has_all(nodes, row)) made.rows_.push_back(row);
    auto place = [&](Row row) {
        return std::tuple(nodes.process.value_or(row, kNoString), nodes.graph_node_id[row], nodes.time[row], row);
    };
    std::sort(made.rows_.begin(), made.rows_.end(), [&](Row a, Row b) { return place(a) < place(b); });
    made.find_dependencies();
    return made;
}

// What happened to the node last, at or before a time.
Row GraphOrigins::last_before(StringId process, std::int64_t node, TimeNs time) const {
    const GraphNodeTable& nodes = trace_->tables().graph_node;
    auto after =
        std::upper_bound(rows_.begin(), rows_.end(), std::tuple(process, node, time), [&](const auto& wanted, Row row) {
            return wanted <
                   std::tuple(nodes.process.value_or(row, kNoString), nodes.graph_node_id[row], nodes.time[row]);
        });
    if (after == rows_.begin()) return kNoRow;
    Row row = after[-1];
    return nodes.process.value_or(row, kNoString) == process && nodes.graph_node_id[row] == node ? row : kNoRow;
}

Row GraphOrigins::of_node(StringId process, std::int64_t node, TimeNs time) const {
    const GraphNodeTable& nodes = trace_->tables().graph_node;
    for (int copies = 0; copies < kMostCopies; ++copies) {
        Row row = last_before(process, node, time);
        if (row == kNoRow || trace_->text(nodes.action[row]) == graph_action::kCreated) return row;
        if (!nodes.original.has(row)) return kNoRow;
        node = nodes.original[row];
        time = nodes.time[row];
    }
    return kNoRow;
}

Row GraphOrigins::of_kernel(const Trace& trace, Row kernel) const {
    const KernelTable& kernels = trace.kernel();
    if (rows_.empty() || !kernels.graph_node_id.has(kernel)) return kNoRow;
    Row call = trace.links().kernel_launch[kernel];
    TimeNs launched = call != kNoRow ? trace.api_call().start[call] : kernels.start[kernel];
    return of_node(kernels.process.value_or(kernel, kNoString), kernels.graph_node_id[kernel], launched);
}

std::span<const std::int64_t> GraphOrigins::waits_for(StringId process, std::int64_t node) const {
    auto found = waits_for_.find({process, node});
    return found == waits_for_.end() ? std::span<const std::int64_t>() : found->second;
}

std::string_view GraphOrigins::kind(StringId process, std::int64_t node) const {
    Row row = last_before(process, node, std::numeric_limits<TimeNs>::max());
    return row == kNoRow ? "" : trace_->text(trace_->tables().graph_node.kind.value_or(row, kNoString));
}

// Dependencies are added to graphs. A copy has those that the original had when it was copied, between copies in one graph.
void GraphOrigins::find_dependencies() {
    const GraphNodeTable& nodes = trace_->tables().graph_node;
    const GraphEdgeTable& edges = trace_->tables().graph_edge;
    auto end_of = [&](const GraphEdgeTable& table, Row row) {
        return std::pair(table.process.value_or(row, kNoString), table.graph_node_id.value_or(row, -1));
    };
    std::vector<Row> by_node(edges.rows);
    for (Row row = 0; row < edges.rows; ++row) by_node[row] = row;
    std::stable_sort(by_node.begin(), by_node.end(), [&](Row a, Row b) { return end_of(edges, a) < end_of(edges, b); });
    std::map<std::tuple<StringId, std::int64_t, std::int64_t>, std::int64_t> copies;  // process, graph, original: copy
    for (Row row : rows_)
        if (trace_->text(nodes.action[row]) == graph_action::kCloned && nodes.original.has(row))
            copies[{nodes.process.value_or(row, kNoString), graph_of(nodes, row), nodes.original[row]}] =
                nodes.graph_node_id[row];
    std::uint64_t looked_at = 0;
    auto each_edge = [&](StringId process, std::int64_t node, TimeNs time, auto&& visit) {
        auto first = std::lower_bound(by_node.begin(), by_node.end(), std::pair(process, node),
                                      [&](Row row, const auto& wanted) { return end_of(edges, row) < wanted; });
        for (; first != by_node.end() && end_of(edges, *first) == std::pair(process, node); ++first) {
            if (++looked_at > kMostDependencies) {
                ++ignored_;
                return;
            }
            bool then = edges.time.value_or(*first, 0) <= time && edges.removed.value_or(*first, time + 1) > time;
            if (then && edges.after.has(*first)) visit(edges.after[*first]);
        }
    };
    for (Row row : rows_) {
        StringId process = nodes.process.value_or(row, kNoString);
        std::int64_t node = nodes.graph_node_id[row];
        std::vector<std::int64_t> found;
        if (trace_->text(nodes.action[row]) == graph_action::kCreated)
            each_edge(process, node, std::numeric_limits<TimeNs>::max() - 1,
                      [&](std::int64_t after) { found.push_back(after); });
        else if (trace_->text(nodes.action[row]) == graph_action::kCloned && nodes.original.has(row))
            each_edge(process, nodes.original[row], nodes.time[row], [&](std::int64_t after) {
                auto copy = copies.find({process, graph_of(nodes, row), after});
                if (copy != copies.end()) found.push_back(copy->second);
            });
        else
            continue;
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        if (!found.empty() || waits_for_.count({process, node}) != 0) waits_for_[{process, node}] = std::move(found);
    }
}

}  // namespace gpuprof::facts
