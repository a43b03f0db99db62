// Whether two traces hold the same: every table, column, row and value, strings by their text.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof::test {

// One line per row, values separated; absent ones are "-".
template <class Table>
std::vector<std::string> lines_of(const Trace& trace, const Table& table) {
    std::vector<std::string> lines(table.rows);
    table.each_column([&](const ColumnSpec& spec, const auto& column) {
        using T = typename std::remove_cvref_t<decltype(column)>::value_type;
        for (Row row = 0; row < table.rows; ++row) {
            std::string text = "-";
            if constexpr (std::is_same_v<T, StringId>) {
                if (column.has(row)) text = "\"" + std::string(trace.text(column[row])) + "\"";
            } else if (column.has(row)) {
                text = std::to_string(column[row]);
            }
            lines[row] += std::string(spec.name) + "=" + text + " ";
        }
    });
    return lines;
}

inline bool is_among(const std::vector<std::string_view>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// All tables but those named in `except`; the rows of those in `any_order` may come in another one.
inline void expect_same_tables(const Trace& a, const Trace& b, std::vector<std::string_view> except = {},
                               std::vector<std::string_view> any_order = {}) {
    std::vector<std::pair<std::string_view, std::vector<std::string>>> first, second;
    a.tables().each_table([&](const TableSpec& spec, const auto& table) {
        first.push_back({spec.name, lines_of(a, table)});
    });
    b.tables().each_table([&](const TableSpec& spec, const auto& table) {
        second.push_back({spec.name, lines_of(b, table)});
    });
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (is_among(except, first[i].first)) continue;
        if (is_among(any_order, first[i].first)) {
            std::sort(first[i].second.begin(), first[i].second.end());
            std::sort(second[i].second.begin(), second[i].second.end());
        }
        ASSERT_EQ(first[i].second.size(), second[i].second.size()) << first[i].first;
        for (std::size_t row = 0; row < first[i].second.size(); ++row)
            ASSERT_EQ(first[i].second[row], second[i].second[row]) << first[i].first << " row " << row;
    }
}

}  // namespace gpuprof::test
