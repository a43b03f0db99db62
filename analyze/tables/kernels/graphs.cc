// `graphs`: what do launches of CUDA graphs cost, and how dense is the work in them? One row per process and graph. One
// launch lasts from the first start to the last end of its ops; idle time inside is what the graph's dependencies and
// small nodes leave open, and no call of the host can fill it.
#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "analyze/facts/device_op.h"
#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"
#include "core/model/build/submission.h"

namespace gpuprof::inline tables {
namespace {

constexpr std::int64_t kUnknownGraph = -1;

struct GraphOp {
    StringId process, name;  // no name: a copy or fill
    std::int64_t graph;
    Row call;
    Interval span;
};

struct GraphTotals {
    StringId process = kNoString, top_kernel = kNoString;
    std::int64_t graph = kUnknownGraph;
    std::uint64_t launches = 0, kernels = 0, copies = 0;
    WideSum call = {}, span = {}, busy = {};
};

// Every op of a graph: the recording names its graph, or its call launched one.
class GraphOps {
public:
    explicit GraphOps(const Facts& facts) : trace_(facts.trace()), device_(facts.options().device) {
        add(trace_.kernel(), DeviceOp::kernel);
        add(trace_.memcpy(), DeviceOp::memcpy);
        add(trace_.memset(), DeviceOp::memset);
        std::sort(ops_.begin(), ops_.end(), [](const GraphOp& a, const GraphOp& b) {
            return std::tie(a.process, a.graph, a.call, a.span.start) <
                   std::tie(b.process, b.graph, b.call, b.span.start);
        });
    }

    const std::vector<GraphOp>& in_order() const { return ops_; }
    std::uint64_t without_call() const { return without_call_; }

private:
    template <class Table>
    void add(const Table& table, DeviceOp kind) {
        for (Row row = 0; row < table.rows; ++row) {
            if (device_ >= 0 && table.device.value_or(row, -1) != device_) continue;
            Row call = launch_of(trace_, kind, row);
            if (!table.graph_id.has(row) && !launches_graph(call)) continue;
            if (call == kNoRow) {
                ++without_call_;
                continue;
            }
            StringId name = kNoString;
            if constexpr (requires { table.name; }) name = table.name.value_or(row, kNoString);
            TimeNs start = table.start[row];
            ops_.push_back({table.process.value_or(row, kNoString),
                            name,
                            table.graph_id.value_or(row, kUnknownGraph),
                            call,
                            {start, start + table.dur[row]}});
        }
    }

    bool launches_graph(Row call) {
        if (call == kNoRow) return false;
        StringId name = trace_.api_call().name.value_or(call, kNoString);
        if (name == kNoString) return false;
        auto [known, added] = is_graph_launch_.try_emplace(name, false);
        if (added) known->second = submission_of(trace_.text(name)) == Submission::graph;
        return known->second;
    }

    const Trace& trace_;
    std::int64_t device_;
    std::vector<GraphOp> ops_;
    std::uint64_t without_call_ = 0;
    std::map<StringId, bool> is_graph_launch_;
};

// The totals of one graph; `ops` are all of its ops, by launch and start.
GraphTotals totals_of(const Trace& trace, std::span<const GraphOp> ops) {
    GraphTotals graph{.process = ops.front().process, .graph = ops.front().graph};
    std::map<StringId, DurNs> time_of_kernel;
    for (std::size_t begin = 0, end = 0; begin < ops.size(); begin = end) {
        IntervalSet busy;
        TimeNs last = ops[begin].span.end;
        for (; end < ops.size() && ops[end].call == ops[begin].call; ++end) {
            const GraphOp& op = ops[end];
            add_merged(busy, op.span);
            last = std::max(last, op.span.end);
            if (op.name != kNoString) time_of_kernel[op.name] += op.span.length();
            ++(op.name != kNoString ? graph.kernels : graph.copies);
        }
        ++graph.launches;
        graph.call.add(trace.api_call().dur[ops[begin].call]);
        graph.span.add(last - ops[begin].span.start);
        graph.busy.add(length(busy));
    }
    auto longer = [&](const auto& a, const auto& b) {
        return a.second != b.second ? a.second < b.second : trace.text(a.first) > trace.text(b.first);
    };
    if (auto top = std::max_element(time_of_kernel.begin(), time_of_kernel.end(), longer); top != time_of_kernel.end())
        graph.top_kernel = top->first;
    return graph;
}

struct GraphsRow {
    const Trace& trace;
    const GraphTotals& graph;
};

constexpr auto kGraphsColumns = columns_of<GraphsRow>({
    {"process", CellType::text, Unit::none, "Key of the process.",
     [](auto& r) { return text_cell(r.trace, r.graph.process); }},
    {"graph", CellType::integer, Unit::none, "CUDA graph id; absent if the recording has none.",
     [](auto& r) { return r.graph.graph == kUnknownGraph ? kAbsent : integer(r.graph.graph); }},
    {"launches", CellType::integer, Unit::count, "Number of launches.", [](auto& r) { return r.graph.launches; }},
    {"kernels", CellType::integer, Unit::count, "Number of kernels, over all launches.",
     [](auto& r) { return r.graph.kernels; }},
    {"copies", CellType::integer, Unit::count, "Number of memcpys and memsets, over all launches.",
     [](auto& r) { return r.graph.copies; }},
    {"call_mean_ns", CellType::real, Unit::ns, "Mean duration of the call that launches it.",
     [](auto& r) { return r.graph.call.over(r.graph.launches); }},
    {"span_mean_ns", CellType::real, Unit::ns, "Mean time from the first start to the last end of one launch.",
     [](auto& r) { return r.graph.span.over(r.graph.launches); }},
    {"busy_mean_ns", CellType::real, Unit::ns, "Mean time of it with an op in flight.",
     [](auto& r) { return r.graph.busy.over(r.graph.launches); }},
    {"idle_pct", CellType::real, Unit::percent, "Share of the launches' spans without an op in flight.",
     [](auto& r) {
         WideSum idle = r.graph.span;
         idle.subtract(r.graph.busy);
         return percent(idle.real(), r.graph.span.real());
     }},
    {"busy_ns", CellType::integer, Unit::ns, "Time with an op in flight, over all launches.",
     [](auto& r) { return r.graph.busy.value(); }},
    {"top_kernel", CellType::text, Unit::none, "The kernel with the most time in it.",
     [](auto& r) { return text_cell(r.trace, r.graph.top_kernel); }},
});

Result<ResultTable> graphs_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    GraphOps gathered(facts);
    std::span<const GraphOp> ops = gathered.in_order();
    std::vector<GraphTotals> graphs;
    for (std::size_t begin = 0, end = 0; begin < ops.size(); begin = end) {
        while (end < ops.size() && ops[end].process == ops[begin].process && ops[end].graph == ops[begin].graph) ++end;
        graphs.push_back(totals_of(trace, ops.subspan(begin, end - begin)));
    }
    std::stable_sort(graphs.begin(), graphs.end(),
                     [](const GraphTotals& a, const GraphTotals& b) { return a.busy > b.busy; });

    ResultTable table("graphs", kGraphsColumns);
    table.handle_prefix = "cg";
    for (const GraphTotals& graph : graphs) table.add(kGraphsColumns, {trace, graph});
    if (graphs.empty() && gathered.without_call() == 0) table.notes.push_back("No CUDA graph was launched.");
    if (gathered.without_call() > 0)
        table.notes.push_back(
            fmt::format("Omitted because the calls that launched them were not recorded: {} of {} ops of graphs.",
                        readable_count(static_cast<std::int64_t>(gathered.without_call())),
                        readable_count(static_cast<std::int64_t>(gathered.without_call() + ops.size()))));
    return table;
}

}  // namespace

const Analysis kGraphs{"graphs", "", "Per CUDA graph: launches, their calls, and how dense their work is.",
                       kGraphsColumns, graphs_table};

}  // namespace gpuprof::tables
