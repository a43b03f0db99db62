// The tables of a trace in memory, generated from tables.def: one struct per table with one Column per declared column.
// Code that knows a table uses its members (trace.kernel.start[row]); generic code walks each_table / each_column.
//
// Filling a row:   Row r = tables.kernel.add();  tables.kernel.start.set(r, t);  ...  (columns not set are absent)
// Before reading, every table must be closed (close() pads the columns to the same length).
#pragma once

#include <string_view>
#include <type_traits>

#include "core/base/string_pool.h"
#include "core/model/column.h"
#include "core/schema/column_selection.h"
#include "core/schema/schema.h"
#include "core/schema/tables.def"

namespace gpuprof::inline model {

namespace storage {
using Time = TimeNs;
using Dur = DurNs;
using I64 = std::int64_t;
using I32 = std::int32_t;
using F64 = double;
using Str = StringId;
}  // namespace storage

#define GPUPROF_MEMBER(column, type, unit, doc) Column<storage::type> column;
#define GPUPROF_VISIT(column, type, unit, doc) visit(*spec++, column);
#define GPUPROF_STRUCT(table, Type, doc)                                                       \
    struct Type##Table {                                                                       \
        static const TableSpec& spec();                                                        \
        std::size_t rows = 0;                                                                  \
        GPUPROF_COLUMNS_##table(GPUPROF_MEMBER) Row add() { return static_cast<Row>(rows++); } \
        template <class Visit>                                                                 \
        void each_column(Visit&& visit) {                                                      \
            const ColumnSpec* spec = Type##Table::spec().columns.data();                       \
            GPUPROF_COLUMNS_##table(GPUPROF_VISIT)                                             \
        }                                                                                      \
        template <class Visit>                                                                 \
        void each_column(Visit&& visit) const {                                                \
            const ColumnSpec* spec = Type##Table::spec().columns.data();                       \
            GPUPROF_COLUMNS_##table(GPUPROF_VISIT)                                             \
        }                                                                                      \
        void close();                                                                          \
        void clear();                                                                          \
    };
GPUPROF_TABLES(GPUPROF_STRUCT)
#undef GPUPROF_MEMBER
#undef GPUPROF_VISIT
#undef GPUPROF_STRUCT

// All tables of a trace. What the compiler would write inline for every column of every table is in tables.cc, once.
struct Tables {
#define GPUPROF_TABLE_MEMBER(table, Type, doc) Type##Table table;
    GPUPROF_TABLES(GPUPROF_TABLE_MEMBER)
#undef GPUPROF_TABLE_MEMBER

    template <class Visit>
    void each_table(Visit&& visit) {
#define GPUPROF_VISIT_TABLE(table, Type, doc) visit(Type##Table::spec(), table);
        GPUPROF_TABLES(GPUPROF_VISIT_TABLE)
    }
    template <class Visit>
    void each_table(Visit&& visit) const {
        GPUPROF_TABLES(GPUPROF_VISIT_TABLE)
#undef GPUPROF_VISIT_TABLE
    }
    void close();
    // Removes all rows; memory is kept for the next ones.
    void clear();

    Tables();
    Tables(const Tables&);
    Tables(Tables&&) noexcept;
    Tables& operator=(const Tables&);
    Tables& operator=(Tables&&) noexcept;
    ~Tables();
};

// Appends the rows of `batch` to `into`, both closed; string ids are translated by `ids` (index = id in the batch).
void append_tables(Tables& into, const Tables& batch, const std::vector<StringId>& ids);

// Skips the columns that are not selected, for good: clear() does not bring them back. The times of spans and moments
// always stay, because they extend the window of the recording (skipped_times.h).
void skip_unselected(Tables& tables, const ColumnSelection& selected);

// Adds `by` to every time. Any value in a damaged file remains a valid number.
void shift_times(Tables& tables, DurNs by);

}  // namespace gpuprof::model
