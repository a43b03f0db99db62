// `hangs`: which collectives some ranks called and not all completed, and who is missing (ranks/hangs/hangs.h).
#include "ranks/hangs/hangs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "analyze/tables/cells.h"
#include "ranks/reduce/call_text.h"
#include "ranks/tables/job_analyses.h"

namespace gpuprof::inline ranks {
namespace {

// Absent when empty.
std::optional<std::string> shown(std::string text) {
    return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::optional<std::string> list(const RankList& ranks) {
    return ranks.empty() || ranks.front() == kUnknownRank ? std::nullopt : shown(format_ranks(ranks));
}

struct HangsRow {
    const Hangs& hangs;
    const Hang& hang;
    const RankCall* last;  // of the first missing rank; null without one, or if its calls are unknown
};

constexpr auto kHangsColumns = columns_of<HangsRow>({
    {"collective", CellType::text, Unit::none, "Name of the collective; ends of a send or receive.",
     [](auto& r) { return shown(name_with_ends(*r.hang.call)); }},
    {"seq", CellType::integer, Unit::none, "Its number in the group; absent for sends and receives.",
     [](auto& r) { return r.hang.seq >= 0 ? integer(r.hang.seq) : kAbsent; }},
    {"group", CellType::text, Unit::none, "Description or name of the group, and its ranks if they are known.",
     [](auto& r) {
         auto group = r.hangs.calls.groups.find(r.hang.group);
         return group == r.hangs.calls.groups.end() ? kAbsent : text_cell(group->second.label);
     }},
    {"cause", CellType::text, Unit::none,
     "mismatch, missing rank, cycle, waits for another, behind another (in its group), unknown (a dump or calls are "
     "missing) or all called it.",
     [](auto& r) { return name_of(r.hang.cause); }},
    {"root", CellType::boolean, Unit::none, "Nothing else that is recorded explains it.",
     [](auto& r) { return r.hang.root; }},
    {"missing", CellType::text, Unit::none, "Ranks that never called it.",
     [](auto& r) { return list(r.hang.missing); }},
    {"waiting", CellType::text, Unit::none, "Ranks that called it and have begun, as far as is known.",
     [](auto& r) { return list(r.hang.waiting); }},
    {"not_begun", CellType::text, Unit::none, "Ranks that called it and have not begun.",
     [](auto& r) { return list(r.hang.not_begun); }},
    {"completed", CellType::text, Unit::none, "Ranks that completed it.",
     [](auto& r) { return list(r.hang.completed); }},
    {"no_dump", CellType::text, Unit::none, "Ranks without a dump.", [](auto& r) { return list(r.hang.no_dump); }},
    {"unknown", CellType::text, Unit::none, "Ranks whose call may have left the recorder's buffer.",
     [](auto& r) { return list(r.hang.unknown); }},
    {"since", CellType::text, Unit::none, "When the first rank called it, by that rank's clock.",
     [](auto& r) { return r.hang.since ? shown(time_text(*r.hang.since)) : std::nullopt; }},
    {"called_at", CellType::text, Unit::none, "Where a waiting rank called it.",
     [](auto& r) { return shown(called_at(r.hang.call->stack, PathForm::whole)); }},
    {"last", CellType::text, Unit::none, "The last collective of the first missing rank.",
     [](auto& r) { return r.last == nullptr ? std::nullopt : shown(collective_text(r.hangs.calls, *r.last)); }},
    {"last_at", CellType::text, Unit::none, "Where that was called.",
     [](auto& r) { return r.last == nullptr ? std::nullopt : shown(called_at(r.last->stack, PathForm::whole)); }},
    {"mismatch", CellType::text, Unit::none, "Which ranks called what by this number.",
     [](auto& r) { return text_cell(r.hang.mismatch); }},
    {"waits_for", CellType::text, Unit::none, "The collectives that must complete first.",
     [](auto& r) {
         std::string text;
         for (std::size_t other : r.hang.waits_for)
             text += (text.empty() ? "" : "; ") + collective_text(r.hangs.calls, *r.hangs.rows[other].call);
         return shown(std::move(text));
     }},
    {"bytes", CellType::integer, Unit::bytes, "Message size.", [](auto& r) { return r.hang.call->bytes; }},
});

void add_row(ResultTable& table, const Hangs& hangs, const Hang& hang) {
    std::int32_t absent_rank = kUnknownRank;
    if (!hang.missing.empty()) absent_rank = hang.missing.front();
    if (!hang.culprits.empty()) absent_rank = hang.culprits.front();
    const RankCall* last = hang.missing.empty() ? nullptr : hangs.last_of(absent_rank);
    table.add(kHangsColumns, {hangs, hang, last});
}

Result<ResultTable> hangs_table(const Facts& facts) {
    ResultTable table("hangs", kHangsColumns);
    const Hangs& hangs = facts.get<Hangs>();
    if (!hangs.calls.any()) {
        table.notes.push_back("This needs dumps of PyTorch's flight recorder (TORCH_NCCL_DUMP_ON_TIMEOUT).");
        return table;
    }
    for (const Hang& hang : hangs.rows) add_row(table, hangs, hang);
    if (hangs.rows.empty()) table.notes.push_back("Every recorded collective is complete.");
    if (hangs.calls.of_one_dump != nullptr)
        table.notes.push_back(
            "Of one dump it is only known what its own rank has open; gpu-profile ranks FOLDER compares all ranks.");
    std::int64_t lost = 0;
    for (const auto& [rank, about] : hangs.calls.ranks) lost = std::max(lost, about.lost);
    if (lost > 0)
        table.notes.push_back(fmt::format(
            "Up to {} earlier collectives of a rank had left its recorder's buffer (TORCH_FR_BUFFER_SIZE).", lost));
    return table;
}

}  // namespace

const Analysis kHangs{"hangs",       "",          "Collectives that hang: which rank is missing, and what it did last.",
                      kHangsColumns, hangs_table, {.of_job = true}};

}  // namespace gpuprof::ranks
