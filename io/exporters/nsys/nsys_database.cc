#include "io/exporters/nsys/nsys_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "core/base/files/sqlite_descriptor.h"

namespace gpuprof::inline exporters::nsys {
namespace {

template <std::size_t N>
std::int64_t number_of(const std::string_view (&words)[N], std::string_view word, std::int64_t otherwise) {
    auto same = [&](std::string_view known) {
        return std::equal(known.begin(), known.end(), word.begin(), word.end(), [](char a, char b) {
            return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
        });
    };
    auto found = std::find_if(std::begin(words), std::end(words), same);
    return found == std::end(words) ? otherwise : found - std::begin(words);
}

}  // namespace

std::int64_t copy_kind(std::string_view word) {
    static constexpr std::string_view kWords[] = {"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                  "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
    return number_of(kWords, word, 0);
}

std::int64_t memory_kind(std::string_view word) {
    static constexpr std::string_view kWords[] = {"pageable", "pinned",        "device",         "array",
                                                  "managed",  "device static", "managed static", "unknown"};
    return number_of(kWords, word, 7);
}

std::int64_t sync_type(std::string_view word) {
    static constexpr std::string_view kWords[] = {"", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
    return number_of(kWords, word, 0);
}

Result<Writer> Writer::open() {
    Result<TemporaryFile> file = TemporaryFile::make();
    if (!file.ok()) return file.error();
    Writer writer(std::move(*file));
    constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    writer.check(open_sqlite(writer.database_, writer.path(), kFlags, sqlite_by_descriptor()), SQLITE_OK);
    // The file is private and worthless until it is complete, so it needs no journal.
    writer.run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; BEGIN");
    return writer;
}

// Keeps the first failure.
void Writer::check(int code, int expected) {
    if (code == expected || failure_) return;
    failure_ = Error{ExitCode::unreadable,
                     fmt::format("cannot write the database to a temporary file: {}; set TMPDIR to another folder",
                                 database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(code))};
}

void Writer::run(const std::string& sql) {
    if (!failure_) check(sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
}

bool Writer::begin_row(Table table) {
    if (failure_) return false;
    SqlitePrepared& statement = statements_[static_cast<std::size_t>(table)];
    if (!statement) {
        const auto& [name, declared] = text_of(table);
        run(fmt::format("CREATE TABLE {} ({})", name, declared));
        auto columns = std::count(declared.begin(), declared.end(), ',') + 1;
        std::string values = "?";
        for (auto i = columns; i > 1; --i) values += ",?";
        sqlite3_stmt* prepared = nullptr;
        if (!failure_)
            check(sqlite3_prepare_v2(database_.get(), fmt::format("INSERT INTO {} VALUES ({})", name, values).c_str(),
                                     -1, &prepared, nullptr),
                  SQLITE_OK);
        statement.reset(prepared);
    }
    row_ = statement.get();
    place_ = 0;
    return row_ != nullptr;
}

void Writer::end_row() {
    if (!failure_) check(sqlite3_step(row_), SQLITE_DONE);
    sqlite3_reset(row_);
    sqlite3_clear_bindings(row_);
}

void Writer::put(std::int64_t value) { check(sqlite3_bind_int64(row_, ++place_, value), SQLITE_OK); }
void Writer::put(double value) { check(sqlite3_bind_double(row_, ++place_, value), SQLITE_OK); }
void Writer::put(std::string_view text) {
    check(sqlite3_bind_text64(row_, ++place_, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC,
                              SQLITE_UTF8),
          SQLITE_OK);
}

Status Writer::finish() {
    run("COMMIT");
    statements_ = {};
    database_.reset();
    return failure_ ? Status(*failure_) : Status();
}

}  // namespace gpuprof::exporters::nsys
