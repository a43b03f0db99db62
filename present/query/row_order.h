// Row orders that SQLite would otherwise build one row at a time: by a few columns (GROUP BY, ORDER BY, DISTINCT), and
// by one column for a join. Both use counting instead of comparison sorts if values are few, which is common since
// texts are interned. The order is that of SQLite: absent first, integers by value, texts byte by byte.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/pod_vector.h"
#include "present/query/frame.h"

namespace gpuprof::inline query {

struct SortKey {
    std::size_t column;
    bool descending = false;
};

// Whether sort_rows() accepts the column: texts, and integers from a small range. Scans every row.
bool can_sort_by(const Frame& frame, std::size_t column);
// Sorts rows of the frame, stably; can_sort_by() must hold for every key.
void sort_rows(const Frame& frame, std::span<const SortKey> keys, PodVector<Row>& rows);

// The rows of each value of an integer or text column.
class RowsByValue {
public:
    RowsByValue(const Frame& frame, const FrameColumn& column);
    // Ascending.
    std::span<const Row> rows(std::int64_t value) const;

private:
    std::int64_t value_of(Row row) const;
    const FrameColumn& column_;
    PodVector<Row> rows_;  // by value, then by row; without absent values
};

}  // namespace gpuprof::query
