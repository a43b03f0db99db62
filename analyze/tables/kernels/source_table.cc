// `source`: at which source lines do warps wait, and why? One row per kernel and line, from counters of instructions. A
// sample belongs to the instruction that the warp was to issue next, so a wait shows where the value is used, not where it
// was requested.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/facts/kernels/kernel_selector.h"
#include "analyze/facts/kernels/source_lines.h"
#include "analyze/facts/kernels/source_texts.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kSourceColumns[] = {
    {"name", CellType::text, Unit::none, "Kernel name."},
    {"file", CellType::text, Unit::none, "Source file; absent if the kernel was compiled without line information."},
    {"line", CellType::integer, Unit::none, "Source line."},
    {"samples", CellType::integer, Unit::count, "Samples of warps at instructions of this line."},
    {"share_pct", CellType::real, Unit::percent, "samples as a share of all samples of kernels."},
    {"stall", CellType::text, Unit::none, "Most frequent reason for which the warps waited there."},
    {"stall_pct", CellType::real, Unit::percent, "Its share of the line's samples."},
    {"text", CellType::text, Unit::none, "The source line, if --sources names the folder of the file."},
    {"second_stall", CellType::text, Unit::none, "Second most frequent reason."},
    {"second_stall_pct", CellType::real, Unit::percent, "Its share of the line's samples."},
    {"kernel_pct", CellType::real, Unit::percent, "samples as a share of the kernel's samples."},
    {"sectors", CellType::integer, Unit::count,
     "Sectors of 32 bytes of global memory that the line's instructions accessed."},
    {"ideal_sectors", CellType::integer, Unit::count,
     "Sectors that they would need if neighbouring threads accessed neighbouring bytes."},
    {"wavefronts", CellType::integer, Unit::count, "Passes through shared memory that they needed."},
    {"ideal_wavefronts", CellType::integer, Unit::count, "Passes that they would need without bank conflicts."},
    {"executed", CellType::integer, Unit::count, "Executed instructions, counted per warp."},
    {"instructions", CellType::integer, Unit::count, "Instructions of the line that have counters."},
    {"device", CellType::integer, Unit::none, "Device ordinal."},
};

constexpr std::string_view kIssued = "selected";  // the warp issued its instruction: no stall

struct Stall {
    std::string_view reason;
    double samples = 0;
};

// The two most frequent; the first by name of equal ones. Empty if there are fewer.
std::pair<Stall, Stall> top_stalls(const SourceLineCounters& line) {
    Stall first, second;
    for (const auto& [reason, samples] : line.reasons) {
        if (reason == kIssued || samples <= 0) continue;
        if (samples > first.samples) {
            second = first;
            first = {reason, samples};
        } else if (samples > second.samples) {
            second = {reason, samples};
        }
    }
    return {first, second};
}

Cell share(double part, double whole) { return whole > 0 ? Cell(100 * part / whole) : kAbsent; }
Cell stall_share(const Stall& stall, double samples) {
    return stall.reason.empty() ? kAbsent : share(stall.samples, samples);
}
Cell count_of(const std::optional<double>& value) {
    constexpr double kExact = 9e15;  // larger sums are no counts of anything
    return value && *value < kExact ? Cell(std::int64_t{std::llround(*value)}) : kAbsent;
}

void add(ResultTable& table, const Trace& trace, const SourceLines& all, const SourceLineCounters& line,
         SourceTexts& texts) {
    auto [first, second] = top_stalls(line);
    std::string_view file = trace.text(line.file);
    std::optional<std::string_view> text = line.line ? texts.line(file, *line.line) : std::nullopt;
    std::optional<double> samples = line.reasons.empty() ? std::nullopt : std::optional(line.samples);
    table.add_row({text_cell(trace, line.function), text_cell(file), integer(line.line), count_of(samples),
                   samples ? share(line.samples, all.samples) : kAbsent, text_cell(first.reason),
                   stall_share(first, line.samples), text_cell(text.value_or("")), text_cell(second.reason),
                   stall_share(second, line.samples),
                   samples ? share(line.samples, all.samples_by_function.at(line.function)) : kAbsent,
                   count_of(line.sectors), count_of(line.ideal_sectors), count_of(line.wavefronts),
                   count_of(line.ideal_wavefronts), count_of(line.executed), integer(line.instructions),
                   line.device < 0 ? kAbsent : integer(line.device)});
}

Result<ResultTable> source_table(const Facts& facts) {
    ResultTable table("source", kSourceColumns);
    table.handle_prefix = "line";
    const SourceLines& all = facts.get<SourceLines>();
    SourceTexts texts(facts.options().sources);
    bool no_lines = false, files = false;
    for (const SourceLineCounters& line : all.lines) {
        if (!is_selected(facts, facts.trace().text(line.function))) continue;
        add(table, facts.trace(), all, line, texts);
        no_lines = no_lines || !line.line;
        files = files || line.file != kNoString;
    }
    if (table.rows() == 0 && !all.lines.empty())
        return Error{ExitCode::usage,
                     fmt::format("no kernel with counters of instructions matches '{}'", facts.options().kernel)};
    if (table.rows() == 0) table.notes.push_back("No counters of instructions were recorded.");
    if (no_lines) table.notes.push_back("Some kernels have no source lines; compile them with nvcc -lineinfo.");
    for (const std::string& file : texts.unreadable()) table.notes.push_back("Without the text of " + file + ".");
    if (files && facts.options().sources.empty())
        table.notes.push_back("--sources DIR shows the text of the lines, from source files below DIR.");
    return table;
}

}  // namespace

const Analysis kSource{
    "source",       "",           "Per kernel and source line: where warps wait and why, wasted memory accesses.",
    kSourceColumns, source_table, {.of_kernel = true}};

}  // namespace gpuprof::tables
