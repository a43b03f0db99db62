// `line_stalls`: all reasons for which warps waited at the source lines of `source`, in its order. `selected` is no stall:
// the warp issued its instruction.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/kernels/measured_kernels.h"
#include "analyze/facts/kernels/source_lines.h"
#include "analyze/knowledge/kernel_metrics.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

std::string_view waits_for(std::string_view reason) {
    for (const StallReason& each : stall_reasons())
        if (each.name == reason) return each.waits_for;
    return "";
}

struct LineStallsRow {
    const Trace& trace;
    const SourceLineCounters& line;
    std::string_view reason;
    double samples;
};

constexpr auto kLineStallsColumns = columns_of<LineStallsRow>({
    {"name", CellType::text, Unit::none, "Kernel name.", [](auto& r) { return text_cell(r.trace, r.line.function); }},
    {"file", CellType::text, Unit::none, "Source file; absent if the kernel was compiled without line information.",
     [](auto& r) { return text_cell(r.trace, r.line.file); }},
    {"line", CellType::integer, Unit::none, "Source line.", [](auto& r) { return r.line.line; }},
    {"text", CellType::text, Unit::none, "The instruction, of kernels without lines, if the recording has it.",
     [](auto& r) { return text_cell(r.trace, r.line.instruction); }},
    {"reason", CellType::text, Unit::none,
     "Stall reason, as CUPTI names it; selected: the warp issued its instruction.", [](auto& r) { return r.reason; }},
    {"samples", CellType::integer, Unit::count, "Samples of warps at the line for this reason.",
     [](auto& r) { return count_cell(r.samples); }},
    {"share_pct", CellType::real, Unit::percent, "samples as a share of the line's samples.",
     [](auto& r) { return percent(r.samples, r.line.samples); }},
    {"waits_for", CellType::text, Unit::none, "What warps wait for.",
     [](auto& r) { return text_cell(waits_for(r.reason)); }},
    {"device", CellType::integer, Unit::none, "Device ordinal.",
     [](auto& r) { return r.line.device < 0 ? kAbsent : integer(r.line.device); }},
});

void add(ResultTable& table, const Trace& trace, const SourceLineCounters& line) {
    std::vector<std::pair<std::string_view, double>> reasons(line.reasons.begin(), line.reasons.end());
    std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [reason, samples] : reasons)
        if (samples > 0) table.add(kLineStallsColumns, {trace, line, reason, samples});
}

Result<ResultTable> line_stalls_table(const Facts& facts) {
    ResultTable table("line_stalls", kLineStallsColumns);
    const Trace& trace = facts.trace();
    const std::vector<SourceLineCounters>& lines = facts.get<SourceLines>().lines;
    bool selected = false;
    for (const SourceLineCounters& line : lines) {
        if (!is_selected(facts, trace.text(line.function))) continue;
        selected = true;
        add(table, trace, line);
    }
    if (!selected && !lines.empty())
        return Error{ExitCode::usage,
                     fmt::format("no kernel with counters of instructions matches '{}'", facts.options().kernel)};
    if (table.rows() == 0) table.notes.push_back("No samples of instructions were recorded.");
    return table;
}

}  // namespace

const Analysis kLineStalls{"line_stalls",
                           "",
                           "Per kernel, source line and stall reason: samples of warps.",
                           kLineStallsColumns,
                           line_stalls_table,
                           {.reads = {AnalysisOption::kernel}}};

}  // namespace gpuprof::tables
