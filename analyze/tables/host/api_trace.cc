// `api_trace`: every CUDA or HIP call in start order.
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "analyze/tables/event_list.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kApiTraceColumns[] = {
    {"start_ns", CellType::integer, Unit::ns, "Start time, relative to the window start."},
    {"dur_ns", CellType::integer, Unit::ns, "Duration."},
    {"name", CellType::text, Unit::none, "Function name."},
    {"error", CellType::integer, Unit::none, "Error code returned by the call; absent if there was none."},
    {"correlation", CellType::integer, Unit::none, "Correlation id, shared with the device work it submitted."},
    {"process", CellType::text, Unit::none, "Process key."},
    {"thread", CellType::text, Unit::none, "Thread key."},
};

Result<ResultTable> api_trace_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const ApiCallTable& calls = trace.api_call();
    ResultTable table("api_trace", kApiTraceColumns);
    EventList list(facts, table);
    for (Row row = 0; row < calls.rows; ++row) {
        if (!list.wants_row()) continue;
        table.add_row({list.since_start(calls.start[row]), integer(calls.dur[row]),
                       text_cell(trace, calls.name.value_or(row, kNoString)), integer(calls.error.get(row)),
                       integer(calls.correlation.get(row)), text_cell(trace, calls.process.value_or(row, kNoString)),
                       text_cell(trace, calls.thread.value_or(row, kNoString))});
    }
    return table;
}

}  // namespace

const Analysis kApiTrace{"api_trace", "cuda_api_trace", "Every CUDA or HIP call in start order.", kApiTraceColumns,
                         api_trace_table};

}  // namespace gpuprof::tables
