// A capture file that grows while something is observed: rows of any tables of the schema are gathered and written as whole
// chunks, so that a killed process leaves what it had flushed. Columns are named as in tables.def; what a row does not set
// is absent. After a failure of the file nothing more is written, and flush() and close() say what it was. One thread.
// Its owner alone can read it: names, paths and command lines are in it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_sink.h"
#include "core/base/result.h"
#include "core/base/string_pool.h"
#include "core/format/writer.h"
#include "core/schema/schema.h"

namespace gpuprof {

// Rows of one table.
class RowBuffer {
public:
    explicit RowBuffer(const TableSpec& spec);

    // Begins a row; set() is of the row begun last. A column the table does not have, or of another type, is a defect.
    RowBuffer& add();
    RowBuffer& set(std::string_view column, std::int64_t value);
    RowBuffer& set(std::string_view column, StringId text);
    RowBuffer& set_real(std::string_view column, double value);

    std::size_t rows() const { return rows_; }
    Status write(CaptureWriter& writer, const StringPool& strings) const;
    void clear();

private:
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
    // When the file has its name: at once, so that it can be read while it grows (a part of a recording), or when it is
    // closed, in place of what was there (a file that a user named). What a user named and could not be completed stays
    // beside it under another name, which close() says; a killed process leaves that, too.
    enum class Named { at_once, when_closed };

    // `tool` is what a reader is told wrote it.
    static Result<std::unique_ptr<CapturePart>> open(const std::string& file, std::string_view tool,
                                                     Named named = Named::at_once);
    // As close(); but what a user named and was neither closed nor published is given up.
    ~CapturePart();
    CapturePart(const CapturePart&) = delete;
    CapturePart& operator=(const CapturePart&) = delete;

    // Good until the next flush.
    StringId intern(std::string_view text) { return strings_.intern(text); }
    RowBuffer& table(std::string_view name);
    void add_fact(std::string_view key, std::string_view value);
    void add_loss(std::string_view kind, std::int64_t count, std::string_view place);

    // Writes rows that came as columns, at once; for those that are too many to be set one by one.
    void write(const TableView& rows);

    // Rows that wait to be written.
    std::size_t waiting() const;
    Status flush();
    // Writes the rows so far and gives the file its name, as close() does; more may follow.
    Status publish();
    // Writes the rest and the end.
    Status close();

private:
    CapturePart(FileSink file, bool named) : file_(std::move(file)), writer_(file_), named_(named) {}
    void give_up(const Status& file);

    FileSink file_;
    CaptureWriter writer_;
    Status status_;
    bool named_, closed_ = false, given_up_ = false;
    StringPool strings_;
    std::list<std::pair<std::string_view, RowBuffer>> tables_;
};

}  // namespace gpuprof
