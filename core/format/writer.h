// Writes a capture: begin(), any number of write(), end(). Each call leaves whole chunks in the sink and flushes it, so
// that a killed process leaves a capture that lacks only what was not yet written. Nothing throws; after an error every
// further call returns it again and writes nothing, and the sink still has a valid capture. A table is split into
// chunks of rows; columns without a value in those rows are skipped. Times should rise within a table, because their
// encoding relies on it. One writer per file and thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/base/files/sink.h"
#include "core/base/result.h"
#include "core/base/string_pool.h"
#include "core/format/chunk.h"
#include "core/format/payload.h"

namespace gpuprof::inline format {

struct WriterOptions {
    int level = 3;                         // of zstd
    std::size_t rows_per_chunk = 1 << 16;  // at most kMaxChunkRows
    std::string producer = "gpu-profile";  // the writing program named in the begin chunk
};

class CaptureWriter {
public:
    explicit CaptureWriter(Sink& sink, WriterOptions options = {});

    Status begin() noexcept;
    // Writes every row; string columns have ids of `strings`.
    Status write(const TableView& table, const StringPool& strings) noexcept;
    Status end() noexcept;

private:
    // Runs `step` unless an earlier one failed; an exception (out of memory) becomes an error.
    template <class Step>
    Status guarded(Step&& step) noexcept;
    Status write_rows(ChunkKind kind, const TableView& table, const StringPool& strings, std::size_t first,
                      std::size_t rows);
    Status write_facts(ChunkKind kind, std::string_view table, std::span<const std::string_view> keys,
                       std::string_view column, std::span<const std::int64_t> numbers,
                       std::span<const std::string_view> texts);
    Status write_chunk(ChunkKind kind, std::string_view payload);

    Sink& sink_;
    WriterOptions options_;
    PayloadEncoder encoder_;
    Compressor zstd_;
    std::uint32_t sequence_ = 0;
    std::map<std::string, std::int64_t, std::less<>> rows_;  // rows written, by table
    bool failed_ = false;
};

}  // namespace gpuprof::format
