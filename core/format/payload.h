// Rows of a table as the payload of a chunk (table_chunk.h reads it). Two steps, so that a writer can check the encoded
// size before compression.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/base/string_pool.h"
#include "core/format/column_encoder.h"
#include "core/format/zstd_frame.h"

namespace gpuprof::inline format {

struct TableView {
    std::string_view name;
    std::size_t rows = 0;
    std::span<const ColumnView> columns;
};

class PayloadEncoder {
public:
    explicit PayloadEncoder(EncodingGoal goal = EncodingGoal::smallest) : encoder_(goal) {}

    // Encodes rows [first, first + rows) of `table`; rows > 0. Columns without a value in them are skipped.
    void encode(const TableView& table, const StringPool& strings, std::size_t first, std::size_t rows);

    // Size of the last encoding, before compression.
    std::size_t raw_size() const { return front_.size() + values_.bytes.size(); }
    std::size_t max_section() const { return std::max(front_.size(), values_.bytes.size()); }
    // Its payload; without a compressor the sections are stored as they are.
    std::string payload(Compressor* zstd) const;

private:
    ColumnEncoder encoder_;
    std::string table_, front_;
    std::size_t rows_ = 0;
    Planes values_;
};

}  // namespace gpuprof::format
