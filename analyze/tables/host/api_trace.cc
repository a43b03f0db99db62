// `api_trace`: every CUDA or HIP call in start order.
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "analyze/tables/event_list.h"

namespace gpuprof::inline tables {
namespace {

struct ApiTraceRow {
    const Trace& trace;
    const ApiCallTable& calls;
    const EventList& list;
    Row row;
};

constexpr auto kApiTraceColumns = columns_of<ApiTraceRow>({
    {"start_ns", CellType::integer, Unit::ns, "Start time, relative to the window start.",
     [](auto& r) { return r.list.since_start(r.calls.start[r.row]); }},
    {"dur_ns", CellType::integer, Unit::ns, "Duration.", [](auto& r) { return r.calls.dur[r.row]; }},
    {"name", CellType::text, Unit::none, "Function name.",
     [](auto& r) { return text_cell(r.trace, r.calls.name.value_or(r.row, kNoString)); }},
    {"error", CellType::integer, Unit::none, "Error code returned by the call; absent if there was none.",
     [](auto& r) { return r.calls.error.get(r.row); }},
    {"correlation", CellType::integer, Unit::none, "Correlation id, shared with the device work it submitted.",
     [](auto& r) { return r.calls.correlation.get(r.row); }},
    {"process", CellType::text, Unit::none, "Process key.",
     [](auto& r) { return text_cell(r.trace, r.calls.process.value_or(r.row, kNoString)); }},
    {"thread", CellType::text, Unit::none, "Thread key.",
     [](auto& r) { return text_cell(r.trace, r.calls.thread.value_or(r.row, kNoString)); }},
});

Result<ResultTable> api_trace_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const ApiCallTable& calls = trace.api_call();
    ResultTable table("api_trace", kApiTraceColumns);
    EventList list(facts, table);
    for (Row row = 0; row < calls.rows; ++row)
        if (list.wants_row()) table.add(kApiTraceColumns, {trace, calls, list, row});
    return table;
}

}  // namespace

const Analysis kApiTrace{"api_trace", "cuda_api_trace", "Every CUDA or HIP call in start order.", kApiTraceColumns,
                         api_trace_table};

}  // namespace gpuprof::tables
