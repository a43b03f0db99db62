// `source`: at which source lines do warps wait, and why? One row per kernel and line, from counters of instructions. A
// sample belongs to the instruction that the warp was to issue next, so a wait shows where the value is used, not where it
// was requested.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/facts/kernels/measured_kernels.h"
#include "analyze/facts/kernels/source_lines.h"
#include "analyze/facts/kernels/source_texts.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

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

struct SourceRow {
    const Trace& trace;
    const SourceLines& all;
    const SourceLineCounters& line;
    Stall first, second;
    std::string_view file, text;

    bool sampled() const { return !line.reasons.empty(); }
};

constexpr auto kSourceColumns = columns_of<SourceRow>({
    {"name", CellType::text, Unit::none, "Kernel name.", [](auto& r) { return text_cell(r.trace, r.line.function); }},
    {"file", CellType::text, Unit::none, "Source file; absent if the kernel was compiled without line information.",
     [](auto& r) { return text_cell(r.file); }},
    {"line", CellType::integer, Unit::none, "Source line.", [](auto& r) { return r.line.line; }},
    {"samples", CellType::integer, Unit::count, "Samples of warps at instructions of this line.",
     [](auto& r) { return r.sampled() ? count_of(r.line.samples) : kAbsent; }},
    {"share_pct", CellType::real, Unit::percent, "samples as a share of all samples of kernels.",
     [](auto& r) { return r.sampled() ? share(r.line.samples, r.all.samples) : kAbsent; }},
    {"stall", CellType::text, Unit::none, "Most frequent reason for which the warps waited there.",
     [](auto& r) { return text_cell(r.first.reason); }},
    {"stall_pct", CellType::real, Unit::percent, "Its share of the line's samples.",
     [](auto& r) { return stall_share(r.first, r.line.samples); }},
    {"text", CellType::text, Unit::none, "The source line, from the folder of --sources; or the instruction.",
     [](auto& r) { return text_cell(r.text); }},
    {"second_stall", CellType::text, Unit::none, "Second most frequent reason.",
     [](auto& r) { return text_cell(r.second.reason); }},
    {"second_stall_pct", CellType::real, Unit::percent, "Its share of the line's samples.",
     [](auto& r) { return stall_share(r.second, r.line.samples); }},
    {"kernel_pct", CellType::real, Unit::percent, "samples as a share of the kernel's samples.",
     [](auto& r) {
         return r.sampled() ? share(r.line.samples, r.all.samples_by_function.at(r.line.function)) : kAbsent;
     }},
    {"sectors", CellType::integer, Unit::count,
     "Sectors of 32 bytes of global memory that the line's instructions accessed.",
     [](auto& r) { return count_of(r.line.sectors); }},
    {"ideal_sectors", CellType::integer, Unit::count,
     "Sectors that they would need if neighbouring threads accessed neighbouring bytes.",
     [](auto& r) { return count_of(r.line.ideal_sectors); }},
    {"wavefronts", CellType::integer, Unit::count, "Passes through shared memory that they needed.",
     [](auto& r) { return count_of(r.line.wavefronts); }},
    {"ideal_wavefronts", CellType::integer, Unit::count, "Passes that they would need without bank conflicts.",
     [](auto& r) { return count_of(r.line.ideal_wavefronts); }},
    {"executed", CellType::integer, Unit::count, "Executed instructions, counted per warp.",
     [](auto& r) { return count_of(r.line.executed); }},
    {"instructions", CellType::integer, Unit::count, "Instructions of the line that have counters.",
     [](auto& r) { return r.line.instructions; }},
    {"device", CellType::integer, Unit::none, "Device ordinal.",
     [](auto& r) { return r.line.device < 0 ? kAbsent : integer(r.line.device); }},
});

void add(ResultTable& table, const Trace& trace, const SourceLines& all, const SourceLineCounters& line,
         SourceTexts& texts) {
    auto [first, second] = top_stalls(line);
    std::string_view file = trace.text(line.file);
    std::optional<std::string_view> text = line.line ? texts.line(file, *line.line) : std::nullopt;
    table.add(kSourceColumns, {trace, all, line, first, second, file, text.value_or(trace.text(line.instruction))});
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
    if (no_lines && !facts.trace().tables().instruction_counter.text.none_present())
        table.notes.push_back(
            "Kernels without source lines have a row for each instruction; ncu --page source --print-source cuda,sass "
            "prints both, of programs compiled with nvcc -lineinfo.");
    else if (no_lines)
        table.notes.push_back("Some kernels have no source lines; compile them with nvcc -lineinfo.");
    for (const std::string& file : texts.unreadable()) table.notes.push_back("Without the text of " + file + ".");
    if (files && facts.options().sources.empty())
        table.notes.push_back("--sources DIR shows the text of the lines, from source files below DIR.");
    return table;
}

}  // namespace

const Analysis kSource{
    "source",       "",           "Per kernel and source line: where warps wait and why, wasted memory accesses.",
    kSourceColumns, source_table, {.reads = {AnalysisOption::kernel, AnalysisOption::sources}}};

}  // namespace gpuprof::tables
