// A capture file that grows during observation: rows of any tables of the schema are collected and written as whole
// chunks, so that a killed process leaves what it had flushed. Columns have the names of tables.def; columns that a row
// does not set are absent. After a failure of the file nothing more is written, and flush() and close() return the
// error. One thread. Only the owner can read the file: it contains names, paths and command lines.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files/file_sink.h"
#include "core/base/result.h"
#include "core/base/string_pool.h"
#include "core/format/writer.h"
#include "core/schema/schema.h"

namespace gpuprof::inline format {

// Rows of one table.
class RowBuffer {
public:
    explicit RowBuffer(const TableSpec& spec);

    // Starts a row; set() applies to the last one started. A column that the table lacks, or of another type, is a
    // defect.
    RowBuffer& add();
    RowBuffer& set(std::string_view column, std::int64_t value);
    RowBuffer& set(std::string_view column, StringId text);
    RowBuffer& set_real(std::string_view column, double value);

    std::size_t rows() const { return rows_; }
    Status write(CaptureWriter& writer, const StringPool& strings) const;
    void clear() noexcept;

private:
    void grow();
    void cut() noexcept;

    struct Values {
        std::vector<std::int64_t> wide;    // Time, Dur, I64; the bits of F64
        std::vector<std::int32_t> narrow;  // I32
        std::vector<StringId> texts;
        std::vector<std::uint64_t> present;
    };
    enum class Kind { whole, real, text };
    static Kind kind_of(ColumnType type);
    Values& column(std::string_view name, Kind kind);

    const TableSpec& spec_;
    std::size_t rows_ = 0;
    std::vector<Values> values_;
};

class CapturePart {
public:
    // When the file gets its name: at once, so that others can read it while it grows (a part of a recording), or on
    // close, replacing the previous file (a file named by the user). If the user's file could not be completed, it
    // stays under another name, which close() reports; a killed process leaves it too.
    enum class Publish { at_open, at_close };

    // `tool` is the name of the writer that readers will see.
    static Result<std::unique_ptr<CapturePart>> open(const std::string& file, std::string_view tool,
                                                     Publish named = Publish::at_open);
    // As close(); but a file named by the user that was neither closed nor published is discarded.
    ~CapturePart();
    CapturePart(const CapturePart&) = delete;
    CapturePart& operator=(const CapturePart&) = delete;

    // Valid until the next flush.
    StringId intern(std::string_view text) { return strings_.intern(text); }
    RowBuffer& table(std::string_view name);
    void add_fact(std::string_view key, std::string_view value);
    void add_loss(std::string_view kind, std::int64_t count, std::string_view place);

    // Writes rows that are already columns, at once; for tables too large to be set value by value.
    void write(const TableView& rows);

    // Number of rows not yet written.
    std::size_t waiting() const noexcept;
    // After an exception, which may have left half a row: drops what is not yet written. The file will say how many rows that were.
    void discard() noexcept;
    Status flush() noexcept;
    // Writes the rows so far and gives the file its name, as close() does; more may follow.
    Status publish() noexcept;
    // Writes the remaining rows and the end chunk.
    Status close() noexcept;

private:
    CapturePart(FileSink file, bool named) : file_(std::move(file)), writer_(file_), named_(named) {}
    void give_up(const Status& file);
    void fail(const Status& reason) noexcept;
    void write_discarded() noexcept;
    Status status() const noexcept;

    FileSink file_;
    CaptureWriter writer_;
    Status status_;
    bool named_, closed_ = false, given_up_ = false;
    std::size_t discarded_ = 0;
    StringPool strings_;
    std::list<std::pair<std::string_view, RowBuffer>> tables_;
};

}  // namespace gpuprof::format
