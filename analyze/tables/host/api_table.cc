// `api`: how much host time went into CUDA or HIP calls? One row per function name, over all threads.
// `blocking` is derived from the name: whether the call itself waits for the device (host_names.h). Calls belong to no
// device, so the device option does not apply.
#include "analyze/facts/name_groups.h"
#include "analyze/knowledge/host_names.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct ApiRow {
    const Trace& trace;
    const CallTimes& calls;
};

constexpr auto kApiColumns = columns_of<ApiRow>({
    {"name", CellType::text, Unit::none, "Function name.", [](auto& r) { return text_cell(r.trace, r.calls.name); }},
    {"count", CellType::integer, Unit::count, "Number of calls.", [](auto& r) { return r.calls.stat.count; }},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the durations.",
     [](auto& r) { return r.calls.stat.sum.value(); }},
    {"mean_ns", CellType::real, Unit::ns, "Mean duration.", [](auto& r) { return r.calls.stat.mean; }},
    {"p50_ns", CellType::integer, Unit::ns, "Median (nearest rank).", [](auto& r) { return r.calls.stat.p50; }},
    {"p95_ns", CellType::integer, Unit::ns, "95th percentile (nearest rank).",
     [](auto& r) { return r.calls.stat.p95; }},
    {"max_ns", CellType::integer, Unit::ns, "Longest duration.", [](auto& r) { return r.calls.stat.max; }},
    {"blocking", CellType::boolean, Unit::none, "Whether the call waits for the device.",
     [](auto& r) { return r.calls.name == kNoString ? kAbsent : Cell{call_blocks(r.trace.text(r.calls.name))}; }},
    {"threads", CellType::integer, Unit::count, "Number of threads that made the call.",
     [](auto& r) { return r.calls.threads == 0 ? kAbsent : integer(r.calls.threads); }},
});

Result<ResultTable> api_table(const Facts& facts) {
    ResultTable table("api", kApiColumns);
    table.handle_prefix = "a";
    for (const CallTimes& calls : facts.get<CallNames>().calls) table.add(kApiColumns, {facts.trace(), calls});
    return table;
}

}  // namespace

const Analysis kApi{"api", "cuda_api_sum", "Per CUDA or HIP function: calls, time, and whether it blocks.", kApiColumns,
                    api_table};

}  // namespace gpuprof::tables
