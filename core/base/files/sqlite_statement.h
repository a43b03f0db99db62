// Connections to SQLite and their statements, which end with their owners. Who uses them links SQLite.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>

namespace gpuprof::inline base {

struct SqliteCloser {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using SqliteDatabase = std::unique_ptr<sqlite3, SqliteCloser>;
using SqlitePrepared = std::unique_ptr<sqlite3_stmt, SqliteCloser>;

// Returns SQLite's code. A database that cannot be opened is there too, with its message, unless memory ran out.
inline int open_sqlite(SqliteDatabase& opened, const std::string& path, int flags, const char* layer = nullptr) {
    sqlite3* database = nullptr;
    int code = sqlite3_open_v2(path.c_str(), &database, flags, layer);
    opened.reset(database);
    return code;
}

// A value that there is no memory for looks like an absent one.
inline void throw_if_short_of_memory(sqlite3* database) {
    if (sqlite3_errcode(database) == SQLITE_NOMEM) throw std::bad_alloc();
}

// A statement that is run once. The first failure, also of a value that was not bound, is kept and ends it.
class SqliteStatement {
public:
    SqliteStatement(sqlite3* database, const char* text) {
        sqlite3_stmt* statement = nullptr;
        code_ = sqlite3_prepare_v2(database, text, -1, &statement, nullptr);
        statement_.reset(statement);
    }

    SqliteStatement& bind(int at, const std::string& text) {
        return bound(
            sqlite3_bind_text64(statement_.get(), at, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
    }
    SqliteStatement& bind(int at, std::int64_t value) { return bound(sqlite3_bind_int64(statement_.get(), at, value)); }
    SqliteStatement& bind(int at, double value) { return bound(sqlite3_bind_double(statement_.get(), at, value)); }
    // Steps to the next row; false at the end or on an error, which code() distinguishes.
    bool next() {
        if (code_ == SQLITE_OK || code_ == SQLITE_ROW) code_ = sqlite3_step(statement_.get());
        return code_ == SQLITE_ROW;
    }
    int code() const { return code_ == SQLITE_ROW || code_ == SQLITE_DONE ? SQLITE_OK : code_; }
    std::int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
    double real(int column) const { return sqlite3_column_double(statement_.get(), column); }
    // Null if absent; valid until the next row.
    const char* text(int column) const {
        const unsigned char* text = sqlite3_column_text(statement_.get(), column);
        if (text == nullptr) throw_if_short_of_memory(sqlite3_db_handle(statement_.get()));
        return reinterpret_cast<const char*>(text);
    }

private:
    SqliteStatement& bound(int code) {
        if (code_ == SQLITE_OK) code_ = code;
        return *this;
    }

    SqlitePrepared statement_;
    int code_ = SQLITE_OK;
};

}  // namespace gpuprof::base
