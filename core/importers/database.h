// A SQLite database that came from elsewhere, read once and table by table. Nothing in it is trusted: it is opened read-only and
// without its views, triggers and virtual tables. Rows on damaged pages are left out and counted; those behind them are read.
// What lies beside the file because a writer was interrupted (FILE-wal, FILE-journal) is not applied: the file is refused then.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/temporary_file.h"
#include "core/importers/source.h"
#include "core/model/trace_builder.h"

struct sqlite3;
struct sqlite3_stmt;

namespace gpuprof {

bool is_sqlite(std::string_view head);

class Database {
public:
    // A plain file is read where it lies; anything else is put into a temporary file without a name first.
    static Result<Database> open(Source& source);
    Database(Database&&) noexcept = default;
    Database& operator=(Database&&) = delete;
    ~Database();

    bool has(const std::string& table) const { return columns_.contains(table); }
    // Names of the columns of each ordinary table.
    const std::map<std::string, std::set<std::string>>& tables() const { return columns_; }
    // Views and virtual tables: what would be computed when it is read, by SQL of the file's own.
    const std::set<std::string>& computed() const { return computed_; }
    sqlite3* handle() const { return database_.get(); }
    // Whether the file is shorter than its own header says.
    bool truncated() const { return truncated_; }
    // More rows than the file has room for come from pages that are named more than once, or in a circle.
    std::uint64_t most_rows() const { return most_rows_; }
    // What rows made of it may take in memory.
    std::uint64_t most_memory() const { return most_memory_; }
    // A reader of rows met that limit; no rows come any more.
    bool over_memory() const { return over_memory_; }
    void set_over_memory() const { over_memory_ = true; }

private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    Database() = default;
    Status list_tables(const std::string& name);

    std::optional<TemporaryFile> copy_;  // of what is not a plain file; open as long as the database
    std::unique_ptr<sqlite3, Close> database_;
    std::map<std::string, std::set<std::string>> columns_;
    std::set<std::string> computed_;
    std::uint64_t most_rows_ = 0, most_memory_ = 0;
    mutable bool over_memory_ = false;
    bool truncated_ = false;
};

// One pass over a table, in the order of the file:
//
//     Scan scan(database, "KERNEL", batch);
//     auto start = scan.column("start");
//     while (scan.next()) use(scan.integer(start));
//
// A table or column that is not there gives no rows or values. Values of another type are absent and counted (bad_number).
class Scan {
public:
    struct Field {
        int place;  // -1: no such column
        explicit operator bool() const { return place >= 0; }
    };
    Scan(const Database& database, std::string table, Batch& losses);

    // Before the first next().
    Field column(const char* name);
    bool next();
    std::optional<std::int64_t> integer(Field field);
    // As integer; nothing, and counted, where it does not fit.
    std::optional<std::int32_t> narrow(Field field);
    std::optional<double> real(Field field);
    // Valid until the next row; empty where absent.
    std::string_view text(Field field);
    std::uint64_t rows() const { return rows_; }

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    enum class Found { row, end, damage };
    std::unique_ptr<sqlite3_stmt, Finalize> statement(const std::string& sql) const;
    bool prepare();
    bool start_at(std::int64_t row_id);
    Found look(std::int64_t row_id);
    bool skip_damage(std::string_view why);
    bool take_row();
    bool end();
    void lose_rest(std::string_view why);

    const Database& database_;
    std::string table_;
    Batch& losses_;
    const std::set<std::string>* known_ = nullptr;
    std::vector<std::string> wanted_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_, look_;
    std::uint64_t rows_ = 0;
    bool has_ids_ = false;      // of rows
    std::int64_t last_id_ = 0;  // of the last row, or the last one that was given up
    int repairs_ = 0;
};

}  // namespace gpuprof
