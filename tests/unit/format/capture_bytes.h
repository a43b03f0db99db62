// For tests of the capture file: tables as plain lists of optional values, written to bytes and read back.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/format/chunk_reader.h"
#include "core/format/table_chunk.h"
#include "core/format/writer.h"
#include "tests/unit/format/byte_source.h"

namespace gpuprof::test {

using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

struct PlainColumn {
    std::string name;
    ColumnType type = ColumnType::I64;
    std::string unit;
    std::vector<Value> values;
};

struct PlainTable {
    std::string name;
    std::vector<PlainColumn> columns;
    std::size_t rows() const { return columns.empty() ? 0 : columns.front().values.size(); }
};

inline bool same_value(const Value& a, const Value& b) {
    if (const auto* x = std::get_if<double>(&a))
        if (const auto* y = std::get_if<double>(&b)) return std::memcmp(x, y, sizeof *x) == 0;  // NaN too
    return a == b;
}

// Memory in which a PlainTable looks as the writer wants it.
class WriterColumns {
public:
    WriterColumns(const PlainTable& table, StringPool& strings) : rows_(table.rows()), buffers_(table.columns.size()) {
        for (std::size_t i = 0; i < table.columns.size(); ++i) add(table.columns[i], buffers_[i], strings);
        view_ = {table.name, rows_, columns_};
    }
    const TableView& view() const { return view_; }

private:
    struct Buffer {
        std::vector<std::int64_t> longs;
        std::vector<std::int32_t> ints;
        std::vector<double> reals;
        std::vector<StringId> ids;
        std::vector<std::uint64_t> validity;
    };
    void add(const PlainColumn& column, Buffer& buffer, StringPool& strings) {
        buffer.validity.assign((rows_ + 63) / 64, 0);
        bool all = true;
        for (std::size_t row = 0; row < rows_; ++row) {
            const Value& value = column.values[row];
            bool present = value.index() != 0;
            all = all && present;
            if (present) buffer.validity[row / 64] |= std::uint64_t{1} << (row % 64);
            const auto* whole = std::get_if<std::int64_t>(&value);
            const auto* real = std::get_if<double>(&value);
            const auto* text = std::get_if<std::string>(&value);
            buffer.longs.push_back(whole ? *whole : 0);
            buffer.ints.push_back(static_cast<std::int32_t>(whole ? *whole : 0));
            buffer.reals.push_back(real ? *real : 0);
            buffer.ids.push_back(text ? strings.intern(*text) : StringId{0});
        }
        const void* values = buffer.longs.data();
        if (column.type == ColumnType::I32) values = buffer.ints.data();
        if (column.type == ColumnType::F64) values = buffer.reals.data();
        if (column.type == ColumnType::Str) values = buffer.ids.data();
        columns_.push_back({column.name, column.type, column.unit, values, all ? nullptr : buffer.validity.data()});
    }

    std::size_t rows_;
    std::vector<Buffer> buffers_;
    std::vector<ColumnView> columns_;
    TableView view_;
};

inline std::string write_bytes(const std::vector<PlainTable>& tables, WriterOptions options = {}) {
    StringSink sink;
    CaptureWriter writer(sink, options);
    EXPECT_TRUE(writer.begin().ok());
    for (const PlainTable& table : tables) {
        StringPool strings;
        EXPECT_TRUE(writer.write(WriterColumns(table, strings).view(), strings).ok());
    }
    EXPECT_TRUE(writer.end().ok());
    return sink.text();
}

struct ReadBack {
    std::vector<RawChunk> chunks;
    std::vector<ChunkReader::Gap> gaps;

    // Chunks missing at the end of a part, cut off or not written, or otherwise within it.
    std::uint64_t missing(bool at_end) const {
        std::uint64_t chunks_missing = 0;
        for (const ChunkReader::Gap& gap : gaps)
            chunks_missing += (gap.kind != ChunkReader::Gap::damaged) == at_end ? gap.chunks : 0;
        return chunks_missing;
    }
};

inline ReadBack read_chunks(std::string_view bytes) {
    Bytes input(bytes);
    ChunkReader reader(input);
    ReadBack back;
    while (true) {
        RawChunk chunk;
        Result<bool> more = reader.next(chunk);
        EXPECT_TRUE(more.ok());
        if (!more || !*more) break;
        back.chunks.push_back(std::move(chunk));
    }
    back.gaps = reader.gaps();
    return back;
}

// One column of a chunk as plain values.
inline std::vector<Value> decode(const TableChunk& chunk, const ChunkColumn& column, const char* planes) {
    std::size_t rows = chunk.rows();
    std::vector<Value> values(rows);
    std::vector<std::int64_t> longs(rows);
    std::vector<double> reals(rows);
    std::vector<StringId> ids(rows);
    std::vector<StringId> entries;
    for (std::size_t i = 0; i < column.texts.size(); ++i) entries.push_back(StringId{static_cast<std::uint32_t>(i)});
    bool sound = column.type == ColumnType::Str   ? decode_column(column, planes, rows, entries, ids.data())
                 : column.type == ColumnType::F64 ? decode_column(column, planes, rows, reals.data())
                                                  : decode_column(column, planes, rows, longs.data());
    EXPECT_TRUE(sound);
    for (std::size_t row = 0; row < rows; ++row) {
        if (!column.has(row)) continue;
        if (column.type == ColumnType::Str)
            values[row] = std::string(column.texts[index_of(ids[row])]);
        else if (column.type == ColumnType::F64)
            values[row] = reals[row];
        else
            values[row] = longs[row];
    }
    return values;
}

// The table chunks put together by table; columns a chunk does not have are absent in its rows.
inline std::map<std::string, PlainTable> read_tables(const ReadBack& back) {
    std::map<std::string, PlainTable> tables;
    std::map<std::string, std::size_t> rows;
    Decompressor zstd;
    for (const RawChunk& raw : back.chunks) {
        if (!raw.header.is(ChunkKind::table)) continue;
        std::optional<TableChunk> chunk = TableChunk::read(raw.bytes(), zstd);
        EXPECT_TRUE(chunk.has_value());
        if (!chunk) continue;
        std::string planes(chunk->values_size(), '\0');
        EXPECT_TRUE(chunk->read_values(planes.data(), zstd));
        PlainTable& table = tables[std::string(chunk->table())];
        table.name = chunk->table();
        std::size_t& known = rows[table.name];
        for (const ChunkColumn& from : chunk->columns()) {
            auto into = std::find_if(table.columns.begin(), table.columns.end(),
                                     [&](const PlainColumn& c) { return c.name == from.name; });
            if (into == table.columns.end())
                into = table.columns.insert(into, {std::string(from.name), from.type, std::string(from.unit), {}});
            into->values.resize(known);
            for (Value& value : decode(*chunk, from, planes.data())) into->values.push_back(std::move(value));
        }
        known += chunk->rows();
    }
    for (auto& [name, table] : tables)
        for (PlainColumn& column : table.columns) column.values.resize(rows[name]);
    return tables;
}

}  // namespace gpuprof::test
