// `line_stalls`: all reasons for which warps waited at the source lines of `source`, in its order. `selected` is no stall:
// the warp issued its instruction.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/kernels/kernel_selector.h"
#include "analyze/facts/kernels/source_lines.h"
#include "analyze/knowledge/kernel_metrics.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kLineStallsColumns[] = {
    {"name", CellType::text, Unit::none, "Kernel name."},
    {"file", CellType::text, Unit::none, "Source file; absent if the kernel was compiled without line information."},
    {"line", CellType::integer, Unit::none, "Source line."},
    {"reason", CellType::text, Unit::none,
     "Stall reason, as CUPTI names it; selected: the warp issued its instruction."},
    {"samples", CellType::integer, Unit::count, "Samples of warps at the line for this reason."},
    {"share_pct", CellType::real, Unit::percent, "samples as a share of the line's samples."},
    {"waits_for", CellType::text, Unit::none, "What warps wait for."},
    {"device", CellType::integer, Unit::none, "Device ordinal."},
};

std::string_view waits_for(std::string_view reason) {
    for (const StallReason& each : stall_reasons())
        if (each.name == reason) return each.waits_for;
    return "";
}

void add(ResultTable& table, const Trace& trace, const SourceLineCounters& line) {
    std::vector<std::pair<std::string_view, double>> reasons(line.reasons.begin(), line.reasons.end());
    std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [reason, samples] : reasons)
        if (samples > 0)
            table.add_row({text_cell(trace, line.function), text_cell(trace, line.file), integer(line.line), reason,
                           count_cell(samples), percent(samples, line.samples), text_cell(waits_for(reason)),
                           line.device < 0 ? kAbsent : integer(line.device)});
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
                           {.of_kernel = true}};

}  // namespace gpuprof::tables
