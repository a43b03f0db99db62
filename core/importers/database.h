// A SQLite database that came from elsewhere, read once and table by table. Nothing in it is trusted: it is opened read-only and
// without its views, triggers and virtual tables; a damaged page ends the table it is in, and is counted.
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
#include "core/importers/source.h"
#include "core/model/trace_builder.h"

struct sqlite3;
struct sqlite3_stmt;

namespace gpuprof {

bool is_sqlite(std::string_view head);

class Database {
public:
    // A plain file is read where it lies; anything else is put into a temporary file first.
    static Result<Database> open(Source& source);
    Database(Database&&) noexcept = default;
    Database& operator=(Database&&) noexcept = default;
    ~Database();

    bool has(const std::string& table) const { return columns_.contains(table); }
    // Names of the columns of each ordinary table.
    const std::map<std::string, std::set<std::string>>& tables() const { return columns_; }
    sqlite3* handle() const { return database_.get(); }
    // Whether the file is shorter than its own header says.
    bool truncated() const { return truncated_; }
    // More rows than the file has bytes come from pages that name each other in a circle.
    std::uint64_t most_rows() const { return most_rows_; }

private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    Database() = default;
    Status list_tables(const std::string& name);

    std::unique_ptr<sqlite3, Close> database_;
    std::map<std::string, std::set<std::string>> columns_;
    std::uint64_t most_rows_ = 0;
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
    bool prepare();
    void lose_rest(std::string_view why);

    const Database& database_;
    std::string table_;
    Batch& losses_;
    const std::set<std::string>* known_ = nullptr;
    std::vector<std::string> wanted_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    std::uint64_t rows_ = 0;
};

}  // namespace gpuprof
