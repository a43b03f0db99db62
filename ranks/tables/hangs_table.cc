// `hangs`: which collectives some ranks called and not all completed, and who is missing (ranks/hangs/hangs.h).
#include "ranks/hangs/hangs.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/tables/cells.h"
#include "ranks/reduce/call_text.h"
#include "ranks/tables/job_analyses.h"

namespace gpuprof::inline ranks {
namespace {

constexpr ResultColumn kHangsColumns[] = {
    {"collective", CellType::text, Unit::none, "Name of the collective; ends of a send or receive."},
    {"seq", CellType::integer, Unit::none, "Its number in the group; absent for sends and receives."},
    {"group", CellType::text, Unit::none, "Description or name of the group, and its ranks if they are known."},
    {"cause", CellType::text, Unit::none,
     "mismatch, missing rank, cycle, waits for another, behind another (in its group), unknown (a dump or calls are "
     "missing) or all called it."},
    {"root", CellType::boolean, Unit::none, "Nothing else that is recorded explains it."},
    {"missing", CellType::text, Unit::none, "Ranks that never called it."},
    {"waiting", CellType::text, Unit::none, "Ranks that called it and have begun, as far as is known."},
    {"not_begun", CellType::text, Unit::none, "Ranks that called it and have not begun."},
    {"completed", CellType::text, Unit::none, "Ranks that completed it."},
    {"no_dump", CellType::text, Unit::none, "Ranks without a dump."},
    {"unknown", CellType::text, Unit::none, "Ranks whose call may have left the recorder's buffer."},
    {"since", CellType::text, Unit::none, "When the first rank called it, by that rank's clock."},
    {"called_at", CellType::text, Unit::none, "Where a waiting rank called it."},
    {"last", CellType::text, Unit::none, "The last collective of the first missing rank."},
    {"last_at", CellType::text, Unit::none, "Where that was called."},
    {"mismatch", CellType::text, Unit::none, "Which ranks called what by this number."},
    {"waits_for", CellType::text, Unit::none, "The collectives that must complete first."},
    {"bytes", CellType::integer, Unit::bytes, "Message size."},
};

std::string list(const RankList& ranks) {
    return ranks.empty() || ranks.front() == kUnknownRank ? std::string() : format_ranks(ranks);
}

void add_row(ResultTable& table, const Hangs& hangs, const Hang& hang) {
    auto group = hangs.calls.groups.find(hang.group);
    std::int32_t absent_rank = !hang.culprits.empty()  ? hang.culprits.front()
                               : !hang.missing.empty() ? hang.missing.front()
                                                       : kUnknownRank;
    const RankCall* last = hang.missing.empty() ? nullptr : hangs.last_of(absent_rank);
    std::string before;
    for (std::size_t other : hang.waits_for)
        before += (before.empty() ? "" : "; ") + collective_text(hangs.calls, *hangs.rows[other].call);
    table.add_row({text_cell(name_with_ends(*hang.call)), hang.seq >= 0 ? integer(hang.seq) : kAbsent,
                   group == hangs.calls.groups.end() ? kAbsent : text_cell(group->second.label),
                   text_cell(name_of(hang.cause)), hang.root, text_cell(list(hang.missing)),
                   text_cell(list(hang.waiting)), text_cell(list(hang.not_begun)), text_cell(list(hang.completed)),
                   text_cell(list(hang.no_dump)), text_cell(list(hang.unknown)),
                   hang.since ? text_cell(time_text(*hang.since)) : kAbsent,
                   text_cell(called_at(hang.call->stack, PathForm::whole)),
                   last != nullptr ? text_cell(collective_text(hangs.calls, *last)) : kAbsent,
                   last != nullptr ? text_cell(called_at(last->stack, PathForm::whole)) : kAbsent,
                   text_cell(hang.mismatch), text_cell(before), integer(hang.call->bytes)});
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
