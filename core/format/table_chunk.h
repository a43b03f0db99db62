// Reads the payload of a chunk: self-describing rows of one table.
//
//   | table | rows | front raw size | front stored size | values raw size | values stored size | front | values | padding |
//
// The front describes the columns (name, type, unit, validity, encoding, dictionary); the values are the byte planes of
// the columns in that order. Both are zstd frames if that is smaller. Reading has two steps, so that many chunks can be
// laid out in order cheaply and decoded on several threads. Everything is checked against the existing bytes: a payload
// is accepted whole or not at all, except that columns of an unknown type or encoding stay in the list, marked. A
// payload has at least the length min_payload() returns, so that a few bytes cannot make a reader allocate gigabytes;
// very regular data is padded to it. Byte layout: docs/reference/capture-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/pod_vector.h"
#include "core/format/encoding.h"
#include "core/format/zstd_frame.h"

namespace gpuprof::inline format {

// Minimum length of a chunk's payload for `rows` rows and sections of the given sizes before compression.
constexpr std::uint64_t min_payload(std::uint64_t rows, std::uint64_t raw_bytes) {
    std::uint64_t by_rows = rows > 256 ? rows - 256 : 0;
    std::uint64_t by_bytes = raw_bytes > 16384 ? (raw_bytes - 16384) / 256 : 0;
    return by_rows > by_bytes ? by_rows : by_bytes;
}

struct ChunkColumn {
    std::string_view name;
    std::string_view unit;
    ColumnType type = ColumnType::I64;
    Encoding encoding = Encoding::constant;
    bool known = false;  // type and encoding are known to this version; otherwise the rest is not filled
    std::uint8_t width = 0;
    std::int64_t base = 0;                // the parameter of constant, offset and the deltas
    std::vector<std::int64_t> numbers;    // dictionary of a column of numbers
    std::vector<std::string_view> texts;  // dictionary of a column of strings; one entry when constant
    std::vector<std::uint64_t> validity;  // empty: every row is present
    std::size_t at = 0;                   // offset of its planes in the values

    bool has(std::size_t row) const { return validity.empty() || ((validity[row / 64] >> (row % 64)) & 1u); }
};

// The start of a payload, which describes its contents without decompression.
struct ChunkPreamble {
    std::string_view table;
    std::uint64_t rows = 0, front_raw = 0, front_stored = 0, values_raw = 0, values_stored = 0;
};

// Reads the preamble from `payload`, of which the start is enough; the chunk's whole payload has `length` bytes. Leaves
// `payload` at the front. False if the preamble is invalid.
bool read_preamble(std::string_view& payload, std::uint64_t length, ChunkPreamble& into);

class TableChunk {
public:
    // Reads the front of `payload`, which must outlive this object. Absent if it is invalid.
    static std::optional<TableChunk> read(std::string_view payload, Decompressor& zstd);

    std::string_view table() const { return table_; }
    std::size_t rows() const { return rows_; }
    const std::vector<ChunkColumn>& columns() const { return columns_; }
    std::size_t values_size() const { return values_size_; }
    // Writes the values, values_size() bytes, to `into`; false when they are damaged.
    bool read_values(char* into, Decompressor& zstd) const {
        return zstd.decompress(stored_values_, into, values_size_);
    }

private:
    bool read_front();
    bool read_column(class ByteCursor& front);
    bool read_parameter(ChunkColumn& column, std::string_view bytes) const;

    PodVector<char> front_;   // the views of the columns point into it
    std::string_view table_;  // in the payload
    std::size_t rows_ = 0;
    std::vector<ChunkColumn> columns_;
    std::size_t values_size_ = 0;
    std::string_view stored_values_;
};

// Decodes a column of numbers to `out`, rows values; absent rows become 0. False if a number is not an index of the
// dictionary. `planes` are the values of the chunk. The integer types can be read as int64, I32 also as int32.
bool decode_column(const ChunkColumn& column, const char* planes, std::size_t rows, std::int64_t* out);
bool decode_column(const ChunkColumn& column, const char* planes, std::size_t rows, std::int32_t* out);
bool decode_column(const ChunkColumn& column, const char* planes, std::size_t rows, double* out);
// The same for strings: `ids` has the id of each entry of column.texts.
bool decode_column(const ChunkColumn& column, const char* planes, std::size_t rows, const std::vector<StringId>& ids,
                   StringId* out);

}  // namespace gpuprof::format
