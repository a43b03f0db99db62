#include "core/importers/database.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/temporary_file.h"

namespace gpuprof {
namespace {

constexpr int kLongestValue = 256 << 20;  // bytes

// All of the source as a plain file.
Result<TemporaryFile> unpacked(Source& source) {
    Result<TemporaryFile> file = TemporaryFile::make();
    if (!file.ok()) return file.error();
    std::vector<char> piece(1 << 20);
    for (;;) {
        Result<std::size_t> got = source.read(piece.data(), piece.size());
        if (!got.ok()) return got.error();
        if (*got == 0) return file;
        if (Status status = file->write({piece.data(), *got}); !status) return status.error();
    }
}

// Source: https://www.sqlite.org/fileformat2.html, 1.3. Big-endian page size at 16 (1 is 65536), pages at 28.
std::uint64_t bytes_by_header(std::string_view head) {
    if (head.size() < 32) return 0;
    auto byte = [&](std::size_t at) { return std::uint64_t{static_cast<unsigned char>(head[at])}; };
    std::uint64_t page = byte(16) << 8 | byte(17);
    return (page == 1 ? 65536 : page) * (byte(28) << 24 | byte(29) << 16 | byte(30) << 8 | byte(31));
}

std::string quoted(std::string_view name) {
    std::string text = "\"";
    for (char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + '"';
}

Error unreadable(std::string_view file, sqlite3* database) {
    return {ExitCode::unreadable,
            fmt::format("{}: not a readable SQLite database: {}", file, sqlite3_errmsg(database))};
}

}  // namespace

bool is_sqlite(std::string_view head) {
    constexpr std::string_view kMagic("SQLite format 3\0", 16);
    return head.substr(0, kMagic.size()) == kMagic;
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void Scan::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
Database::~Database() = default;

Result<Database> Database::open(Source& source) {
    std::optional<TemporaryFile> copy;  // until it is open
    std::string path = fmt::format("/proc/self/fd/{}", source.plain_fd());
    if (source.plain_fd() < 0) {
        Result<TemporaryFile> file = unpacked(source);
        if (!file.ok()) return Error{file.error().code, fmt::format("{}: {}", source.name(), file.error().message)};
        copy.emplace(std::move(*file));
        path = copy->path();
    }
    std::string uri = "file:";
    for (char c : path)
        uri += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", static_cast<unsigned char>(c))
                                                : std::string(1, c);
    Database database;
    sqlite3* handle = nullptr;
    int code = sqlite3_open_v2((uri + "?immutable=1").c_str(), &handle,
                               SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
    database.database_.reset(handle);
    if (code != SQLITE_OK) return unreadable(source.name(), handle);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValue);
    sqlite3_exec(handle, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA cache_size=-4096", nullptr, nullptr,
                 nullptr);
    struct stat file {};
    if (stat(path.c_str(), &file) == 0) database.most_rows_ = static_cast<std::uint64_t>(file.st_size);
    database.truncated_ = database.most_rows_ < bytes_by_header(source.head());
    if (Status status = database.list_tables(source.name()); !status) return status.error();
    return database;
}

Status Database::list_tables(const std::string& name) {
    auto all = [&](const char* sql, const std::string& argument, auto&& take) {
        sqlite3_stmt* statement = nullptr;
        int code = sqlite3_prepare_v2(handle(), sql, -1, &statement, nullptr);
        if (code == SQLITE_OK && !argument.empty())
            sqlite3_bind_text(statement, 1, argument.c_str(), -1, SQLITE_TRANSIENT);
        if (code == SQLITE_OK)
            while ((code = sqlite3_step(statement)) == SQLITE_ROW)
                if (const unsigned char* text = sqlite3_column_text(statement, 0))
                    take(reinterpret_cast<const char*>(text));
        sqlite3_finalize(statement);
        return code == SQLITE_DONE;
    };
    bool listed = all("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0", "",
                      [&](const char* table) { columns_[table]; });
    if (!listed) return unreadable(name, handle());
    // Generated columns (hidden 2 and 3) would have the file's own expressions computed.
    for (auto& [table, columns] : columns_)
        (void)all("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0", table,
                  [&columns = columns](const char* column) { columns.insert(column); });
    return {};
}

Scan::Scan(const Database& database, std::string table, Batch& losses)
    : database_(database), table_(std::move(table)), losses_(losses) {
    auto known = database.tables().find(table_);
    if (known != database.tables().end()) known_ = &known->second;
}

Scan::Field Scan::column(const char* name) {
    if (known_ == nullptr || !known_->contains(name)) return {-1};
    wanted_.push_back(quoted(name));
    return {static_cast<int>(wanted_.size()) - 1};
}

bool Scan::prepare() {
    if (known_ == nullptr || wanted_.empty()) return false;
    std::string sql = fmt::format("SELECT {} FROM {}", fmt::join(wanted_, ","), quoted(table_));
    sqlite3_stmt* statement = nullptr;
    bool prepared = sqlite3_prepare_v2(database_.handle(), sql.c_str(), -1, &statement, nullptr) == SQLITE_OK;
    statement_.reset(statement);
    if (!prepared) lose_rest(sqlite3_errmsg(database_.handle()));
    return prepared;
}

void Scan::lose_rest(std::string_view why) {
    losses_.lose(Loss::damaged_table, fmt::format("{}, after {} rows: {}", table_, rows_, why));
}

bool Scan::next() {
    if (!statement_ && (rows_ > 0 || !prepare())) return false;
    int code = sqlite3_step(statement_.get());
    bool circle = rows_ >= database_.most_rows();
    if (code == SQLITE_ROW && !circle) return ++rows_, true;
    if (code != SQLITE_DONE) lose_rest(circle ? "its pages form a circle" : sqlite3_errmsg(database_.handle()));
    statement_.reset();
    known_ = nullptr;
    return false;
}

std::optional<std::int64_t> Scan::integer(Field field) {
    if (!field) return std::nullopt;
    // One call that finds the column instead of two; the connection has one thread, so its values need no protection.
    sqlite3_value* value = sqlite3_column_value(statement_.get(), field.place);
    int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER) return sqlite3_value_int64(value);
    if (type != SQLITE_NULL) losses_.lose(Loss::bad_number, table_);
    return std::nullopt;
}

std::optional<std::int32_t> Scan::narrow(Field field) {
    std::optional<std::int64_t> wide = integer(field);
    if (!wide) return std::nullopt;
    if (*wide == static_cast<std::int32_t>(*wide)) return static_cast<std::int32_t>(*wide);
    losses_.lose(Loss::bad_number, table_);
    return std::nullopt;
}

std::optional<double> Scan::real(Field field) {
    if (!field) return std::nullopt;
    int type = sqlite3_column_type(statement_.get(), field.place);
    if (type == SQLITE_NULL) return std::nullopt;
    double value = sqlite3_column_double(statement_.get(), field.place);
    if ((type == SQLITE_INTEGER || type == SQLITE_FLOAT) && std::isfinite(value)) return value;
    losses_.lose(Loss::bad_number, table_);
    return std::nullopt;
}

std::string_view Scan::text(Field field) {
    if (!field) return {};
    const unsigned char* text = sqlite3_column_text(statement_.get(), field.place);
    if (text == nullptr) return {};
    return {reinterpret_cast<const char*>(text),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), field.place))};
}

}  // namespace gpuprof
