// Columns of a result table with the values that they have: each column stands next to the function that gives its cell for
// a row, so that columns and cells cannot get out of step.
//
//     constexpr auto kStreamsColumns = columns_of<StreamWork>({
//         {"ops", CellType::integer, Unit::count, "Number of ops.", [](const StreamWork& stream) { return stream.ops; }},
//     });
//     ResultTable table("streams", kStreamsColumns);
//     table.add(kStreamsColumns, stream);
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/model/result_table.h"

namespace gpuprof::inline model {

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
