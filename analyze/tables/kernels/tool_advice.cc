// `tool_advice`: what another tool's rules say about the launches it measured, in its words.
#include "analyze/facts/facts.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct ToolAdviceRow {
    const Trace& trace;
    const KernelAdviceTable& advice;
    Row row;

    Cell text(const Column<StringId>& column) const { return text_cell(trace, column.value_or(row, kNoString)); }
};

constexpr auto kToolAdviceColumns = columns_of<ToolAdviceRow>({
    {"launch", CellType::integer, Unit::none, "Number of the launch.",
     [](auto& r) { return r.advice.launch.get(r.row); }},
    {"rule", CellType::text, Unit::none, "Name of the tool's rule.", [](auto& r) { return r.text(r.advice.rule); }},
    {"kind", CellType::text, Unit::none, "Its severity, in the tool's words.",
     [](auto& r) { return r.text(r.advice.kind); }},
    {"gain_kind", CellType::text, Unit::none,
     "What the estimated gain refers to: global (the kernel) or local (one cause).",
     [](auto& r) { return r.text(r.advice.gain_kind); }},
    {"gain_pct", CellType::real, Unit::percent, "Estimated gain.",
     [](auto& r) { return r.advice.gain_pct.get(r.row); }},
    {"section", CellType::text, Unit::none, "Section that the rule belongs to.",
     [](auto& r) { return r.text(r.advice.section); }},
    {"text", CellType::text, Unit::none, "The advice.", [](auto& r) { return r.text(r.advice.text); }},
});

Result<ResultTable> tool_advice_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const KernelAdviceTable& advice = trace.tables().kernel_advice;
    ResultTable table("tool_advice", kToolAdviceColumns);
    for (Row row = 0; row < advice.rows; ++row) table.add(kToolAdviceColumns, {trace, advice, row});
    if (advice.rows == 0) table.notes.push_back("No advice was recorded; ncu --csv --page details prints its own.");
    return table;
}

}  // namespace

const Analysis kToolAdvice{"tool_advice", "", "Per profiled launch: advice of the tool that measured it, in its words.",
                           kToolAdviceColumns, tool_advice_table};

}  // namespace gpuprof::tables
