#include "core/format/table_chunk.h"

#include "core/format/bytes.h"

namespace gpuprof::inline format {
namespace {

// Moving a PodVector does not move its bytes, so views into it stay valid when a TableChunk is moved.
bool read_validity(ByteCursor& front, std::size_t rows, std::vector<std::uint64_t>& into) {
    std::uint8_t form = front.u8();
    if (form == 0) return front.ok();
    std::string_view bits = front.take((rows + 7) / 8);
    if (form != 1 || !front.ok()) return false;
    into.assign((rows + 63) / 64, 0);
    for (std::size_t i = 0; i < bits.size(); ++i)
        into[i / 8] |= std::uint64_t{static_cast<std::uint8_t>(bits[i])} << (8 * (i % 8));
    if (rows % 64 != 0) into.back() &= (std::uint64_t{1} << (rows % 64)) - 1;
    return true;
}

bool sound_width(const ChunkColumn& column) {
    switch (column.encoding) {
        case Encoding::constant: return column.width == 0;
        case Encoding::dictionary: return column.width >= 1 && column.width <= 4;
        case Encoding::plain: return column.width == 8;
        default: return column.width >= 1 && column.width <= 8;
    }
}

// Besides `constant`, strings and reals have their own encodings; integers have the others.
bool fits(ColumnType type, Encoding encoding) {
    if (encoding == Encoding::constant) return true;
    if (type == ColumnType::Str) return encoding == Encoding::dictionary;
    return (type == ColumnType::F64) == (encoding == Encoding::plain);
}

}  // namespace

bool read_preamble(std::string_view& payload, std::uint64_t length, ChunkPreamble& into) {
    ByteCursor cursor(payload);
    into.table = cursor.text();
    for (std::uint64_t* number :
         {&into.rows, &into.front_raw, &into.front_stored, &into.values_raw, &into.values_stored})
        *number = cursor.varint();
    if (!cursor.ok()) return false;
    payload.remove_prefix(payload.size() - cursor.left());
    return into.rows <= kMaxChunkRows && into.front_raw <= kMaxSectionBytes && into.values_raw <= kMaxSectionBytes &&
           length >= min_payload(into.rows, into.front_raw + into.values_raw);
}

std::optional<TableChunk> TableChunk::read(std::string_view payload, Decompressor& zstd) {
    ChunkPreamble preamble;
    std::string_view rest = payload;
    if (!read_preamble(rest, payload.size(), preamble)) return {};
    ByteCursor cursor(rest);
    TableChunk chunk;
    std::string_view front = cursor.take(preamble.front_stored);
    chunk.stored_values_ = cursor.take(preamble.values_stored);
    if (!cursor.ok()) return {};
    chunk.table_ = preamble.table;
    chunk.rows_ = preamble.rows;
    chunk.values_size_ = preamble.values_raw;
    chunk.front_.resize(preamble.front_raw);
    if (!zstd.decompress(front, chunk.front_.data(), preamble.front_raw) || !chunk.read_front()) return {};
    return chunk;
}

bool TableChunk::read_front() {
    ByteCursor front({front_.data(), front_.size()});
    std::uint64_t columns = front.varint();
    if (!front.ok() || columns > front.left()) return false;
    for (std::uint64_t i = 0; i < columns; ++i)
        if (!read_column(front)) return false;
    std::size_t used = columns_.empty() ? 0 : columns_.back().at + rows_ * columns_.back().width;
    return front.left() == 0 && used == values_size_;
}

bool TableChunk::read_column(ByteCursor& front) {
    ChunkColumn column;
    if (!columns_.empty()) column.at = columns_.back().at + rows_ * columns_.back().width;
    column.name = front.text();
    std::uint8_t type = front.u8();
    column.unit = front.text();
    if (!read_validity(front, rows_, column.validity)) return false;
    std::uint8_t encoding = front.u8();
    column.width = front.u8();
    std::string_view parameter = front.text();
    if (!front.ok() || column.width > 8) return false;
    column.known = type < kColumnTypes && encoding < kEncodings;
    if (column.known) {
        column.type = ColumnType{type};
        column.encoding = Encoding{encoding};
        if (!sound_width(column) || !fits(column.type, column.encoding) || !read_parameter(column, parameter))
            return false;
    }
    columns_.push_back(std::move(column));
    return true;
}

bool TableChunk::read_parameter(ChunkColumn& column, std::string_view bytes) const {
    ByteCursor parameter(bytes);
    if (column.encoding == Encoding::dictionary || column.type == ColumnType::Str) {
        std::uint64_t entries = column.encoding == Encoding::constant ? 1 : parameter.varint();
        if (entries == 0 || entries > parameter.left()) return false;
        for (std::uint64_t i = 0; i < entries; ++i) {
            if (column.type == ColumnType::Str)
                column.texts.push_back(parameter.text());
            else
                column.numbers.push_back(parameter.signed_varint());
        }
    } else if (column.encoding != Encoding::plain) {
        column.base = parameter.signed_varint();
    }
    return parameter.ok() && parameter.left() == 0;
}

}  // namespace gpuprof::format
