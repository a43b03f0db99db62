// `os_trace`: every recorded operating-system call in start order.
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "analyze/tables/event_list.h"

namespace gpuprof::inline tables {
namespace {

struct OsTraceRow {
    const Trace& trace;
    const OsCallTable& calls;
    const EventList& list;
    Row row;
};

constexpr auto kOsTraceColumns = columns_of<OsTraceRow>({
    {"start_ns", CellType::integer, Unit::ns, "Start time, relative to the window start.",
     [](auto& r) { return r.list.since_start(r.calls.start[r.row]); }},
    {"dur_ns", CellType::integer, Unit::ns, "Duration.", [](auto& r) { return r.calls.dur[r.row]; }},
    {"name", CellType::text, Unit::none, "Function name.",
     [](auto& r) { return text_cell(r.trace, r.calls.name.value_or(r.row, kNoString)); }},
    {"thread", CellType::text, Unit::none, "Thread key.",
     [](auto& r) { return text_cell(r.trace, r.calls.thread.value_or(r.row, kNoString)); }},
    {"stack", CellType::text, Unit::none, "Stack of the call, outermost first; recorders keep it of long calls only.",
     [](auto& r) { return text_cell(r.trace, r.calls.stack.value_or(r.row, kNoString)); }},
});

Result<ResultTable> os_trace_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const OsCallTable& calls = trace.tables().os_call;
    ResultTable table("os_trace", kOsTraceColumns);
    EventList list(facts, table);
    for (Row row = 0; row < calls.rows; ++row)
        if (list.wants_row()) table.add(kOsTraceColumns, {trace, calls, list, row});
    return table;
}

}  // namespace

const Analysis kOsTrace{"os_trace", "osrt_trace", "Every recorded operating-system call in start order.",
                        kOsTraceColumns, os_trace_table};

}  // namespace gpuprof::tables
