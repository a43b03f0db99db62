// `tool_advice`: what another tool's rules say about the launches it measured, in its words.
#include "analyze/facts/facts.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kToolAdviceColumns[] = {
    {"launch", CellType::integer, Unit::none, "Number of the launch."},
    {"rule", CellType::text, Unit::none, "Name of the tool's rule."},
    {"kind", CellType::text, Unit::none, "Its severity, in the tool's words."},
    {"gain_kind", CellType::text, Unit::none,
     "What the estimated gain refers to: global (the kernel) or local (one cause)."},
    {"gain_pct", CellType::real, Unit::percent, "Estimated gain."},
    {"section", CellType::text, Unit::none, "Section that the rule belongs to."},
    {"text", CellType::text, Unit::none, "The advice."},
};

Result<ResultTable> tool_advice_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const KernelAdviceTable& advice = trace.tables().kernel_advice;
    ResultTable table("tool_advice", kToolAdviceColumns);
    for (Row row = 0; row < advice.rows; ++row)
        table.add_row({integer(advice.launch.get(row)), text_cell(trace, advice.rule.value_or(row, kNoString)),
                       text_cell(trace, advice.kind.value_or(row, kNoString)),
                       text_cell(trace, advice.gain_kind.value_or(row, kNoString)), real(advice.gain_pct.get(row)),
                       text_cell(trace, advice.section.value_or(row, kNoString)),
                       text_cell(trace, advice.text.value_or(row, kNoString))});
    if (advice.rows == 0) table.notes.push_back("No advice was recorded; ncu --csv --page details prints its own.");
    return table;
}

}  // namespace

const Analysis kToolAdvice{"tool_advice", "", "Per profiled launch: advice of the tool that measured it, in its words.",
                           kToolAdviceColumns, tool_advice_table};

}  // namespace gpuprof::tables
