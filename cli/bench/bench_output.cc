#include "cli/bench/bench_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "cli/bench/nvbench.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "core/model/result_table.h"
#include "measure/bench_document.h"
#include "present/report/paint.h"
#include "present/report/report.h"
#include "present/report/text_lines.h"
#include "present/report/text_table.h"

namespace gpuprof::inline cli {
namespace {

// A result of `bench` as tables, for every format that shows tables.

constexpr ResultColumn kMemoryColumns[] = {
    {"name", CellType::text, Unit::none, "Name of the function."},
    {"source", CellType::text, Unit::none, "Source of the figures: torch, cupy, driver or tracemalloc."},
    {"peak_allocated", CellType::integer, Unit::bytes, "Peak of allocated memory during one call."},
    {"allocated", CellType::integer, Unit::bytes, "Memory allocated after the call."},
    {"peak_reserved", CellType::integer, Unit::bytes, "Peak of memory that the framework reserved from the driver."},
    {"reserved", CellType::integer, Unit::bytes, "Memory that the framework keeps reserved after the call."},
    {"device_used", CellType::integer, Unit::bytes, "Memory in use on the whole device, by all processes."},
    {"outside", CellType::integer, Unit::bytes, "device_used minus the memory that the framework reserved."},
};

constexpr ResultColumn kProgramColumns[] = {
    {"name", CellType::text, Unit::none, "Name of the program."},
    {"runs", CellType::integer, Unit::count, "Counted runs."},
    {"wall", CellType::real, Unit::ns, "Median wall time of a run."},
    {"wall_low", CellType::real, Unit::ns, "Lower end of the median's confidence interval; absent for too few runs."},
    {"wall_high", CellType::real, Unit::ns, "Upper end of the median's confidence interval."},
    {"level_pct", CellType::real, Unit::percent, "Confidence level of the interval."},
    {"wall_min", CellType::real, Unit::ns, "Wall time of the shortest run."},
    {"wall_max", CellType::real, Unit::ns, "Wall time of the longest run."},
    {"noise_pct", CellType::real, Unit::percent, "Standard deviation of the wall times, relative to their mean."},
    {"outliers", CellType::integer, Unit::count, "Runs beyond Tukey's fences; all figures include them."},
    {"user", CellType::real, Unit::ns, "Median CPU time in user mode, including waited-for children."},
    {"system", CellType::real, Unit::ns, "Median CPU time in the kernel, including waited-for children."},
    {"peak_memory", CellType::real, Unit::bytes,
     "Median peak resident memory of the largest process of a run, not the sum of all."},
    {"warmup_runs", CellType::integer, Unit::count, "Warm-up runs, which are not counted."},
    {"warmup_first", CellType::real, Unit::ns, "Wall time of the first warm-up run."},
    {"failed", CellType::integer, Unit::count, "Runs that exited with a status other than 0."},
    {"stopped", CellType::text, Unit::none, "Why measuring ended."},
};

constexpr ResultColumn kDeviceColumns[] = {
    {"name", CellType::text, Unit::none, "Name of the program."},
    {"device", CellType::integer, Unit::none, "Device number, in CUDA's order."},
    {"device_name", CellType::text, Unit::none, "Name of the device."},
    {"samples", CellType::integer, Unit::count, "Samples over all counted runs."},
    {"busy_pct", CellType::real, Unit::percent, "Share of the time in which at least one kernel of any process ran."},
    {"busy_per_run", CellType::real, Unit::second, "Busy time per run."},
    {"energy_per_run", CellType::real, Unit::joule, "Energy of the board per run."},
    {"energy_uncertainty", CellType::real, Unit::joule, "Maximum error of energy_per_run in either direction."},
    {"peak_memory", CellType::real, Unit::bytes, "Peak of device memory in use, by all processes."},
};

template <class Value>
Cell cell(const std::optional<Value>& value) {
    return value ? Cell(*value) : kAbsent;
}
Cell count(std::size_t value) { return static_cast<std::int64_t>(value); }

ResultTable memory_table(const measure::BenchDocument& document) {
    ResultTable table("memory", kMemoryColumns);
    for (const measure::Benchmark& each : document.benchmarks) {
        if (!each.memory) continue;
        const measure::MemoryFigures& m = *each.memory;
        table.add_row({std::string_view(each.measurement.name), std::string_view(m.source), cell(m.peak_allocated),
                       cell(m.allocated), cell(m.peak_reserved), cell(m.reserved), cell(m.device_used),
                       cell(m.outside)});
        for (const std::string& note : m.notes) table.notes.push_back(each.measurement.name + ": " + note);
    }
    return table;
}

// The median over all runs; absent if a run lacks the value.
template <class Figure>
Cell median_of(const std::vector<measure::ProgramRun>& runs, Figure figure) {
    std::vector<double> values;
    for (const measure::ProgramRun& run : runs) {
        std::optional<std::int64_t> value = figure(run);
        if (!value) return kAbsent;
        values.push_back(static_cast<double>(*value));
    }
    if (values.empty()) return kAbsent;
    std::sort(values.begin(), values.end());
    return measure::percentile_of(values, 50);
}

void add_program(const measure::Benchmark& benchmark, ResultTable& table) {
    const measure::Measurement& m = benchmark.measurement;
    const measure::ProgramUse& use = *benchmark.program;
    const measure::Statistics& s = m.statistics;
    auto of = [&](double measure::Interval::*member) {
        return s.median_interval ? Cell((*s.median_interval).*member) : kAbsent;
    };
    auto failed = std::count_if(use.runs.begin(), use.runs.end(),
                                [](const measure::ProgramRun& run) { return run.exit_status != 0 || run.signal != 0; });
    Cell level = s.median_interval ? Cell(s.median_interval->level * 100) : kAbsent;
    table.add_row(
        {std::string_view(m.name), count(s.count), s.median, of(&measure::Interval::low), of(&measure::Interval::high),
         level, s.min, s.max, s.noise * 100, count(s.outliers_low + s.outliers_high),
         median_of(use.runs, [](const measure::ProgramRun& run) { return std::optional(run.user); }),
         median_of(use.runs, [](const measure::ProgramRun& run) { return std::optional(run.system); }),
         median_of(use.runs, [](const measure::ProgramRun& run) { return run.peak_memory; }), count(use.warmup.size()),
         use.warmup.empty() ? kAbsent : Cell(static_cast<double>(use.warmup.front().wall)), std::int64_t{failed},
         measure::name_of(m.stopped)});
    for (const std::string& note : m.notes) table.notes.push_back(note);
    if (!use.no_memory_because.empty()) table.notes.push_back("peak memory is unknown: " + use.no_memory_because);
    if (use.devices.empty())
        table.notes.push_back("GPU busy time, energy and memory are unknown: " + use.no_device_because);
}

ResultTable device_table(const measure::BenchDocument& document) {
    ResultTable table("devices", kDeviceColumns);
    for (const measure::Benchmark& each : document.benchmarks) {
        if (!each.program) continue;
        for (const measure::ProgramDevice& device : each.program->devices) {
            table.add_row({std::string_view(each.measurement.name), device.device, std::string_view(device.name),
                           device.samples, cell(device.busy_pct), cell(device.busy_s), cell(device.energy_j),
                           cell(device.energy_uncertainty_j), cell(device.peak_memory)});
            for (const std::string& note : device.notes) table.notes.push_back(note);
        }
    }
    return table;
}

// The first table is the one that CSV holds: functions if there are any, else programs.
std::vector<ResultTable> bench_tables(const measure::BenchDocument& document) {
    std::vector<measure::Measurement> functions;
    ResultTable programs("programs", kProgramColumns);
    for (const measure::Benchmark& each : document.benchmarks)
        each.program ? add_program(each, programs) : functions.push_back(each.measurement);
    std::vector<ResultTable> tables;
    if (programs.rows() > 0) tables.push_back(std::move(programs));
    if (!functions.empty()) tables.push_back(measure::table_of(functions));
    for (ResultTable (*make)(const measure::BenchDocument&) : {memory_table, device_table})
        if (ResultTable table = make(document); table.rows() > 0) tables.push_back(std::move(table));
    return tables;
}

std::string head_of(const measure::BenchDocument& document) {
    const measure::Machine& machine = document.machine;
    return fmt::format("{}, {}, {} CPU{}, {}", machine.host, machine.cpu, machine.cpus, machine.cpus == 1 ? "" : "s",
                       document.created);
}

// The most important columns, for text output; columns without any value are omitted.
constexpr std::string_view kBriefColumns[] = {
    "name",          "verdict",         "speedup",     "speedup_low", "speedup_high",
    "baseline",      "candidate",       "change_pct",  "runs",        "median",
    "median_low",    "median_high",     "wall",        "wall_low",    "wall_high",
    "noise_pct",     "outliers",        "samples",     "timer",       "user",
    "system",        "bytes_per_s",     "bytes_pct",   "flop_per_s",  "flop_pct",
    "throttled",     "energy_per_call", "device",      "device_name", "busy_pct",
    "busy_per_run",  "energy_per_run",  "peak_memory", "source",      "peak_allocated",
    "peak_reserved", "device_used",     "outside"};

struct BriefColumns {
    std::vector<ResultColumn> columns;
    std::vector<std::size_t> places;

    explicit BriefColumns(const ResultTable& table) {
        for (std::string_view name : kBriefColumns)
            if (std::size_t place = table.column(name); place < table.columns().size() && has_value(table, place)) {
                columns.push_back(table.columns()[place]);
                places.push_back(place);
            }
    }
    static bool has_value(const ResultTable& table, std::size_t column) {
        for (std::size_t row = 0; row < table.rows(); ++row) {
            Cell found = table.cell(row, column);
            const auto* number = std::get_if<std::int64_t>(&found);
            if (found != kAbsent && !(column > 0 && number != nullptr && *number == 0)) return true;
        }
        return false;
    }
    // Refers to `columns`.
    ResultTable of(const ResultTable& table) const {
        ResultTable brief(table.name(), columns);
        for (std::size_t row = 0; row < table.rows(); ++row) {
            std::vector<Cell> cells;
            for (std::size_t place : places) cells.push_back(table.cell(row, place));
            brief.add_row(cells);
        }
        brief.notes = table.notes;
        return brief;
    }
};

void write_as_text(std::string_view head, std::span<const ResultTable> tables, const Style& style, Sink& sink) {
    Paint paint(style.colour);
    for (const std::string& line : wrap(printable(head), style.width)) sink.write(line + "\n");
    for (const ResultTable& table : tables) {
        BriefColumns brief(table);
        sink.write(fmt::format("\n{}\n", paint.bold(table.name())));
        write_text_table(brief.of(table), style, sink);
    }
}

}  // namespace

Status write_tables(std::string_view head, std::span<const ResultTable> tables, std::string_view format,
                    const std::string& output) {
    Result<Output> sink = Output::open(output);
    if (!sink.ok()) return sink.error();
    Style style = style_for(output);
    style.limit = 0;
    const ReportFormat* chosen = find_report_format(format);
    if (chosen->one_table) tables = tables.first(std::min<std::size_t>(tables.size(), 1));
    Report report{.version = program_version(), .origin = {}, .window = {}, .trust = {}, .tables = tables};
    format == "text" ? write_as_text(head, tables, style, *sink) : chosen->write(report, style, *sink);
    return sink->close();
}

Status write_bench(const measure::BenchDocument& document, std::string_view format, const std::string& output) {
    if (format != "json" && format != "nvbench")
        return write_tables(head_of(document), bench_tables(document), format, output);
    Result<Output> sink = Output::open(output);
    if (!sink.ok()) return sink.error();
    format == "json" ? measure::write_json(document, *sink) : write_nvbench(document, *sink);
    return sink->close();
}

}  // namespace gpuprof::cli
