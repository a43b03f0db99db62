#include "core/analyze/facts/launch_counters.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/analyze/facts/facts.h"

namespace gpuprof {
namespace {

// Each metric's name on the raw page, then its names on the details page of each version, newest first.
struct Figure {
    std::string_view unit;  // "": any
    std::string_view names[5];
};
enum FigureIndex { kCompute, kMemory, kOccupancy, kRegisters, kFigures };
constexpr Figure kNames[kFigures] = {
    {"%",
     {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput", "Compute (SM) [%]", "SM [%]",
      "SOL SM"}},
    {"%",
     {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory Throughput", "Memory [%]",
      "SOL Memory"}},
    {"%", {"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy"}},
    {"", {"launch__registers_per_thread", "Registers Per Thread"}},
};

bool is_named(const Figure& figure, std::string_view metric) {
    return !metric.empty() &&
           std::find(std::begin(figure.names), std::end(figure.names), metric) != std::end(figure.names);
}

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
            if (is_named(kNames[i], metric) && (kNames[i].unit.empty() || unit == kNames[i].unit) &&
                table.value.has(row))
                of.figures[i] = table.value[row];
        }
    }
    return found;
}

}  // namespace

LaunchCounters LaunchCounters::make(const Facts& facts) {
    const ProfiledKernelTable& table = facts.trace().tables().profiled_kernel;
    auto found = gather(facts.trace());
    std::int64_t only = facts.options().device;
    LaunchCounters result;
    for (Row row = 0; row < table.rows; ++row) {
        if (only >= 0 && table.device.value_or(row, -1) != only) continue;
        const Found& of = found[table.launch[row]];
        CountedLaunch& launch = result.launches.emplace_back();
        launch.row = row;
        launch.compute_pct = of.figures[kCompute];
        launch.memory_pct = of.figures[kMemory];
        launch.occupancy_pct = of.figures[kOccupancy];
        if (const auto& registers = of.figures[kRegisters]; registers && *registers >= 0 && *registers < 1e6)
            launch.registers = static_cast<std::int64_t>(*registers);
        launch.counters = of.counters;
    }
    return result;
}

}  // namespace gpuprof
