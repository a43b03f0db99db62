// SQL over a catalogue. A connection can only read the catalogue's tables: no statement writes, attaches a file, loads
// code or changes a setting. A statement returns its rows one by one, so results of any size need little memory.
//
//     Result<std::unique_ptr<Sql>> sql = Sql::open(catalogue);
//     std::string_view rest = text;
//     Result<std::optional<SqlRows>> rows = (*sql)->prepare(rest);   // rest: what follows the statement
//     while (true) { Result<bool> there = (*rows)->next(); ... (*rows)->cell(0) ... }
//
// A connection and its statements belong to one thread; interrupt() may come from any, and from a signal handler.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/files/sqlite_statement.h"
#include "present/query/aggregates.h"
#include "present/query/catalogue.h"

namespace gpuprof::inline query {

// Whether `text` ends with a complete statement, i.e. with a semicolon outside string literals and comments.
bool is_complete_sql(const std::string& text);

// What a query says that ran longer than it may.
Error late_query(double limit_s);

// Limits what SQLite allocates in this process to 1 GiB, for all connections, also those of a host: only for a process of ours.
void limit_sql_memory();

class SqlRows {
public:
    std::size_t columns() const;
    std::string_view column(std::size_t index) const;
    // Moves to the next row; false after the last. A row whose texts exceed 16 MiB is an error.
    Result<bool> next();
    // A cell of the current row; text stays valid until the next call. A blob is returned as hexadecimal text.
    Cell cell(std::size_t index);

private:
    friend class Sql;
    SqlRows(class Sql& sql, sqlite3_stmt* statement) : sql_(&sql), statement_(statement) {}
    Sql* sql_;
    SqlitePrepared statement_;
    std::string blob_;
};

class Sql {
public:
    static Result<std::unique_ptr<Sql>> open(Catalogue& catalogue);
    Sql(const Sql&) = delete;
    Sql& operator=(const Sql&) = delete;

    // Prepares the first statement of `text` and sets `text` to the rest; absent if only spaces and comments are left.
    Result<std::optional<SqlRows>> prepare(std::string_view& text);
    // Aborts the running statement, if any, with an error.
    void interrupt() { interrupted_ = true; }
    bool interrupted() const { return interrupted_; }
    // Statements that run longer than this fail; 0 s: no limit.
    void limit_time(std::chrono::nanoseconds from_now);
    // Clears an interruption.
    void resume() { interrupted_ = false; }

private:
    friend class SqlRows;
    Sql() = default;
    Status protect();
    Error error(std::string_view text) const;

    AggregateBudget aggregates_;  // outlives the connection
    SqliteDatabase database_;
    std::atomic<bool> interrupted_ = false;
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    std::chrono::nanoseconds allowed_{0};
};

}  // namespace gpuprof::query
