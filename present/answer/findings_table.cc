// `findings`: what to change, most expensive first, each with its cost, evidence, remedy, confidence, and what would
// change it. Rules that abstain give their reasons in the notes of the table.
#include <fmt/format.h>

#include "analyze/facts/facts.h"
#include "analyze/tables/cells.h"
#include "present/answer/analyses.h"
#include "present/answer/diagnosis.h"

namespace gpuprof::inline answer {
namespace {

constexpr ResultColumn kFindingsColumns[] = {
    {"id", CellType::text, Unit::none, "Name of the rule."},
    {"severity", CellType::text, Unit::none, "high from a share_pct of 20 %, medium from 5 %, else low."},
    {"cost_ns", CellType::integer, Unit::ns, "Estimated device time that acting on it recovers, over all devices."},
    {"share_pct", CellType::real, Unit::percent,
     "Predicted gain as a share of a step; without a prediction, cost_ns as a share of the window of all devices."},
    {"title", CellType::text, Unit::none, "The finding in one sentence."},
    {"evidence", CellType::text, Unit::none, "Facts with handles of rows, separated by semicolons."},
    {"remedy", CellType::text, Unit::none, "What to do."},
    {"confidence", CellType::text, Unit::none, "high, medium or low."},
    {"would_change_if", CellType::text, Unit::none, "What would refute the finding."},
    {"basis", CellType::text, Unit::none,
     "What it is based on: counters, operator shapes, launch shapes, the timeline or kernel names."},
};

Result<ResultTable> findings_table(const Facts& facts) {
    ResultTable table("findings", kFindingsColumns);
    table.handle_prefix = "f";
    for (const Finding& finding : facts.get<Diagnosis>().findings)
        table.add_row({std::string_view(finding.id), name_of(finding.severity), integer(finding.cost_ns),
                       real(finding.share_pct), std::string_view(finding.title),
                       std::string_view(joined(finding.evidence)), std::string_view(finding.remedy),
                       name_of(finding.confidence), std::string_view(finding.would_change_if), name_of(finding.basis)});
    table.notes = facts.get<Diagnosis>().abstentions;
    return table;
}

}  // namespace

const Analysis kFindings{"findings",     "",  "What to change, with cost, evidence and remedy.", kFindingsColumns,
                         findings_table, true};

}  // namespace gpuprof::answer
