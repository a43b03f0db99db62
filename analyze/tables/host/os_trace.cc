// `os_trace`: every recorded operating-system call in start order.
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "analyze/tables/event_list.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kOsTraceColumns[] = {
    {"start_ns", CellType::integer, Unit::ns, "Start time, relative to the window start."},
    {"dur_ns", CellType::integer, Unit::ns, "Duration."},
    {"name", CellType::text, Unit::none, "Function name."},
    {"thread", CellType::text, Unit::none, "Thread key."},
};

Result<ResultTable> os_trace_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const OsCallTable& calls = trace.tables().os_call;
    ResultTable table("os_trace", kOsTraceColumns);
    EventList list(facts, table);
    for (Row row = 0; row < calls.rows; ++row) {
        if (!list.wants_row()) continue;
        table.add_row({list.since_start(calls.start[row]), integer(calls.dur[row]),
                       text_cell(trace, calls.name.value_or(row, kNoString)),
                       text_cell(trace, calls.thread.value_or(row, kNoString))});
    }
    return table;
}

}  // namespace

const Analysis kOsTrace{"os_trace", "osrt_trace", "Every recorded operating-system call in start order.",
                        kOsTraceColumns, os_trace_table};

}  // namespace gpuprof::tables
