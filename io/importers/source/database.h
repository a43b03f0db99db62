// A foreign SQLite database, read once and table by table. Its contents are not trusted: it is opened read-only and
// without its views, triggers and virtual tables. Rows on damaged pages are skipped and counted; the rows after them
// are read. If an interrupted writer left FILE-wal or FILE-journal, they are not applied: the file is rejected.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files/sqlite_statement.h"
#include "core/base/files/temporary_file.h"
#include "core/base/result.h"
#include "core/model/build/trace_builder.h"
#include "io/importers/source/source.h"

namespace gpuprof::inline importers {

bool is_sqlite(std::string_view head);

class Database {
public:
    // A plain file is read in place; anything else is first copied to a temporary file without a name.
    static Result<Database> open(Source& source);

    bool has(const std::string& table) const { return columns_.contains(table); }
    // Names of the columns of each ordinary table.
    const std::map<std::string, std::set<std::string>>& tables() const { return columns_; }
    // Views and virtual tables, which reading would compute with the file's own SQL.
    const std::set<std::string>& computed() const { return computed_; }
    const std::map<std::string, std::string>& unlisted() const { return unlisted_; }
    sqlite3* handle() const { return database_.get(); }
    // Whether the file is shorter than its own header says.
    bool truncated() const { return truncated_; }
    // If a table has more rows than fit the file, some pages are referenced repeatedly or in a cycle.
    std::uint64_t max_rows() const { return max_rows_; }
    // Memory limit for the rows created from it.
    std::uint64_t max_memory() const { return max_memory_; }
    // A reader reached that limit; no more rows follow.
    bool over_memory() const { return over_memory_; }
    void set_over_memory() const { over_memory_ = true; }

private:
    Database() = default;
    Status list_tables(const std::string& name);

    std::optional<TemporaryFile> copy_;  // of a source that is not a plain file; open as long as the database
    SqliteDatabase database_;
    std::map<std::string, std::set<std::string>> columns_;
    std::set<std::string> computed_;
    std::map<std::string, std::string> unlisted_;  // tables whose columns could not be listed, and why
    std::uint64_t max_rows_ = 0, max_memory_ = 0;
    mutable bool over_memory_ = false;
    bool truncated_ = false;
};

// One pass over a table, in file order:
//
//     Scan scan(database, "KERNEL", batch);
//     auto start = scan.column("start");
//     while (scan.next()) use(scan.integer(start));
//
// A missing table or column yields no rows or values. Values of another type are absent and counted (bad_number).
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
    // As integer; absent, and counted, if it does not fit.
    std::optional<std::int32_t> narrow(Field field);
    std::optional<double> real(Field field);
    // Valid until the next row; empty if absent.
    std::string_view text(Field field);
    // The bytes of a blob or text, under the same terms.
    std::string_view bytes(Field field);
    std::uint64_t rows() const { return rows_; }

private:
    enum class ScanStep { row, end, damage };
    SqlitePrepared statement(const std::string& sql) const;
    bool prepare();
    bool start_at(std::int64_t row_id);
    ScanStep look(std::int64_t row_id);
    bool skip_damage(std::string_view why);
    bool take_row();
    bool end();
    void lose_rest(std::string_view why);

    const Database& database_;
    std::string table_;
    Batch& losses_;
    const std::set<std::string>* known_ = nullptr;
    std::vector<std::string> wanted_;
    SqlitePrepared statement_, look_;
    std::uint64_t rows_ = 0;
    bool has_ids_ = false;      // of rows
    std::int64_t last_id_ = 0;  // of the last row, or the last one that was skipped
    int repairs_ = 0;
};

}  // namespace gpuprof::importers
