// Rows about one rank, made from its recording: what is absent there stays absent, and texts are copied.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/model/build/trace_builder.h"
#include "core/model/trace.h"

namespace gpuprof::inline ranks {

class RankRows {
public:
    // Keeps references to `trace` and `into`.
    RankRows(const Trace& trace, std::int32_t rank, Batch& into) : trace_(trace), rank_(rank), into_(into) {}

    template <class T>
    void put(Column<T>& column, Row row, const std::optional<T>& value) const {
        if (!value) return;
        if constexpr (std::is_same_v<T, StringId>)
            column.set(row, into_.intern(trace_.text(*value)));
        else
            column.set(row, *value);
    }

    // A row for a process group, without its names. `record`: one of its rows in table collective; kNoRow: it has none.
    // `size` in ranks; 0: unknown.
    Row add_group(std::int64_t id, std::int64_t size, Row record) const {
        RankGroupTable& table = into_.tables.rank_group;
        Row row = table.add();
        table.rank.set(row, rank_);
        table.group_id.set(row, id);
        if (size > 0 && size <= INT32_MAX) table.size.set(row, static_cast<std::int32_t>(size));
        if (record != kNoRow) put(table.ranks, row, trace_.tables().collective.ranks.get(record));
        return row;
    }

private:
    const Trace& trace_;
    std::int32_t rank_;
    Batch& into_;
};

}  // namespace gpuprof::ranks
