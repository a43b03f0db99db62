// An SQLite database being written: a temporary file, one transaction, statements prepared once.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/files/sqlite_statement.h"
#include "core/base/files/temporary_file.h"
#include "core/base/result.h"

namespace gpuprof::inline exporters::nsys {

class Writer {
public:
    static Result<Writer> open();

    // Runs SQL; the first failure is kept and stops all further work.
    void run(const std::string& sql);
    // One row, values in the order of the table's columns: numbers, texts, or optionals of them; an empty optional is
    // NULL. A table is created with its first row.
    template <class... Values>
    void insert(const char* table, const Values&... values) {
        if (!begin_row(table)) return;
        (put(values), ...);
        end_row();
    }
    bool wrote(const char* table) const { return statements_.contains(table); }
    // Commits; the complete file is then at path().
    Status finish();
    const std::string& path() const { return file_.path(); }

private:
    explicit Writer(TemporaryFile file) : file_(std::move(file)) {}
    bool begin_row(const char* table);
    void check(int code, int expected);
    void end_row();
    void put(std::int64_t value);
    void put(double value);
    void put(std::string_view text);
    void put(const char* text) { put(std::string_view(text)); }
    void put(std::nullopt_t) { ++place_; }
    template <std::integral T>
    void put(T value) {
        put(static_cast<std::int64_t>(value));
    }
    template <class T>
    void put(const std::optional<T>& value) {
        if (value)
            put(*value);
        else
            put(std::nullopt);
    }

    TemporaryFile file_;
    SqliteDatabase database_;
    std::map<std::string_view, SqlitePrepared> statements_;
    sqlite3_stmt* row_ = nullptr;
    int place_ = 0;
    std::optional<Error> failure_;
};

}  // namespace gpuprof::exporters::nsys
