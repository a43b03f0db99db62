#include "present/query/sql.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "core/base/text/utf8.h"
#include "present/query/sql_functions.h"
#include "present/query/virtual_table.h"

namespace gpuprof::inline query {
namespace {

constexpr int kMaxTextBytes = 16 << 20;    // bytes per value, and of all texts of a row
constexpr int kMaxPatternBytes = 4 << 10;  // of LIKE and GLOB
constexpr sqlite3_int64 kMaxHeap = sqlite3_int64{1} << 30;
constexpr int kMaxStatementBytes = 1 << 20;  // bytes of SQL
constexpr int kStepsBetweenChecks = 200;     // instructions between two checks of the clock; each may copy a long text

// Pragmas that only list objects.
bool harmless_pragma(std::string_view name) {
    for (std::string_view known : {"table_info", "table_xinfo", "function_list", "module_list"})
        if (name == known) return true;
    return false;
}

int authorize(void*, int action, const char* first, const char* second, const char*, const char*) {
    switch (action) {
        case SQLITE_SELECT:
        case SQLITE_READ:
        case SQLITE_RECURSIVE: return SQLITE_OK;
        case SQLITE_FUNCTION:
            return second != nullptr && sqlite3_stricmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
        case SQLITE_PRAGMA: return first != nullptr && harmless_pragma(first) ? SQLITE_OK : SQLITE_DENY;
        default: return SQLITE_DENY;
    }
}

void set_hex(std::string& text, std::string_view bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    text.resize(2 * bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        auto byte = static_cast<unsigned char>(bytes[i]);
        text[2 * i] = kDigits[byte >> 4u];
        text[2 * i + 1] = kDigits[byte & 15u];
    }
}

// Of the texts and blobs of the current row.
std::int64_t text_bytes(sqlite3_stmt* statement) {
    std::int64_t bytes = 0;
    for (int at = 0, columns = sqlite3_column_count(statement); at < columns; ++at) {
        int type = sqlite3_column_type(statement, at);
        if (type == SQLITE_TEXT || type == SQLITE_BLOB) bytes += sqlite3_column_bytes(statement, at);
    }
    return bytes;
}

// The part of a statement around a byte offset, on one line.
std::string around(std::string_view text, std::size_t at) {
    constexpr std::size_t kShown = 24;
    std::string part = valid_utf8(text.substr(at, kShown));
    std::replace_if(
        part.begin(), part.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    return part;
}

}  // namespace

Error late_query(double limit_s) {
    return {ExitCode::usage, fmt::format("the query exceeded its time limit of {} s", limit_s)};
}

void limit_sql_memory() { sqlite3_hard_heap_limit64(kMaxHeap); }

bool is_complete_sql(const std::string& text) { return sqlite3_complete(text.c_str()) != 0; }

Result<std::unique_ptr<Sql>> Sql::open(Catalogue& catalogue) {
    std::unique_ptr<Sql> sql(new Sql());
    int code = open_sqlite(sql->database_, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY);
    sqlite3* database = sql->database_.get();
    if (code != SQLITE_OK)
        return Error{ExitCode::internal, fmt::format("cannot open SQLite: {}", sqlite3_errstr(code))};
    if (Status added = add_virtual_tables(database, catalogue); !added) return added.error();
    if (Status added = add_functions(database, sql->aggregates_); !added) return added.error();
    if (Status safe = sql->protect(); !safe) return safe.error();
    return sql;
}

Status Sql::protect() {
    sqlite3* database = database_.get();
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMaxTextBytes);
    sqlite3_limit(database, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, kMaxPatternBytes);
    sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, kMaxStatementBytes);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);  // "x" is an identifier, never a string literal
    sqlite3_progress_handler(
        database, kStepsBetweenChecks,
        [](void* self) {
            auto* sql = static_cast<Sql*>(self);
            bool late = sql->deadline_ && std::chrono::steady_clock::now() > *sql->deadline_;
            return sql->interrupted_ || late ? 1 : 0;
        },
        this);
    if (sqlite3_set_authorizer(database, authorize, nullptr) != SQLITE_OK)
        return Error{ExitCode::internal, "cannot set the SQLite authorizer"};
    return {};
}

void Sql::limit_time(std::chrono::nanoseconds from_now) {
    allowed_ = from_now;
    if (from_now.count() == 0)
        deadline_.reset();
    else
        deadline_ = std::chrono::steady_clock::now() + from_now;
}

Error Sql::error(std::string_view text) const {
    sqlite3* database = database_.get();
    switch (sqlite3_errcode(database) & 0xFF) {
        case SQLITE_INTERRUPT:
            if (interrupted_) return {ExitCode::usage, "the query was cancelled"};
            return late_query(std::chrono::duration<double>(allowed_).count());
        case SQLITE_AUTH:
            return {ExitCode::usage,
                    "statement not allowed: queries are read-only; use SELECT, VALUES, WITH or EXPLAIN"};
        case SQLITE_NOMEM: return {ExitCode::internal, "out of memory; narrow the query"};
        case SQLITE_TOOBIG: return {ExitCode::usage, "a text value, a pattern or the statement is too long"};
        default: break;
    }
    std::string message = valid_utf8(sqlite3_errmsg(database));
    int at = sqlite3_error_offset(database);
    if (at >= 0 && static_cast<std::size_t>(at) < text.size())
        message += fmt::format(" (character {}: {})", at + 1, around(text, static_cast<std::size_t>(at)));
    return {ExitCode::usage, std::move(message)};
}

Result<std::optional<SqlRows>> Sql::prepare(std::string_view& text) {
    while (!text.empty()) {
        if (text.size() > static_cast<std::size_t>(kMaxStatementBytes))
            return Error{ExitCode::usage, fmt::format("the statement exceeds {} bytes", kMaxStatementBytes)};
        if (text.find('\0') != std::string_view::npos)
            return Error{ExitCode::usage, "the statement contains a NUL byte"};
        sqlite3_stmt* statement = nullptr;
        const char* rest = nullptr;
        int code = sqlite3_prepare_v2(database_.get(), text.data(), static_cast<int>(text.size()), &statement, &rest);
        if (code != SQLITE_OK) return error(text);
        text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
        if (statement != nullptr) return std::optional<SqlRows>(SqlRows(*this, statement));
    }
    return std::optional<SqlRows>();
}

std::size_t SqlRows::columns() const { return static_cast<std::size_t>(sqlite3_column_count(statement_.get())); }

std::string_view SqlRows::column(std::size_t index) const {
    const char* name = sqlite3_column_name(statement_.get(), static_cast<int>(index));
    return name == nullptr ? "" : name;
}

Result<bool> SqlRows::next() {
    int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) {
        if (text_bytes(statement_.get()) <= kMaxTextBytes) return true;
        return Error{ExitCode::usage,
                     fmt::format("the texts of a row exceed {} MiB; narrow the query", kMaxTextBytes >> 20)};
    }
    if (code == SQLITE_DONE) return false;
    return sql_->error("");
}

Cell SqlRows::cell(std::size_t index) {
    auto at = static_cast<int>(index);
    sqlite3_stmt* statement = statement_.get();
    switch (sqlite3_column_type(statement, at)) {
        case SQLITE_INTEGER: return std::int64_t{sqlite3_column_int64(statement, at)};
        case SQLITE_FLOAT: return sqlite3_column_double(statement, at);
        case SQLITE_NULL: return kAbsent;
        case SQLITE_BLOB: {
            const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(statement, at));
            set_hex(blob_, {reinterpret_cast<const char*>(bytes),
                            static_cast<std::size_t>(sqlite3_column_bytes(statement, at))});
            return std::string_view(blob_);
        }
        default: break;
    }
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, at));
    return std::string_view(text == nullptr ? "" : text, static_cast<std::size_t>(sqlite3_column_bytes(statement, at)));
}

}  // namespace gpuprof::query
