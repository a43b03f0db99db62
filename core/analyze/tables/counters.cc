// `counters`: how near each launch that a kernel profiler looked at came to the limits of the device. One row per launch, in the order of
// the file; a figure whose metric was not collected is absent. Metrics go by their names in Nsight Compute's raw page or its
// details page.
#include <unordered_map>

#include "core/analyze/tables/analysis_list.h"
#include "core/analyze/tables/cells.h"

namespace gpuprof {
namespace {

struct Figure {
    std::string_view raw, details, unit;  // unit "": whichever
};
enum FigureIndex { kCompute, kMemory, kOccupancy, kRegisters, kFigures };
constexpr Figure kNames[kFigures] = {
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput", "%"},
    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory Throughput", "%"},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy", "%"},
    {"launch__registers_per_thread", "Registers Per Thread", ""},
};

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

struct Found {
    std::optional<double> figures[kFigures];
    std::int64_t counters = 0;
};

std::unordered_map<std::int64_t, Found> gather(const Trace& trace) {
    const KernelCounterTable& table = trace.tables().kernel_counter;
    std::unordered_map<std::int64_t, Found> found;
    for (Row row = 0; row < table.rows; ++row) {
        Found& of = found[table.launch[row]];
        ++of.counters;
        std::string_view metric = trace.text(table.metric.value_or(row, kNoString)),
                         unit = trace.text(table.unit.value_or(row, kNoString));
        for (int i = 0; i < kFigures; ++i) {
            bool named = metric == kNames[i].raw || metric == kNames[i].details;
            if (named && (kNames[i].unit.empty() || unit == kNames[i].unit) && table.value.has(row))
                of.figures[i] = table.value[row];
        }
    }
    return found;
}

Result<ResultTable> run(const Facts& facts) {
    const Trace& trace = facts.trace();
    const ProfiledKernelTable& table = trace.tables().profiled_kernel;
    ResultTable result("counters", kColumns);
    result.handle_prefix = "counter";
    auto found = gather(trace);
    std::int64_t only = facts.options().device;
    for (Row row = 0; row < table.rows; ++row) {
        if (only >= 0 && table.device.value_or(row, -1) != only) continue;
        const Found& of = found[table.launch[row]];
        const auto& registers = of.figures[kRegisters];
        result.add_row({integer(table.launch[row]), text_cell(trace, table.name.value_or(row, kNoString)),
                        integer(table.dur.get(row)), real(of.figures[kCompute]), real(of.figures[kMemory]),
                        real(of.figures[kOccupancy]),
                        registers && *registers >= 0 && *registers < 1e6
                            ? integer(static_cast<std::int64_t>(*registers))
                            : kAbsent,
                        integer(of.counters), integer(table.device.get(row))});
    }
    if (table.rows == 0)
        result.notes.push_back("No counters of kernels were recorded; ncu --csv --page raw collects them.");
    return result;
}

}  // namespace

const Analysis kCounters{"counters", "", "Per profiled launch: how near the limits of the device.", kColumns, run};

}  // namespace gpuprof
