// An SQLite database of Nsight Systems being written: a temporary file, one transaction, statements prepared once; and the
// numbers by which it names threads and kinds. The number of values of a row, and whether they are texts, are compared with the
// declared columns when compiling.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/base/files/sqlite_statement.h"
#include "core/base/files/temporary_file.h"
#include "core/base/result.h"
#include "io/exporters/nsys/nsys_tables.def"

namespace gpuprof::inline exporters::nsys {

// A GlobalId: host, process id, thread id.
constexpr std::int64_t global_id(std::int64_t pid, std::int64_t tid) {
    return std::int64_t{1} << 48 | (pid & 0xFFFFFF) << 24 | (tid & 0xFFFFFF);
}

// Numbers of ENUM_CUDA_MEMCPY_OPER, ENUM_CUDA_MEM_KIND and ENUM_CUPTI_SYNC_TYPE.
std::int64_t copy_kind(std::string_view word);
std::int64_t memory_kind(std::string_view word);
std::int64_t sync_type(std::string_view word);

enum class Table {
#define GPUPROF_NSYS_TABLE(name, columns) name,
    GPUPROF_NSYS_TABLES(GPUPROF_NSYS_TABLE)
#undef GPUPROF_NSYS_TABLE
};
struct TableText {
    const char* name;
    std::string_view columns;  // as SQL declares them, separated by ", "
};
inline constexpr TableText kTables[] = {
#define GPUPROF_NSYS_TABLE(name, columns) {#name, columns},
    GPUPROF_NSYS_TABLES(GPUPROF_NSYS_TABLE)
#undef GPUPROF_NSYS_TABLE
};
constexpr const TableText& text_of(Table table) { return kTables[static_cast<std::size_t>(table)]; }

// Whether values of these types are a row of a table with these columns.
template <class... Values>
constexpr bool is_row_of(std::string_view columns) {
    bool fits = true;
    auto take = [&](bool text, bool null) {
        fits = fits && !columns.empty();
        std::string_view column = columns.substr(0, columns.find(", "));
        columns.remove_prefix(std::min(columns.size(), column.size() + 2));
        bool wants_text = column.find(" TEXT") != column.npos, wants_value = column.find(" NOT NULL") != column.npos;
        fits = fits && (null ? !wants_value : text == wants_text);
    };
    (take(std::is_convertible_v<Values, std::optional<std::string_view>>, std::is_same_v<Values, std::nullopt_t>), ...);
    return fits && columns.empty();
}

class Writer {
public:
    static Result<Writer> open();

    // Runs SQL; the first failure is kept and stops all further work.
    void run(const std::string& sql);
    // One row, values in the order of the table's columns: numbers, texts, or optionals of them; an empty optional is
    // NULL. A table is created with its first row.
    template <Table table, class... Values>
    void insert(const Values&... values) {
        static_assert(is_row_of<Values...>(text_of(table).columns));
        if (!begin_row(table)) return;
        (put(values), ...);
        end_row();
    }
    bool wrote(Table table) const { return statements_[static_cast<std::size_t>(table)] != nullptr; }
    // Commits; the complete file is then at path().
    Status finish();
    const std::string& path() const { return file_.path(); }

private:
    explicit Writer(TemporaryFile file) : file_(std::move(file)) {}
    bool begin_row(Table table);
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
    std::array<SqlitePrepared, std::size(kTables)> statements_;
    sqlite3_stmt* row_ = nullptr;
    int place_ = 0;
    std::optional<Error> failure_;
};

}  // namespace gpuprof::exporters::nsys
