// `range_trace`: every annotated range in start order, with its nesting depth on its thread.
#include <algorithm>
#include <vector>

#include "analyze/facts/host/range_tree.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "analyze/tables/event_list.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kRangeTraceColumns[] = {
    {"start_ns", CellType::integer, Unit::ns, "Start time, relative to the window start."},
    {"dur_ns", CellType::integer, Unit::ns, "Duration."},
    {"self_ns", CellType::integer, Unit::ns, "Duration without nested ranges."},
    {"name", CellType::text, Unit::none, "Annotation text."},
    {"level", CellType::integer, Unit::count, "Nesting depth: number of enclosing ranges on the thread."},
    {"thread", CellType::text, Unit::none, "Thread key."},
    {"domain", CellType::text, Unit::none, "NVTX domain, or `user_annotation`."},
    {"category", CellType::text, Unit::none, "NVTX category."},
};

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
    for (std::uint32_t i : order) {
        if (!list.wants_row()) continue;
        const RangeInstance& at = instances[i];
        table.add_row({list.since_start(at.start), integer(ranges.dur[at.row]), integer(at.self),
                       text_cell(trace, ranges.name.value_or(at.row, kNoString)), integer(tree.paths()[at.path].depth),
                       text_cell(trace, ranges.thread.value_or(at.row, kNoString)),
                       text_cell(trace, ranges.domain.value_or(at.row, kNoString)),
                       text_cell(trace, ranges.category.value_or(at.row, kNoString))});
    }
    return table;
}

}  // namespace

const Analysis kRangeTrace{"range_trace", "nvtx_pushpop_trace nvtx_startend_trace",
                           "Every annotated range in start order.", kRangeTraceColumns, range_trace_table};

}  // namespace gpuprof::tables
