// `counters`: how close each launch measured by a kernel profiler came to the device's limits. One row per launch, in
// file order; a figure whose metric was not collected is absent. Metrics are matched by their names on Nsight Compute's
// raw or details page.

#include "analyze/facts/kernels/measured_kernels.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kCountersColumns[] = {
    {"launch", CellType::integer, Unit::none, "Launch number."},
    {"name", CellType::text, Unit::none, "Kernel name."},
    {"dur_ns", CellType::integer, Unit::ns, "Duration under the profiler."},
    {"compute_pct", CellType::real, Unit::percent, "SM throughput as a share of its peak."},
    {"memory_pct", CellType::real, Unit::percent,
     "Throughput of the busiest cache level or of device memory, as a share of its peak."},
    {"occupancy_pct", CellType::real, Unit::percent,
     "Achieved occupancy: mean resident warps as a share of the maximum."},
    {"registers", CellType::integer, Unit::count, "Registers per thread."},
    {"counters", CellType::integer, Unit::count, "Number of counters collected; `export csv` writes all of them."},
    {"device", CellType::integer, Unit::none, "Device ordinal."},
};

Result<ResultTable> counters_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const ProfiledKernelTable& table = trace.tables().profiled_kernel;
    ResultTable result("counters", kCountersColumns);
    result.handle_prefix = "counter";
    for (const MeasuredKernel& kernel : facts.get<MeasuredKernels>().launches)
        result.add_row({integer(table.launch[kernel.row]), text_cell(trace, table.name.value_or(kernel.row, kNoString)),
                        integer(table.dur.get(kernel.row)), real(kernel[KernelMetric::compute_pct]),
                        real(kernel[KernelMetric::memory_pct]), real(kernel[KernelMetric::achieved_pct]),
                        count_cell(kernel[KernelMetric::registers]), integer(kernel.counters),
                        integer(table.device.get(kernel.row))});
    if (table.rows == 0)
        result.notes.push_back("No hardware counters were recorded; ncu --csv --page raw collects them.");
    return result;
}

}  // namespace

const Analysis kCounters{"counters", "", "Per profiled launch: SM and memory throughput, occupancy.", kCountersColumns,
                         counters_table};

}  // namespace gpuprof::tables
