#include "cli/bench/tables.h"

#include <algorithm>
#include <optional>

namespace gpuprof {
namespace {

using namespace measure;

constexpr ResultColumn kMemoryColumns[] = {
    {"name", CellType::text, Unit::none, "The function."},
    {"source", CellType::text, Unit::none, "Who counted: torch, cupy, driver, tracemalloc."},
    {"peak_allocated", CellType::integer, Unit::bytes, "The most that was allocated during one call."},
    {"allocated", CellType::integer, Unit::bytes, "Allocated after the call."},
    {"peak_reserved", CellType::integer, Unit::bytes, "The most that the framework had taken from the driver."},
    {"reserved", CellType::integer, Unit::bytes, "What it keeps after the call."},
    {"device_used", CellType::integer, Unit::bytes, "In use on the whole device, by all processes."},
    {"outside", CellType::integer, Unit::bytes, "device_used without what the framework reserved."},
};

constexpr ResultColumn kProgramColumns[] = {
    {"name", CellType::text, Unit::none, "The program."},
    {"runs", CellType::integer, Unit::count, "Runs that count."},
    {"wall", CellType::real, Unit::ns, "Median of the time from start to end of a run."},
    {"wall_low", CellType::real, Unit::ns, "Lower end of that median's interval; absent for too few runs."},
    {"wall_high", CellType::real, Unit::ns, "Upper end of it."},
    {"level_pct", CellType::real, Unit::percent, "Probability with which the interval covers the true median."},
    {"wall_min", CellType::real, Unit::ns, "Shortest run."},
    {"wall_max", CellType::real, Unit::ns, "Longest run."},
    {"noise_pct", CellType::real, Unit::percent, "Standard deviation over the mean of the wall times."},
    {"outliers", CellType::integer, Unit::count, "Runs beyond Tukey's fences; they are in all numbers."},
    {"user", CellType::real, Unit::ns, "Median processor time in user mode, waited-for children included."},
    {"system", CellType::real, Unit::ns, "Median processor time in the kernel, waited-for children included."},
    {"peak_memory", CellType::real, Unit::bytes,
     "Median of the most resident memory of the largest process of a run (not of all together)."},
    {"warmup_runs", CellType::integer, Unit::count, "Runs before, which do not count."},
    {"warmup_first", CellType::real, Unit::ns, "Wall time of the first of them."},
    {"failed", CellType::integer, Unit::count, "Runs that ended with another status than 0."},
    {"stopped", CellType::text, Unit::none, "Why no further run was made."},
};

constexpr ResultColumn kDeviceColumns[] = {
    {"name", CellType::text, Unit::none, "The program."},
    {"device", CellType::integer, Unit::none, "The device, as CUDA numbers it."},
    {"device_name", CellType::text, Unit::none, "Its name."},
    {"samples", CellType::integer, Unit::count, "Samples over all counted runs."},
    {"busy_pct", CellType::real, Unit::percent, "Share of the time in which at least one kernel ran, of any process."},
    {"busy_per_run", CellType::real, Unit::second, "The same as time, by run."},
    {"energy_per_run", CellType::real, Unit::joule, "Energy of the board, by run."},
    {"energy_uncertainty", CellType::real, Unit::joule, "Most that energy_per_run is off, either way."},
    {"peak_memory", CellType::real, Unit::bytes, "Most device memory in use, by all processes."},
};

template <class Value>
Cell cell(const std::optional<Value>& value) {
    return value ? Cell(*value) : kAbsent;
}
Cell count(std::size_t value) { return static_cast<std::int64_t>(value); }

ResultTable memory_table(const BenchDocument& document) {
    ResultTable table("memory", kMemoryColumns);
    for (const Benchmark& each : document.benchmarks) {
        if (!each.memory) continue;
        const MemoryFigures& m = *each.memory;
        table.add_row({std::string_view(each.measurement.name), std::string_view(m.source), cell(m.peak_allocated),
                       cell(m.allocated), cell(m.peak_reserved), cell(m.reserved), cell(m.device_used),
                       cell(m.outside)});
        for (const std::string& note : m.notes) table.notes.push_back(each.measurement.name + ": " + note);
    }
    return table;
}

// The median of what each run has; absent when a run lacks it.
template <class Figure>
Cell median_of(const std::vector<ProgramRun>& runs, Figure figure) {
    std::vector<double> values;
    for (const ProgramRun& run : runs) {
        std::optional<std::int64_t> value = figure(run);
        if (!value) return kAbsent;
        values.push_back(static_cast<double>(*value));
    }
    if (values.empty()) return kAbsent;
    std::sort(values.begin(), values.end());
    return percentile_of(values, 50);
}

void add_program(const Benchmark& benchmark, ResultTable& table) {
    const Measurement& m = benchmark.measurement;
    const ProgramUse& use = *benchmark.program;
    const Statistics& s = m.statistics;
    auto of = [&](double measure::Interval::*member) {
        return s.median_interval ? Cell((*s.median_interval).*member) : kAbsent;
    };
    auto failed = std::count_if(use.runs.begin(), use.runs.end(),
                                [](const ProgramRun& run) { return run.exit_status != 0 || run.signal != 0; });
    Cell level = s.median_interval ? Cell(s.median_interval->level * 100) : kAbsent;
    table.add_row({std::string_view(m.name), count(s.count), s.median, of(&measure::Interval::low),
                   of(&measure::Interval::high), level, s.min, s.max, s.noise * 100,
                   count(s.outliers_low + s.outliers_high),
                   median_of(use.runs, [](const ProgramRun& run) { return std::optional(run.user); }),
                   median_of(use.runs, [](const ProgramRun& run) { return std::optional(run.system); }),
                   median_of(use.runs, [](const ProgramRun& run) { return run.peak_memory; }), count(use.warmup.size()),
                   use.warmup.empty() ? kAbsent : Cell(static_cast<double>(use.warmup.front().wall)),
                   std::int64_t{failed}, name_of(m.stopped)});
    for (const std::string& note : m.notes) table.notes.push_back(note);
    if (!use.no_memory_because.empty()) table.notes.push_back("peak memory is not known: " + use.no_memory_because);
    if (use.devices.empty())
        table.notes.push_back("busy time, energy and memory of a GPU are not known: " + use.no_device_because);
}

ResultTable device_table(const BenchDocument& document) {
    ResultTable table("devices", kDeviceColumns);
    for (const Benchmark& each : document.benchmarks) {
        if (!each.program) continue;
        for (const ProgramDevice& device : each.program->devices) {
            table.add_row({std::string_view(each.measurement.name), device.device, std::string_view(device.name),
                           device.samples, cell(device.busy_pct), cell(device.busy_s), cell(device.energy_j),
                           cell(device.energy_uncertainty_j), cell(device.peak_memory)});
            for (const std::string& note : device.notes) table.notes.push_back(note);
        }
    }
    return table;
}

}  // namespace

std::vector<ResultTable> bench_tables(const BenchDocument& document) {
    std::vector<Measurement> functions;
    ResultTable programs("programs", kProgramColumns);
    for (const Benchmark& each : document.benchmarks)
        each.program ? add_program(each, programs) : functions.push_back(each.measurement);
    std::vector<ResultTable> tables;
    if (programs.rows() > 0) tables.push_back(std::move(programs));
    if (!functions.empty()) tables.push_back(table_of(functions));
    for (ResultTable (*make)(const BenchDocument&) : {memory_table, device_table})
        if (ResultTable table = make(document); table.rows() > 0) tables.push_back(std::move(table));
    return tables;
}

}  // namespace gpuprof
