// `summary`: the first answer as a table, for programs and comparisons: trust, verdict, shares of the window, findings
// and next commands, one statement per row.
#include "analyze/facts/shares.h"
#include "analyze/tables/cells.h"
#include "present/answer/analyses.h"
#include "present/answer/make_answer.h"

namespace gpuprof::inline answer {
namespace {

constexpr ResultColumn kSummaryColumns[] = {
    {"section", CellType::text, Unit::none, "trust, verdict, alternative, busy, idle, finding or next."},
    {"name", CellType::text, Unit::none, "What the row is about."},
    {"time_ns", CellType::integer, Unit::ns, "Device time, all devices."},
    {"share_pct", CellType::real, Unit::percent,
     "Share of the window of all devices; of the critical path or of a step where the recording can be replayed."},
    {"text", CellType::text, Unit::none, "The statement."},
};

Result<ResultTable> summary_table(const Facts& facts) {
    Result<Answer> answer = make_answer(facts);
    if (!answer.ok()) return answer.error();
    const Shares& shares = facts.get<Shares>();
    ResultTable table("summary", kSummaryColumns);
    for (const Trust::Statement& statement : answer->trust.statements)
        table.add_row(
            {"trust", statement.warning ? "warning" : "note", kAbsent, kAbsent, std::string_view(statement.text)});
    table.add_row({"verdict", std::string_view(answer->verdict.name), kAbsent, real(answer->verdict.share_pct),
                   std::string_view(answer->verdict.because)});
    for (const Candidate& other : answer->verdict.alternatives)
        table.add_row({"alternative", std::string_view(other.name), kAbsent, real(other.share_pct),
                       std::string_view(other.because)});
    table.add_row({"busy", "busy", integer(shares.busy), real(shares.pct(shares.busy)), kAbsent});
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause)
        if (shares.idle[cause] > 0)
            table.add_row({"idle", name_of(static_cast<IdleCause>(cause)), integer(shares.idle[cause]),
                           real(shares.pct(shares.idle[cause])), kAbsent});
    for (const Finding& finding : answer->findings)
        table.add_row({"finding", std::string_view(finding.id), integer(finding.cost_ns), real(finding.share_pct),
                       std::string_view(finding.title)});
    for (const std::string& step : answer->next_steps)
        table.add_row({"next", kAbsent, kAbsent, kAbsent, std::string_view(step)});
    return table;
}

}  // namespace

const Analysis kSummary{"summary",
                        "",
                        "The first answer, one statement per row.",
                        kSummaryColumns,
                        summary_table,
                        {.about_idle = true, .reads = {AnalysisOption::gap_min_ns, AnalysisOption::input_range}}};

}  // namespace gpuprof::answer
