// `losses`: everything dropped, repaired, unmatched or unreadable while reading the trace, worst first.
// core/schema/losses.def declares what each kind means and what to do about it.
#include <algorithm>
#include <vector>

#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/schema/losses.h"

namespace gpuprof::inline tables {
namespace {

struct LossesRow {
    std::string_view kind, place;
    std::int64_t count;
    const LossSpec* spec;  // null: a kind that this version does not know
};

constexpr auto kLossesColumns = columns_of<LossesRow>({
    {"kind", CellType::text, Unit::none, "Kind of loss.", [](auto& r) { return r.kind; }},
    {"severity", CellType::text, Unit::none,
     "data = rows missing from the tables; value = repaired or left absent; notice = nothing missing.",
     [](auto& r) { return r.spec == nullptr ? kAbsent : Cell{name_of(r.spec->severity)}; }},
    {"count", CellType::integer, Unit::count, "Number of occurrences.", [](auto& r) { return r.count; }},
    {"what", CellType::text, Unit::none, "What happened.",
     [](auto& r) { return r.spec == nullptr ? kAbsent : Cell{r.spec->doc}; }},
    {"place", CellType::text, Unit::none, "Location of the first occurrence.",
     [](auto& r) { return text_cell(r.place); }},
    {"remedy", CellType::text, Unit::none, "What to do.",
     [](auto& r) { return r.spec == nullptr ? kAbsent : Cell{r.spec->remedy}; }},
});

Result<ResultTable> losses_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const LossTable& losses = trace.tables().loss;
    std::vector<Row> order(losses.rows);
    for (Row row = 0; row < losses.rows; ++row) order[row] = row;
    auto rank = [&](Row row) {
        const LossSpec* spec = spec_named(trace.text(losses.kind.value_or(row, kNoString)));
        return spec == nullptr ? static_cast<int>(kLossKinds) : static_cast<int>(spec->severity);
    };
    std::stable_sort(order.begin(), order.end(), [&](Row a, Row b) {
        return rank(a) != rank(b) ? rank(a) < rank(b) : losses.count[a] > losses.count[b];
    });
    ResultTable table("losses", kLossesColumns);
    table.handle_prefix = "loss";
    for (Row row : order) {
        std::string_view kind = trace.text(losses.kind.value_or(row, kNoString)),
                         place = trace.text(losses.place.value_or(row, kNoString));
        table.add(kLossesColumns, {kind, place, losses.count[row], spec_named(kind)});
    }
    return table;
}

}  // namespace

const Analysis kLossRows{
    "losses",       "",           "Dropped, repaired and unreadable records, with location and remedy.",
    kLossesColumns, losses_table, {.of_whole = true}};

}  // namespace gpuprof::tables
