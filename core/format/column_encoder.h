// Encodes the columns of one chunk: picks an encoding for the data, then appends a record to the front (what the column
// is and how to read it) and byte planes to the values. If the result is compressed, the encoding is picked by trial:
// the first rows are compressed with each candidate and the smallest wins, because the range of a column does not
// predict how well zstd compresses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/packed_number.h"
#include "core/base/string_pool.h"
#include "core/format/encoding.h"
#include "core/format/zstd_frame.h"

namespace gpuprof::inline format {

// Plain view of a column: `values` points to int64 (Time, Dur, I64), int32, double or StringId, by type. Validity bits,
// lowest first, are null if every row is present. With a width, `values` are packed numbers instead (core/base/packed_number.h). A kNoString string is absent whatever the bits say; every other id
// must belong to the pool that is written with the column.
struct ColumnView {
    std::string_view name;
    ColumnType type = ColumnType::I64;
    std::string_view unit;
    const void* values = nullptr;
    const std::uint64_t* validity = nullptr;
    std::uint8_t width = 0;

    StringId text(std::size_t row) const {
        if (width != 0) return static_cast<StringId>(packed_number(values, width, row));
        return static_cast<const StringId*>(values)[row];
    }
    bool has(std::size_t row) const {
        if (type == ColumnType::Str && text(row) == kNoString) return false;
        return validity == nullptr || ((validity[row / 64] >> (row % 64)) & 1u);
    }
};

enum class EncodingGoal : std::uint8_t {
    smallest,   // after compression
    narrowest,  // as is, without trials
};

class ColumnEncoder {
public:
    explicit ColumnEncoder(EncodingGoal goal = EncodingGoal::smallest) : goal_(goal) {}

    // Encodes rows [first, first + rows) of `column`, whose strings belong to `strings`. Skips a column without values
    // in these rows; returns whether it was encoded. rows > 0.
    bool encode(const ColumnView& column, const StringPool& strings, std::size_t first, std::size_t rows,
                std::string& front, Planes& values);

private:
    struct Choice {
        Encoding encoding = Encoding::constant;
        int width = 0;
        std::string parameter;
    };
    void read_numbers(const ColumnView& column, std::size_t first, std::size_t rows);
    void read_codes(const ColumnView& column, const StringPool& strings, std::size_t first, std::size_t rows);
    Choice choose_numbers(ColumnType type);
    Choice choose_codes(const StringPool& strings);
    bool find_distinct();
    void try_choice(Choice candidate, Choice& best, std::size_t& best_size);
    void make_numbers(const Choice& choice, std::size_t rows);

    EncodingGoal goal_;
    std::vector<std::int64_t> numbers_;   // the column's values; absent rows repeat the row before
    std::vector<std::uint64_t> coded_;    // as stored by the chosen encoding
    std::vector<std::int64_t> distinct_;  // of numbers_, in order of first use, if they are few
    std::vector<std::uint8_t> code_;      // per row, its index in distinct_
    std::vector<StringId> dictionary_;    // of a string column, in order of first use
    std::vector<std::uint32_t> code_of_;  // per StringId, its index in dictionary_ + 1; 0 = not in it
    Compressor trial_{1};
};

}  // namespace gpuprof::format
