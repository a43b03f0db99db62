// A table as seen by SQL and Arrow: named columns of plain arrays. A Frame borrows its data. Columns of a trace are
// used in place; those of an analysis or a query result are in an OwnedFrame.
// Names of time and duration columns end in _ns; a table of spans also has end_ns, which is computed.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/model/column.h"
#include "core/model/result_table.h"
#include "core/model/trace.h"

namespace gpuprof::inline query {

enum class FrameType { i64, i32, f64, text, boolean, end };  // boolean: an i64, 0 or 1; end: start plus duration

struct FrameColumn {
    std::string name;
    FrameType type = FrameType::i64;
    Unit unit = Unit::none;
    std::string_view doc;
    const void* values = nullptr;              // of the column's type, StringId for text; null: no row has a value
    std::uint8_t width = 0;                    // not 0: packed numbers of this number of bytes instead
    const std::uint64_t* validity = nullptr;   // one bit per row; null: every row has a value, if any has
    const Column<DurNs>* durations = nullptr;  // for end columns, whose values are the starts

    bool has(Row row) const {
        return values != nullptr && (validity == nullptr || ((validity[row / 64] >> (row % 64)) & 1u) != 0);
    }
    // Value of a row that has one.
    std::int64_t integer(Row row) const {
        if (type == FrameType::i32 && width == 0) return static_cast<const std::int32_t*>(values)[row];
        std::int64_t value = width != 0 ? static_cast<std::int64_t>(packed_number(values, width, row))
                                        : static_cast<const std::int64_t*>(values)[row];
        if (type == FrameType::i32) return static_cast<std::int32_t>(value);
        return type == FrameType::end ? value + (*durations)[row] : value;
    }
    double real(Row row) const { return static_cast<const double*>(values)[row]; }
    StringId text(Row row) const {
        if (width != 0) return static_cast<StringId>(packed_number(values, width, row));
        return static_cast<const StringId*>(values)[row];
    }
};

struct Frame {
    std::size_t rows = 0;
    std::vector<FrameColumn> columns;
    const StringPool* strings = nullptr;
    std::optional<std::size_t> sorted_by;  // a column by which rows are known to be sorted in ascending order
};

// A frame that owns its columns.
class OwnedFrame {
public:
    OwnedFrame() { frame_.strings = &strings_; }
    OwnedFrame(const OwnedFrame&) = delete;
    OwnedFrame& operator=(const OwnedFrame&) = delete;

    // `doc` must outlive the frame.
    void add_column(std::string name, FrameType type, Unit unit, std::string_view doc);
    // One cell per column, of its type or absent; a real column accepts integers.
    void set(std::size_t column, Row row, const Cell& cell);
    // Sets the final number of rows; no rows can be set afterwards.
    void close(std::size_t rows);
    const Frame& frame() const { return frame_; }

private:
    using Values = std::variant<Column<std::int64_t>, Column<double>, Column<StringId>>;
    std::deque<Values> values_;
    StringPool strings_;
    Frame frame_;
};

// Wraps the columns of a trace's table in place.
template <class Table>
Frame frame_of(const Trace& trace, const Table& table);
std::unique_ptr<OwnedFrame> frame_of(const ResultTable& table);

// Column name in SQL: start becomes start_ns.
std::string sql_name(const ColumnSpec& spec);
FrameType frame_type(ColumnType type);
FrameType frame_type(CellType type);

template <class Table>
Frame frame_of(const Trace& trace, const Table& table) {
    Frame frame{.rows = table.rows, .columns = {}, .strings = &trace.strings(), .sorted_by = {}};
    table.each_column([&](const ColumnSpec& spec, const auto& column) {
        frame.columns.push_back({.name = sql_name(spec),
                                 .type = frame_type(spec.type),
                                 .unit = spec.unit,
                                 .doc = spec.doc,
                                 .values = column.none_present() ? nullptr : column.raw(),
                                 .width = column.width(),
                                 .validity = column.none_present() ? nullptr : column.validity()});
        if constexpr (requires { table.start, table.dur; })
            if (spec.name == "dur") {
                frame.sorted_by = frame.columns.size() - 2;
                FrameColumn end = frame.columns[*frame.sorted_by];
                end.name = "end_ns", end.type = FrameType::end, end.doc = "End.";
                end.durations = &table.dur;
                if (table.dur.none_present()) end.values = nullptr;
                frame.columns.insert(frame.columns.end() - 1, end);
            }
    });
    return frame;
}

}  // namespace gpuprof::query
