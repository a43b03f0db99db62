#include "core/format/payload.h"

#include "core/format/bytes.h"
#include "core/format/table_chunk.h"

namespace gpuprof::inline format {

void PayloadEncoder::encode(const TableView& table, const StringPool& strings, std::size_t first, std::size_t rows) {
    table_ = table.name;
    rows_ = rows;
    values_ = {};
    std::string columns;
    std::uint64_t count = 0;
    for (const ColumnView& column : table.columns)
        if (encoder_.encode(column, strings, first, rows, columns, values_)) ++count;
    front_.clear();
    put_varint(front_, count);
    front_ += columns;
}

std::string PayloadEncoder::payload(Compressor* zstd) const {
    std::string front = zstd == nullptr ? front_ : std::string(zstd->compress(front_));
    std::string_view values = zstd == nullptr ? values_.bytes : zstd->compress(values_.bytes, values_.ends);
    std::string payload;
    put_text(payload, table_);
    for (std::size_t size : {rows_, front_.size(), front.size(), values_.bytes.size(), values.size()})
        put_varint(payload, size);
    payload += front;
    payload += values;
    payload.resize(std::max<std::size_t>(payload.size(), min_payload(rows_, raw_size())));
    return payload;
}

}  // namespace gpuprof::format
