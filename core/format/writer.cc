#include "core/format/writer.h"

#include <algorithm>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "core/base/caught.h"
#include "core/format/bytes.h"
#include "core/format/table_chunk.h"

namespace gpuprof::inline format {
namespace {

// A larger chunk is split in two, unless it is a single row.
constexpr std::size_t kLargeChunk = std::size_t{16} << 20;

Error failure(std::string message) { return {ExitCode::internal, std::move(message)}; }

}  // namespace

CaptureWriter::CaptureWriter(Sink& sink, WriterOptions options)
    : sink_(sink), options_(std::move(options)), zstd_(options_.level) {
    options_.rows_per_chunk = std::clamp<std::size_t>(options_.rows_per_chunk, 1, kMaxChunkRows);
}

template <class Step>
Status CaptureWriter::guarded(Step&& step) noexcept {
    Status status = caught([&]() -> Status {
        if (failed_) return failure("cannot write the capture: an earlier chunk failed");
        return step();
    });
    failed_ = failed_ || !status.ok();
    return status;
}

Status CaptureWriter::begin() noexcept {
    return guarded([this]() -> Status {
        const std::string_view keys[] = {"format", "producer"}, texts[] = {"1", options_.producer};
        return write_facts(ChunkKind::begin, "begin", keys, "value", {}, texts);
    });
}

Status CaptureWriter::write(const TableView& table, const StringPool& strings) noexcept {
    return guarded([&]() -> Status {
        for (std::size_t first = 0; first < table.rows; first += options_.rows_per_chunk) {
            std::size_t rows = std::min(options_.rows_per_chunk, table.rows - first);
            if (Status status = write_rows(ChunkKind::table, table, strings, first, rows); !status) return status;
        }
        return {};
    });
}

Status CaptureWriter::end() noexcept {
    return guarded([this]() -> Status {
        std::vector<std::string_view> keys;
        std::vector<std::int64_t> numbers;
        for (const auto& [table, rows] : rows_) {
            keys.push_back(table);
            numbers.push_back(rows);
        }
        return write_facts(ChunkKind::end, "end", keys, "rows", numbers, {});
    });
}

// The begin and end chunks are small tables too: a column `key` and a column of numbers or texts.
Status CaptureWriter::write_facts(ChunkKind kind, std::string_view table, std::span<const std::string_view> keys,
                                  std::string_view column, std::span<const std::int64_t> numbers,
                                  std::span<const std::string_view> texts) {
    StringPool strings;
    std::vector<StringId> key_ids, text_ids;
    for (std::string_view key : keys) key_ids.push_back(strings.intern(key));
    for (std::string_view text : texts) text_ids.push_back(strings.intern(text));
    ColumnView columns[] = {{"key", ColumnType::Str, "", key_ids.data()},
                            {column, ColumnType::Str, "", text_ids.data()}};
    if (texts.empty()) columns[1] = {column, ColumnType::I64, "count", numbers.data()};
    return write_rows(kind, {table, keys.size(), columns}, strings, 0, keys.size());
}

Status CaptureWriter::write_rows(ChunkKind kind, const TableView& table, const StringPool& strings, std::size_t first,
                                 std::size_t rows) {
    encoder_.encode(table, strings, first, rows);
    if (rows > 1 && encoder_.raw_size() > kLargeChunk) {
        std::size_t half = rows / 2;
        Status status = write_rows(kind, table, strings, first, half);
        return status ? write_rows(kind, table, strings, first + half, rows - half) : status;
    }
    if (encoder_.max_section() >= kMaxSectionBytes)
        return failure(fmt::format("cannot write the capture: a row of table {} is too large", table.name));
    Status status = write_chunk(kind, encoder_.payload(&zstd_));
    if (status && kind == ChunkKind::table) rows_[std::string(table.name)] += static_cast<std::int64_t>(rows);
    return status;
}

Status CaptureWriter::write_chunk(ChunkKind kind, std::string_view payload) {
    if (payload.size() > kMaxPayloadBytes)
        return failure(fmt::format("cannot write the capture: a row of {} bytes exceeds the limit of {} bytes",
                                   payload.size(), kMaxPayloadBytes));
    sink_.write(encode_header(kind, sequence_++, payload));
    sink_.write(payload);
    sink_.flush();
    if (sink_.failed()) return failure("cannot write the capture: the disk is full or the output was closed");
    return {};
}

}  // namespace gpuprof::format
