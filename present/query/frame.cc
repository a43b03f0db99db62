#include "present/query/frame.h"

namespace gpuprof::inline query {

std::string sql_name(const ColumnSpec& spec) {
    bool time = spec.type == ColumnType::Time || spec.type == ColumnType::Dur;
    return std::string(spec.name) + (time ? "_ns" : "");
}

FrameType frame_type(ColumnType type) {
    switch (type) {
        case ColumnType::Time:
        case ColumnType::Dur:
        case ColumnType::I64: return FrameType::i64;
        case ColumnType::I32: return FrameType::i32;
        case ColumnType::F64: return FrameType::f64;
        case ColumnType::Str: return FrameType::text;
    }
    return FrameType::i64;
}

FrameType frame_type(CellType type) {
    switch (type) {
        case CellType::integer: return FrameType::i64;
        case CellType::real: return FrameType::f64;
        case CellType::text: return FrameType::text;
        case CellType::boolean: return FrameType::boolean;
    }
    return FrameType::i64;
}

void OwnedFrame::add_column(std::string name, FrameType type, Unit unit, std::string_view doc) {
    FrameColumn column;
    column.name = std::move(name), column.type = type, column.unit = unit, column.doc = doc;
    frame_.columns.push_back(std::move(column));
    if (type == FrameType::f64)
        values_.emplace_back(Column<double>());
    else if (type == FrameType::text)
        values_.emplace_back(Column<StringId>());
    else
        values_.emplace_back(Column<std::int64_t>());
}

void OwnedFrame::set(std::size_t column, Row row, const Cell& cell) {
    Values& values = values_[column];
    const auto* integer = std::get_if<std::int64_t>(&cell);
    if (auto* integers = std::get_if<Column<std::int64_t>>(&values)) {
        if (integer != nullptr) integers->set(row, *integer);
        if (const auto* boolean = std::get_if<bool>(&cell)) integers->set(row, *boolean ? 1 : 0);
    } else if (auto* reals = std::get_if<Column<double>>(&values)) {
        if (integer != nullptr) reals->set(row, static_cast<double>(*integer));
        if (const auto* real = std::get_if<double>(&cell)) reals->set(row, *real);
    } else if (const auto* text = std::get_if<std::string_view>(&cell)) {
        std::get<Column<StringId>>(values).set(row, strings_.intern(*text));
    }
}

void OwnedFrame::close(std::size_t rows) {
    frame_.rows = rows;
    for (std::size_t i = 0; i < values_.size(); ++i)
        std::visit(
            [&](auto& column) {
                column.pad(rows);
                if (column.none_present()) return;
                frame_.columns[i].values = column.values();
                frame_.columns[i].validity = column.validity();
            },
            values_[i]);
}

std::unique_ptr<OwnedFrame> frame_of(const ResultTable& table) {
    auto owned = std::make_unique<OwnedFrame>();
    for (const ResultColumn& column : table.columns())
        owned->add_column(std::string(column.name), frame_type(column.type), column.unit, column.doc);
    for (std::size_t row = 0; row < table.rows(); ++row)
        for (std::size_t column = 0; column < table.columns().size(); ++column)
            owned->set(column, static_cast<Row>(row), table.cell(row, column));
    owned->close(table.rows());
    return owned;
}

}  // namespace gpuprof::query
