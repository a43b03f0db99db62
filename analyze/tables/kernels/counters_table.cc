// `counters`: how close each launch measured by a kernel profiler came to the device's limits. One row per launch, in
// file order; a figure whose metric was not collected is absent. Metrics are matched by their names on Nsight Compute's
// raw or details page.

#include "analyze/facts/kernels/measured_kernels.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct CountersRow {
    const Trace& trace;
    const ProfiledKernelTable& table;
    const MeasuredKernel& kernel;
};

constexpr auto kCountersColumns = columns_of<CountersRow>({
    {"launch", CellType::integer, Unit::none, "Launch number.", [](auto& r) { return r.table.launch[r.kernel.row]; }},
    {"name", CellType::text, Unit::none, "Kernel name.",
     [](auto& r) { return text_cell(r.trace, r.table.name.value_or(r.kernel.row, kNoString)); }},
    {"dur_ns", CellType::integer, Unit::ns, "Duration under the profiler.",
     [](auto& r) { return r.table.dur.get(r.kernel.row); }},
    {"compute_pct", CellType::real, Unit::percent, "SM throughput as a share of its peak.",
     [](auto& r) { return r.kernel[KernelMetric::compute_pct]; }},
    {"memory_pct", CellType::real, Unit::percent,
     "Throughput of the busiest cache level or of device memory, as a share of its peak.",
     [](auto& r) { return r.kernel[KernelMetric::memory_pct]; }},
    {"occupancy_pct", CellType::real, Unit::percent,
     "Achieved occupancy: mean resident warps as a share of the maximum.",
     [](auto& r) { return r.kernel[KernelMetric::achieved_pct]; }},
    {"registers", CellType::integer, Unit::count, "Registers per thread.",
     [](auto& r) { return count_cell(r.kernel[KernelMetric::registers]); }},
    {"counters", CellType::integer, Unit::count, "Number of counters collected; `export csv` writes all of them.",
     [](auto& r) { return r.kernel.counters; }},
    {"device", CellType::integer, Unit::none, "Device ordinal.",
     [](auto& r) { return r.table.device.get(r.kernel.row); }},
});

Result<ResultTable> counters_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const ProfiledKernelTable& table = trace.tables().profiled_kernel;
    ResultTable result("counters", kCountersColumns);
    result.handle_prefix = "counter";
    for (const MeasuredKernel& kernel : facts.get<MeasuredKernels>().launches)
        result.add(kCountersColumns, {trace, table, kernel});
    if (table.rows == 0)
        result.notes.push_back("No hardware counters were recorded; ncu --csv --page raw collects them.");
    return result;
}

}  // namespace

const Analysis kCounters{"counters", "", "Per profiled launch: SM and memory throughput, occupancy.", kCountersColumns,
                         counters_table};

}  // namespace gpuprof::tables
