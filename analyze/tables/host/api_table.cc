// `api`: how much host time went into CUDA or HIP calls? One row per function name, over all threads.
// `blocking` is derived from the name: whether the call itself waits for the device (call_kind.h). Calls belong to no
// device, so the device option does not apply.
#include "analyze/facts/host/call_names.h"
#include "analyze/knowledge/call_kind.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kApiColumns[] = {
    {"name", CellType::text, Unit::none, "Function name."},
    {"count", CellType::integer, Unit::count, "Number of calls."},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the durations."},
    {"mean_ns", CellType::real, Unit::ns, "Mean duration."},
    {"p50_ns", CellType::integer, Unit::ns, "Median (nearest rank)."},
    {"p95_ns", CellType::integer, Unit::ns, "95th percentile (nearest rank)."},
    {"max_ns", CellType::integer, Unit::ns, "Longest duration."},
    {"blocking", CellType::boolean, Unit::none, "Whether the call waits for the device."},
    {"threads", CellType::integer, Unit::count, "Number of threads that made the call."},
};

Result<ResultTable> api_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    ResultTable table("api", kApiColumns);
    table.handle_prefix = "a";
    for (const CallTimes& group : facts.get<CallNames>().calls) {
        table.add_row({
            text_cell(trace, group.name),
            integer(group.stat.count),
            integer(group.stat.sum.value()),
            real(group.stat.mean),
            integer(group.stat.p50),
            integer(group.stat.p95),
            integer(group.stat.max),
            group.name == kNoString ? kAbsent : Cell{call_blocks(trace.text(group.name))},
            group.threads == 0 ? kAbsent : integer(group.threads),
        });
    }
    return table;
}

}  // namespace

const Analysis kApi{"api", "cuda_api_sum", "Per CUDA or HIP function: calls, time, and whether it blocks.", kApiColumns,
                    api_table};

}  // namespace gpuprof::tables
