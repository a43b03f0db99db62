// `stragglers`: who holds a distributed job up, why, and what it costs (ranks/price/stragglers.h). Units that
// are slower than their peers, but cost nothing that is certain, are listed with `named` false.
#include <fmt/format.h>

#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"
#include "ranks/job/job.h"
#include "ranks/price/stragglers.h"
#include "ranks/tables/job_analyses.h"

namespace gpuprof::inline ranks {
namespace {

struct StragglersRow {
    const Straggler& unit;
    double step_ns;
};

constexpr auto kStragglersColumns = columns_of<StragglersRow>({
    {"unit", CellType::text, Unit::none, "Rank, host or group; `changing ranks` if another rank is late each time.",
     [](auto& r) { return text_cell(r.unit.unit); }},
    {"cause", CellType::text, Unit::none,
     "slow GPU, more work, late data, pauses, slow host, slow link, slow copies or unknown.",
     [](auto& r) { return text_cell(name_of(r.unit.cause)); }},
    {"named", CellType::boolean, Unit::none,
     "The price is at least 1 % of the step and three times its error, in three steps or more; else the unit is slow, "
     "but holds nobody up for certain.",
     [](auto& r) { return r.unit.named; }},
    {"cost_ns", CellType::real, Unit::ns, "What a step would gain if only this unit were as its peers.",
     [](auto& r) { return r.unit.cost_ns; }},
    {"cost_pct", CellType::real, Unit::percent, "The same as a share of the step.",
     [](auto& r) { return percent(r.unit.cost_ns, r.step_ns); }},
    {"alone_ns", CellType::real, Unit::ns,
     "What it would cost a step if all other named units were fixed; of one that is not named, if all others were.",
     [](auto& r) { return r.unit.alone_ns; }},
    {"error_ns", CellType::real, Unit::ns, "Standard error of the price over the steps; absent if there is only one.",
     [](auto& r) { return r.unit.error_ns; }},
    {"steps", CellType::integer, Unit::count, "Steps in which it costs at least 1 %.",
     [](auto& r) { return r.unit.steps; }},
    {"first_step", CellType::integer, Unit::none, "The first of these.",
     [](auto& r) { return r.unit.steps > 0 ? integer(r.unit.first_step) : kAbsent; }},
    {"last_step", CellType::integer, Unit::none, "The last of these.",
     [](auto& r) { return r.unit.steps > 0 ? integer(r.unit.last_step) : kAbsent; }},
    {"evidence", CellType::text, Unit::none, "What shows the cause.",
     [](auto& r) { return text_cell(r.unit.evidence); }},
});

Result<ResultTable> stragglers_table(const Facts& facts) {
    ResultTable table("stragglers", kStragglersColumns);
    if (!has_ranks(facts, table)) return table;
    const Stragglers& found = facts.get<Stragglers>();
    if (!found.reason.empty()) table.notes.push_back(fmt::format("No prices: {}.", found.reason));
    for (const Straggler& unit : found.units) table.add(kStragglersColumns, {unit, found.step_ns});
    if (found.reason.empty())
        table.notes.push_back(
            fmt::format("A step takes {} in the replay, and {} if every rank and transfer were as its peers.",
                        readable_duration(found.step_ns), readable_duration(found.ideal_ns)));
    return table;
}

}  // namespace

const Analysis kStragglers{"stragglers",
                           "",
                           "Who holds a distributed job up, why, and what it costs.",
                           kStragglersColumns,
                           stragglers_table,
                           {.of_job = true}};

}  // namespace gpuprof::ranks
