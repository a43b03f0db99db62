// Puts the chunks of a capture into the tables of a Batch. place() is called in file order: it reserves space for a
// chunk's rows and interns its strings, so that the result does not depend on threads. fill() then decodes the values
// in place; calls for different chunks may run concurrently, but not with place(). Columns are matched by name:
// unknown ones are counted and skipped, missing ones are absent. drop_failed() finally removes the rows of damaged
// chunks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/format/chunk_reader.h"
#include "core/format/table_chunk.h"
#include "core/model/build/trace_builder.h"

namespace gpuprof::inline importers {

// A column to fill: its source and its destination.
struct ColumnFill {
    std::size_t source;  // its index in the chunk
    std::variant<Column<std::int64_t>*, Column<std::int32_t>*, Column<double>*, Column<StringId>*> target;
    std::vector<StringId> ids;  // of the dictionary's entries, for strings
};

struct PlacedChunk {
    TableChunk chunk;
    std::string_view table;  // the schema's own name
    Row first = 0;
    std::uint64_t offset = 0;  // in the file
    std::vector<ColumnFill> fills;
};

// The working memory of one thread's fill().
struct FillScratch {
    Decompressor zstd;
    PodVector<char> values;
};

class CaptureTables {
public:
    CaptureTables(Batch& batch, std::string file) : batch_(batch), file_(std::move(file)) {}

    // Announces the file's row counts per table, where known, so that growing tables need not be moved.
    void expect(std::map<std::string, std::size_t, std::less<>> rows) { expected_ = std::move(rows); }
    // Reserves space for a chunk of kind `table`; absent if it cannot be used, which is counted. `raw` must outlive the
    // placed chunk.
    std::optional<PlacedChunk> place(const RawChunk& raw);
    static bool fill(const PlacedChunk& placed, FillScratch& scratch);
    // Records that fill() rejected `placed`.
    void fail(const PlacedChunk& placed);
    void drop_failed();
    // Rows placed so far, by table, including those of tables unknown to this version.
    const std::map<std::string, std::int64_t, std::less<>>& rows() const { return rows_; }

private:
    template <class Table>
    void place_rows(const TableSpec& spec, Table& table, PlacedChunk& placed);
    template <class Table>
    bool place_column(const TableSpec& spec, Table& table, PlacedChunk& placed, std::size_t source);
    std::string where(std::uint64_t offset) const;

    Batch& batch_;
    std::string file_;
    Decompressor zstd_;
    std::map<std::string, std::size_t, std::less<>> expected_;
    std::map<std::string, std::int64_t, std::less<>> rows_;
    std::set<std::string, std::less<>> unknown_columns_;
    std::vector<std::pair<std::string_view, std::pair<Row, std::size_t>>> failed_;  // table, first row, rows
};

}  // namespace gpuprof::importers
