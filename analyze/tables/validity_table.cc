// `validity`: whether the recording can be true, check by check. facts/validity.h says what they are.
#include "analyze/facts/validity.h"

#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

constexpr auto kValidityColumns = columns_of<RecordingCheck>({
    {"check", CellType::text, Unit::none, "Name of the check.", [](auto& r) { return r.name; }},
    {"result", CellType::text, Unit::none, "holds, violated or not checked.",
     [](auto& r) { return name_of(r.result); }},
    {"found", CellType::integer, Unit::count, "Events that violate it.", [](auto& r) { return integer(r.found); }},
    {"checked", CellType::integer, Unit::count, "Events that it looked at: device ops, calls or gaps.",
     [](auto& r) { return integer(r.checked); }},
    {"what", CellType::text, Unit::none, "What is true of every recording of real hardware.",
     [](auto& r) { return r.what; }},
    {"effect", CellType::text, Unit::none, "What was done about it, and what it means for the answer.",
     [](auto& r) { return r.effect; }},
    {"example", CellType::text, Unit::none, "The first event that violates it, or why it was not checked.",
     [](auto& r) { return text_cell(r.example); }},
});

Result<ResultTable> validity_table(const Facts& facts) {
    const Validity& validity = facts.get<Validity>();
    ResultTable table("validity", kValidityColumns);
    table.handle_prefix = "check";
    for (const RecordingCheck& check : validity.checks) table.add(kValidityColumns, check);
    if (std::string why = validity.contradiction(); !why.empty()) table.notes.push_back(why + ".");
    if (validity.checks.empty()) table.notes.push_back("The recording has no device work and no CUDA calls to check.");
    return table;
}

}  // namespace

const Analysis kValidity{"validity",
                         "",
                         "Whether the recording can be true: checks of what hardware cannot do.",
                         kValidityColumns,
                         validity_table,
                         {.of_whole = true}};

}  // namespace gpuprof::tables
