#include "cli/bench/bench_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/bench/bench_tables.h"
#include "cli/bench/nvbench.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "present/report/paint.h"
#include "present/report/report.h"
#include "present/report/text_lines.h"
#include "present/report/text_table.h"

namespace gpuprof::inline cli {
namespace {

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
