// What every analysis returns: a small self-describing table (name, columns with type, unit and doc; rows of cells).
// All reports, exporters and comparisons are written once, for this type. Columns are declared as constant arrays next
// to the analysis, so that the reference page can list them without running anything.
// Each column of an analysis stands next to the function that gives its cell for a row, so that columns and cells cannot
// get out of step:
//
//     constexpr auto kStreamsColumns = columns_of<StreamWork>({
//         {"ops", CellType::integer, Unit::count, "Number of ops.", [](auto& stream) { return stream.ops; }},
//     });
//     ResultTable table("streams", kStreamsColumns);
//     table.add(kStreamsColumns, stream);
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/string_pool.h"
#include "core/schema/unit.h"

namespace gpuprof::inline model {

enum class CellType { integer, real, text, boolean };

// "integer", "real", "text", "boolean".
std::string_view name_of(CellType type);

struct ResultColumn {
    std::string_view name;
    CellType type;
    Unit unit;
    std::string_view doc;
};

// A cell to add: absent, integer, real, text or boolean. Text is copied into the table.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string_view, bool>;
inline constexpr Cell kAbsent{};

template <class Row, std::size_t N>
struct ColumnList;
template <class Row>
struct ColumnOf;

class ResultTable {
public:
    // `columns` must outlive the table (constant arrays do).
    ResultTable(std::string_view name, std::span<const ResultColumn> columns);

    // Adds a row; one cell per column, absent or of the column's type (a real column accepts integers).
    void add_row(std::span<const Cell> cells);
    void add_row(std::initializer_list<Cell> cells) { add_row(std::span<const Cell>(cells.begin(), cells.size())); }

    // Adds a row by the getters of its columns, with which the table was made.
    template <class Row, std::size_t N>
    void add(const ColumnList<Row, N>& list, const Row& row);

    std::string_view name() const { return name_; }
    std::span<const ResultColumn> columns() const { return columns_; }
    std::size_t rows() const { return rows_; }
    // The cell, absent or of the column's type; text stays valid as long as the table.
    Cell cell(std::size_t row, std::size_t column) const;
    // The column of this name, or columns().size().
    std::size_t column(std::string_view name) const;

    // Rows at the end that the analysis skipped because the row limit hides them anyway; included in total_rows().
    std::size_t omitted = 0;
    std::size_t total_rows() const { return rows_ + omitted; }

    // Its rows belong together: row limits do not apply.
    bool whole = false;

    // Names of the columns that people read it for: the last ones to go where there is little room.
    std::vector<std::string_view> wanted;

    // Prefix of row handles such as k-12 (rows count from 1); empty if rows have no handle.
    std::string handle_prefix;
    // Sentences that the reader of the table must know (what is missing and why).
    std::vector<std::string> notes;

private:
    template <class Row>
    friend struct ColumnOf;
    void put(std::size_t column, const Cell& cell);

    std::string_view name_;
    std::span<const ResultColumn> columns_;
    std::size_t rows_ = 0;
    struct Values {
        std::vector<std::int64_t> bits;  // integer, boolean, string id, or the bit pattern of a real
        std::vector<bool> present;
    };
    std::vector<Values> values_;
    StringPool strings_;
};

// The cell of a value: a number, a text, a cell, or an optional of these, which is absent if it is empty.
template <class Value>
Cell cell_of(const Value& value) {
    if constexpr (std::convertible_to<Value, Cell> && !std::convertible_to<Value, std::string_view>)
        return value;
    else if constexpr (std::convertible_to<Value, std::string_view>)
        return std::string_view(value);
    else if constexpr (std::integral<Value>)
        return static_cast<std::int64_t>(value);
    else
        return value ? cell_of(*value) : kAbsent;
}

// A column, and the function (a lambda without captures) that gives its value for a row: whatever cell_of() takes.
template <class Row>
struct ColumnOf {
    ResultColumn column;
    void (*put)(ResultTable& table, std::size_t index, const Row& row);

    template <class Getter>
    constexpr ColumnOf(std::string_view name, CellType type, Unit unit, std::string_view doc, Getter getter)
        : ColumnOf({name, type, unit, doc}, getter) {}
    template <class Getter>
    constexpr ColumnOf(ResultColumn declared, Getter)
        : column(declared),
          put([](ResultTable& table, std::size_t index, const Row& row) { table.put(index, cell_of(Getter{}(row))); }) {
    }
};

// The columns of a table whose rows are made from `Row`s.
template <class Row, std::size_t N>
struct ColumnList {
    std::array<ResultColumn, N> columns;
    std::array<void (*)(ResultTable&, std::size_t, const Row&), N> put;

    constexpr operator std::span<const ResultColumn>() const { return columns; }
};

template <class Row, std::size_t N>
constexpr ColumnList<Row, N> columns_of(const ColumnOf<Row> (&declared)[N]) {
    ColumnList<Row, N> list{};
    for (std::size_t i = 0; i < N; ++i) {
        list.columns[i] = declared[i].column;
        list.put[i] = declared[i].put;
    }
    return list;
}

template <class Row, std::size_t N>
void ResultTable::add(const ColumnList<Row, N>& list, const Row& row) {
    for (std::size_t i = 0; i < N; ++i) list.put[i](*this, i, row);
    ++rows_;
}

}  // namespace gpuprof::model
