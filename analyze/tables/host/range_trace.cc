// `range_trace`: every annotated range in start order, with its nesting depth on its thread.
#include <algorithm>
#include <vector>

#include "analyze/facts/host/range_tree.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "analyze/tables/event_list.h"

namespace gpuprof::inline tables {
namespace {

struct RangeTraceRow {
    const Trace& trace;
    const RangeTable& ranges;
    const RangeTree& tree;
    const EventList& list;
    const RangeInstance& at;
};

constexpr auto kRangeTraceColumns = columns_of<RangeTraceRow>({
    {"start_ns", CellType::integer, Unit::ns, "Start time, relative to the window start.",
     [](auto& r) { return r.list.since_start(r.at.start); }},
    {"dur_ns", CellType::integer, Unit::ns, "Duration.", [](auto& r) { return r.ranges.dur[r.at.row]; }},
    {"self_ns", CellType::integer, Unit::ns, "Duration without nested ranges.", [](auto& r) { return r.at.self; }},
    {"name", CellType::text, Unit::none, "Annotation text.",
     [](auto& r) { return text_cell(r.trace, r.ranges.name.value_or(r.at.row, kNoString)); }},
    {"level", CellType::integer, Unit::count, "Nesting depth: number of enclosing ranges on the thread.",
     [](auto& r) { return r.tree.paths()[r.at.path].depth; }},
    {"thread", CellType::text, Unit::none, "Thread key.",
     [](auto& r) { return text_cell(r.trace, r.ranges.thread.value_or(r.at.row, kNoString)); }},
    {"domain", CellType::text, Unit::none, "NVTX domain, or `user_annotation`.",
     [](auto& r) { return text_cell(r.trace, r.ranges.domain.value_or(r.at.row, kNoString)); }},
    {"category", CellType::text, Unit::none, "NVTX category.",
     [](auto& r) { return text_cell(r.trace, r.ranges.category.value_or(r.at.row, kNoString)); }},
});

Result<ResultTable> range_trace_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const RangeTable& ranges = trace.tables().range;
    RangeTree tree(trace);
    const PodVector<RangeInstance>& instances = tree.instances();
    std::vector<std::uint32_t> order(instances.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return instances[a].start < instances[b].start; });
    ResultTable table("range_trace", kRangeTraceColumns);
    EventList list(facts, table);
    for (std::uint32_t i : order)
        if (list.wants_row()) table.add(kRangeTraceColumns, {trace, ranges, tree, list, instances[i]});
    return table;
}

}  // namespace

const Analysis kRangeTrace{"range_trace", "nvtx_pushpop_trace nvtx_startend_trace",
                           "Every annotated range in start order.", kRangeTraceColumns, range_trace_table};

}  // namespace gpuprof::tables
