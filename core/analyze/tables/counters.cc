// `counters`: how near each launch that a kernel profiler looked at came to the limits of the device. One row per launch, in the order of
// the file; a figure whose metric was not collected is absent. Metrics go by their names in Nsight Compute's raw page or its
// details page.

#include "core/analyze/facts/launch_counters.h"
#include "core/analyze/tables/analysis_list.h"
#include "core/analyze/tables/cells.h"

namespace gpuprof {
namespace {

constexpr ResultColumn kColumns[] = {
    {"launch", CellType::integer, Unit::none, "Number of the launch."},
    {"name", CellType::text, Unit::none, "Name of the kernel."},
    {"dur_ns", CellType::integer, Unit::ns, "How long it ran under the profiler."},
    {"compute_pct", CellType::real, Unit::percent, "Throughput of the multiprocessors, of their peak."},
    {"memory_pct", CellType::real, Unit::percent,
     "Throughput of caches and device memory, of the peak of the busiest."},
    {"occupancy_pct", CellType::real, Unit::percent, "Warps resident on average, of those that fit."},
    {"registers", CellType::integer, Unit::count, "Registers per thread."},
    {"counters", CellType::integer, Unit::count, "Counters of the launch; `export csv` writes them all."},
    {"device", CellType::integer, Unit::none, "Device ordinal."},
};

Result<ResultTable> run(const Facts& facts) {
    const Trace& trace = facts.trace();
    const ProfiledKernelTable& table = trace.tables().profiled_kernel;
    ResultTable result("counters", kColumns);
    result.handle_prefix = "counter";
    for (const CountedLaunch& of : facts.get<LaunchCounters>().launches)
        result.add_row({integer(table.launch[of.row]), text_cell(trace, table.name.value_or(of.row, kNoString)),
                        integer(table.dur.get(of.row)), real(of.compute_pct), real(of.memory_pct),
                        real(of.occupancy_pct), integer(of.registers), integer(of.counters),
                        integer(table.device.get(of.row))});
    if (table.rows == 0)
        result.notes.push_back("No counters of kernels were recorded; ncu --csv --page raw collects them.");
    return result;
}

}  // namespace

const Analysis kCounters{"counters", "", "Per profiled launch: how near the limits of the device.", kColumns, run};

}  // namespace gpuprof
