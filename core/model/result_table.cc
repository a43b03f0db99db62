#include "core/model/result_table.h"

#include <bit>
#include <cstdlib>

namespace gpuprof::inline model {

std::string_view name_of(CellType type) {
    switch (type) {
        case CellType::integer: return "integer";
        case CellType::real: return "real";
        case CellType::text: return "text";
        case CellType::boolean: return "boolean";
    }
    return "";
}

ResultTable::ResultTable(std::string_view name, std::span<const ResultColumn> columns)
    : name_(name), columns_(columns), values_(columns.size()) {}

void ResultTable::add_row(std::span<const Cell> cells) {
    if (cells.size() != columns_.size()) std::abort();
    for (std::size_t i = 0; i < cells.size(); ++i) put(i, cells[i]);
    ++rows_;
}

void ResultTable::put(std::size_t column, const Cell& cell) {
    CellType type = columns_[column].type;
    std::int64_t bits = 0;
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
        if (type != CellType::integer && type != CellType::real) std::abort();
        bits = type == CellType::real ? std::bit_cast<std::int64_t>(static_cast<double>(*integer)) : *integer;
    } else if (const auto* real = std::get_if<double>(&cell)) {
        if (type != CellType::real) std::abort();
        bits = std::bit_cast<std::int64_t>(*real);
    } else if (const auto* text = std::get_if<std::string_view>(&cell)) {
        if (type != CellType::text) std::abort();
        bits = index_of(strings_.intern(*text));
    } else if (const auto* boolean = std::get_if<bool>(&cell)) {
        if (type != CellType::boolean) std::abort();
        bits = *boolean ? 1 : 0;
    }
    values_[column].bits.push_back(bits);
    values_[column].present.push_back(cell.index() != 0);
}

Cell ResultTable::cell(std::size_t row, std::size_t column) const {
    const Values& values = values_[column];
    if (!values.present[row]) return kAbsent;
    std::int64_t bits = values.bits[row];
    switch (columns_[column].type) {
        case CellType::integer: return bits;
        case CellType::real: return std::bit_cast<double>(bits);
        case CellType::text: return strings_[StringId{static_cast<std::uint32_t>(bits)}];
        case CellType::boolean: return bits != 0;
    }
    return kAbsent;
}

std::size_t ResultTable::column(std::string_view name) const {
    std::size_t i = 0;
    while (i < columns_.size() && columns_[i].name != name) ++i;
    return i;
}

}  // namespace gpuprof::model
