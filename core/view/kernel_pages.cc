#include "core/view/kernel_pages.h"

#include <cstdint>
#include <map>

#include "core/report/report.h"

namespace gpuprof {
namespace {

// Analyses with a row or more per launch, in the order of the page.
constexpr std::string_view kShown[] = {"advice", "stalls", "roofline", "metrics", "tool_advice"};

const ResultTable* find(std::span<const ResultTable> tables, std::string_view name) {
    for (const ResultTable& table : tables)
        if (table.name() == name) return &table;
    return nullptr;
}

using RowsByLaunch = std::map<std::int64_t, std::vector<std::size_t>>;

RowsByLaunch rows_by_launch(const ResultTable& table) {
    RowsByLaunch rows;
    const std::size_t column = table.column("launch");
    if (column == table.columns().size()) return rows;
    for (std::size_t row = 0; row < table.rows(); ++row)
        if (Cell cell = table.cell(row, column); const auto* launch = std::get_if<std::int64_t>(&cell))
            rows[*launch].push_back(row);
    return rows;
}

ResultTable part_of(const ResultTable& table, const std::vector<std::size_t>& rows) {
    ResultTable part(table.name(), table.columns());
    std::vector<Cell> cells(table.columns().size());
    for (std::size_t row : rows) {
        for (std::size_t column = 0; column < cells.size(); ++column) cells[column] = table.cell(row, column);
        part.add_row(cells);
    }
    if (table.rows() == 0) part.notes = table.notes;  // why there are none
    return part;
}

}  // namespace

std::vector<std::string> kernel_pages(std::span<const ResultTable> tables) {
    std::vector<std::string> pages;
    const ResultTable* limits = find(tables, "limits");
    if (limits == nullptr) return pages;
    std::vector<std::pair<const ResultTable*, RowsByLaunch>> shown;
    for (std::string_view name : kShown)
        if (const ResultTable* table = find(tables, name)) shown.emplace_back(table, rows_by_launch(*table));
    for (std::size_t kernel = 0; kernel < limits->rows(); ++kernel) {
        Cell cell = limits->cell(kernel, limits->column("launch"));
        const auto* launch = std::get_if<std::int64_t>(&cell);
        std::vector<ResultTable> parts;
        for (const auto& [table, rows] : shown) {
            auto found = launch == nullptr ? rows.end() : rows.find(*launch);
            parts.push_back(part_of(*table, found == rows.end() ? std::vector<std::size_t>() : found->second));
        }
        StringSink sink;
        write_tables_json(parts, sink);
        pages.push_back(sink.text());
    }
    return pages;
}

}  // namespace gpuprof
