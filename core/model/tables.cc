#include "core/model/tables.h"

namespace gpuprof::inline model {

namespace {

// Not inlined: there are hundreds of columns of four types.
template <class T>
[[gnu::noinline]] void append_column(Column<T>& into, const Column<T>& from, const std::vector<StringId>& ids) {
    std::size_t old = into.size();
    into.append(from);
    if constexpr (std::is_same_v<T, StringId>)
        for (std::size_t i = old; i < into.size(); ++i)
            if (Row row = static_cast<Row>(i); into.has(row)) into.change(row, ids[index_of(into[row])]);
}

[[gnu::noinline]] void shift_column(const ColumnSpec& spec, Column<std::int64_t>& column, DurNs by) {
    if (spec.type != ColumnType::Time || column.none_present()) return;
    for (Row row = 0; row < column.size(); ++row)
        if (column.has(row)) column.change(row, span_between(-by, column[row]));
}
template <class T>
void shift_column(const ColumnSpec&, Column<T>&, DurNs) {}

}  // namespace

#define GPUPROF_TABLE_MEMBERS(table, Type, doc)                           \
    const TableSpec& Type##Table::spec() {                                \
        static const TableSpec& found = table_spec(#table);               \
        return found;                                                     \
    }                                                                     \
    void Type##Table::close() {                                           \
        each_column([this](const ColumnSpec&, auto& c) { c.pad(rows); }); \
    }                                                                     \
    void Type##Table::clear() {                                           \
        each_column([](const ColumnSpec&, auto& c) { c.clear(); });       \
        rows = 0;                                                         \
    }
GPUPROF_TABLES(GPUPROF_TABLE_MEMBERS)
#undef GPUPROF_TABLE_MEMBERS

Tables::Tables() = default;
Tables::Tables(const Tables&) = default;
Tables::Tables(Tables&&) noexcept = default;
Tables& Tables::operator=(const Tables&) = default;
Tables& Tables::operator=(Tables&&) noexcept = default;
Tables::~Tables() = default;

void Tables::close() {
    each_table([](const TableSpec&, auto& table) { table.close(); });
}

void Tables::clear() {
    each_table([](const TableSpec&, auto& table) { table.clear(); });
}

#define GPUPROF_APPEND_COLUMN(column, type, unit, doc) append_column(to.column, from.column, ids);
#define GPUPROF_APPEND_TABLE(table, Type, doc)                               \
    {                                                                        \
        Type##Table& to = into.table;                                        \
        const Type##Table& from = batch.table;                               \
        GPUPROF_COLUMNS_##table(GPUPROF_APPEND_COLUMN) to.rows += from.rows; \
    }
void append_tables(Tables& into, const Tables& batch, const std::vector<StringId>& ids) {
    GPUPROF_TABLES(GPUPROF_APPEND_TABLE)
}

void skip_unselected(Tables& tables, const ColumnSelection& selected) {
    if (selected.has_all()) return;
    tables.each_table([&](const TableSpec& spec, auto& table) {
        bool has_span = requires { table.start, table.dur; };
        table.each_column([&](const ColumnSpec& column, auto& values) {
            bool extends_window = (has_span && (column.name == "start" || column.name == "dur")) ||
                                  (spec.name == "memory_event" && column.name == "time");
            if (!extends_window && !selected.has(spec, column)) values.skip();
        });
    });
}

void shift_times(Tables& tables, DurNs by) {
    if (by == 0) return;
    tables.each_table([by](const TableSpec&, auto& table) {
        table.each_column([by](const ColumnSpec& spec, auto& column) { shift_column(spec, column, by); });
    });
}

}  // namespace gpuprof::model
