#include "io/importers/source/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <optional>

#include "core/base/files/sqlite_descriptor.h"
#include "core/base/large_block.h"
#include "io/importers/source/memory_limit.h"

namespace gpuprof::inline importers {
namespace {

constexpr int kMaxValueBytes = 256 << 20;  // bytes

// The whole source as a plain file.
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

std::string path_of(int fd) {
    std::string path(4096, '\0');
    ssize_t size = readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), path.data(), path.size());
    path.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return path;
}

std::string beginning_of(const std::string& path, std::size_t size) {
    std::string bytes(size, '\0');
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? 0 : ::read(fd, bytes.data(), size);
    if (fd >= 0) close(fd);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
}

// What an interrupted writer left next to the file, so that the file alone is incomplete; "" if nothing.
// Source: https://www.sqlite.org/fileformat2.html, 3 and 4. A log has frames if its header and a frame's header have
// the same salt.
std::string unfinished(const std::string& path) {
    constexpr std::size_t kLogHeader = 32, kFrameHeader = 24, kSaltInHeader = 16, kSaltInFrame = 8, kSaltBytes = 8;
    std::string log = beginning_of(path + "-wal", kLogHeader + kFrameHeader);
    bool is_log = log.starts_with("\x37\x7f\x06\x82") || log.starts_with("\x37\x7f\x06\x83");
    if (is_log && log.size() == kLogHeader + kFrameHeader &&
        log.compare(kSaltInHeader, kSaltBytes, log, kLogHeader + kSaltInFrame, kSaltBytes) == 0)
        return "its latest changes are still in {0}-wal; merge them: sqlite3 {0} 'PRAGMA "
               "wal_checkpoint(TRUNCATE)'";
    if (beginning_of(path + "-journal", 8) == "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
        return "its writer was interrupted and left {0}-journal; roll back the unfinished change: sqlite3 {0} 'PRAGMA "
               "schema_version'";
    return "";
}

std::string quoted_identifier(std::string_view name) {
    std::string text = "\"";
    for (char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + '"';
}

Error unreadable(std::string_view file, std::string_view why) {
    return {ExitCode::unreadable, fmt::format("cannot read {}: not a valid SQLite database: {}", file, why)};
}

// More than the list of a file's tables takes.
bool has_memory() {
    constexpr std::size_t kEnough = std::size_t{16} << 20;
    void* probe = grow_large_block(nullptr, kEnough);
    free_large_block(probe);
    return probe != nullptr;
}

}  // namespace

bool is_sqlite(std::string_view head) {
    constexpr std::string_view kMagic("SQLite format 3\0", 16);
    return head.substr(0, kMagic.size()) == kMagic;
}

Result<Database> Database::open(Source& source) {
    Database database;
    std::string path = fmt::format("/proc/self/fd/{}", source.plain_fd());
    if (source.plain_fd() < 0) {
        Result<TemporaryFile> file = unpacked(source);
        if (!file.ok())
            return Error{file.error().code, fmt::format("cannot read {}: {}", source.name(), file.error().message)};
        database.copy_.emplace(std::move(*file));
        path = database.copy_->path();
    } else if (std::string why = unfinished(path_of(source.plain_fd())); !why.empty()) {
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: {}", source.name(), fmt::format(fmt::runtime(why), source.name()))};
    }
    int code = open_sqlite(database.database_, fmt::format("file:{}?immutable=1", path),
                           SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, sqlite_by_descriptor());
    sqlite3* handle = database.handle();
    if (code == SQLITE_NOMEM) throw std::bad_alloc();
    if (code != SQLITE_OK) return unreadable(source.name(), sqlite3_errmsg(handle));
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
    sqlite3_exec(handle, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA cache_size=-4096", nullptr, nullptr,
                 nullptr);
    constexpr std::uint64_t kMinRowBytes = 5;  // bytes: two in the page's cell array, its length, its id, its header
    struct stat file {};
    auto size = stat(path.c_str(), &file) == 0 ? static_cast<std::uint64_t>(file.st_size) : 0;
    database.max_rows_ = size / kMinRowBytes;
    database.max_memory_ = MemoryLimit(source).bytes();
    std::uint64_t whole = bytes_by_header(source.head());
    database.truncated_ = size < whole;
    Status listed = database.list_tables(source.name());
    if (!listed && database.truncated_)
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: the file is cut: it has {} of {} bytes; copy it "
                                 "again, or export it again",
                                 source.name(), size, whole)};
    if (!listed) return listed.error();
    return database;
}

Status Database::list_tables(const std::string& name) {
    auto all = [&](const char* sql, const std::string& argument, auto&& take) {
        SqliteStatement rows(handle(), sql);
        if (!argument.empty()) rows.bind(1, argument);
        while (rows.next())
            if (const char* text = rows.text(0)) take(text);
        return rows.code();
    };
    auto list = [&] {
        int code = all("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0", "",
                       [&](const char* table) { columns_[table]; });
        if (code != SQLITE_OK) return code;
        return all("SELECT name FROM sqlite_schema WHERE type = 'view' OR (type = 'table' AND rootpage = 0)", "",
                   [&](const char* view) { computed_.insert(view); });
    };
    // SQLite also says that memory is short when a damaged file has a value larger than anything it allocates.
    int listed = list();
    if (listed == SQLITE_NOMEM) listed = list();
    if (listed == SQLITE_NOMEM && has_memory()) return unreadable(name, "a value is larger than the file");
    if (listed == SQLITE_NOMEM) throw std::bad_alloc();
    if (listed != SQLITE_OK) return unreadable(name, sqlite3_errmsg(handle()));
    // Generated columns (hidden 2 and 3) would evaluate the file's own expressions.
    for (auto& [table, columns] : columns_) {
        int code = all("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0", table,
                       [&columns = columns](const char* column) { columns.insert(column); });
        if (code == SQLITE_NOMEM) throw std::bad_alloc();
        if (code != SQLITE_OK) unlisted_.emplace(table, sqlite3_errmsg(handle()));
    }
    return {};
}

Scan::Scan(const Database& database, std::string table, Batch& losses)
    : database_(database), table_(std::move(table)), losses_(losses) {
    auto known = database.tables().find(table_);
    if (known != database.tables().end()) known_ = &known->second;
    if (auto why = database.unlisted().find(table_); why != database.unlisted().end())
        losses_.lose(Loss::damaged_table, fmt::format("{}, whose columns cannot be listed: {}", table_, why->second));
}

Scan::Field Scan::column(const char* name) {
    if (known_ == nullptr || !known_->contains(name)) return {-1};
    wanted_.push_back(quoted_identifier(name));
    return {static_cast<int>(wanted_.size()) - 1};
}

SqlitePrepared Scan::statement(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database_.handle(), sql.c_str(), -1, &statement, nullptr);
    if (statement == nullptr) throw_if_short_of_memory(database_.handle());
    return SqlitePrepared(statement);
}

// In the order of the table itself, with the row id if rows have one.
bool Scan::prepare() {
    if (known_ == nullptr || wanted_.empty() || database_.over_memory()) return false;
    std::string columns = fmt::format("{}", fmt::join(wanted_, ",")), table = quoted_identifier(table_);
    statement_ = statement(fmt::format("SELECT {}, _rowid_ FROM {} NOT INDEXED WHERE _rowid_ > ?1", columns, table));
    has_ids_ = statement_ != nullptr && !known_->contains("_rowid_");
    if (has_ids_) return start_at(std::numeric_limits<std::int64_t>::min());
    statement_ = statement(fmt::format("SELECT {} FROM {}", columns, table));
    if (!statement_) lose_rest(sqlite3_errmsg(database_.handle()));
    return statement_ != nullptr;
}

bool Scan::start_at(std::int64_t row_id) {
    sqlite3_reset(statement_.get());
    last_id_ = row_id;
    return sqlite3_bind_int64(statement_.get(), 1, row_id) == SQLITE_OK;
}

void Scan::lose_rest(std::string_view why) {
    losses_.lose(Loss::damaged_table, fmt::format("{}, after {} rows: {}", table_, rows_, why));
}

// The first row id from a given one on, without reading values.
Scan::ScanStep Scan::look(std::int64_t row_id) {
    if (!look_)
        look_ = statement(fmt::format("SELECT _rowid_ FROM {} NOT INDEXED WHERE _rowid_ >= ?1 ORDER BY _rowid_ LIMIT 1",
                                      quoted_identifier(table_)));
    sqlite3_reset(look_.get());
    int code = sqlite3_bind_int64(look_.get(), 1, row_id);
    if (code == SQLITE_OK) code = sqlite3_step(look_.get());
    if (code == SQLITE_ROW) return ScanStep::row;
    return code == SQLITE_DONE ? ScanStep::end : ScanStep::damage;
}

// Row ids are consecutive in nsys exports, so the end of a damaged page is found by exponential, then binary search.
// Skipped rows are counted by their ids. Damaged pages with intact ones between them may be taken for one.
bool Scan::skip_damage(std::string_view why) {
    constexpr int kMaxRepairs = 10'000;
    constexpr std::int64_t kMaxRowId = std::int64_t{1} << 44;
    std::int64_t last = std::max<std::int64_t>(last_id_, 0), damaged = last, sound = last + 1;
    if (!has_ids_ || ++repairs_ > kMaxRepairs || last > kMaxRowId) {
        lose_rest(why);
        return false;
    }
    while (look(sound) == ScanStep::damage) {
        damaged = sound;
        sound = last + 2 * (sound - last);
        if (sound - last > kMaxRowId) {
            lose_rest(why);
            return false;
        }
    }
    while (sound - damaged > 1) {
        std::int64_t middle = damaged + (sound - damaged) / 2;
        (look(middle) == ScanStep::damage ? damaged : sound) = middle;
    }
    if (look(sound) == ScanStep::end) {
        lose_rest(why);
        return false;
    }
    std::int64_t next = sqlite3_column_int64(look_.get(), 0);
    bool same_again = next == last + 1 && sound == next;  // the page is intact, but a value of the row is not
    std::int64_t from = same_again ? next : next - 1;
    losses_.lose(Loss::damaged_table, fmt::format("{}, after {} rows: {}", table_, rows_, why),
                 static_cast<std::uint64_t>(from - last));
    return start_at(from);
}

bool Scan::take_row() {
    constexpr std::uint64_t kCheckInterval = 4096;  // rows
    if (has_ids_) last_id_ = sqlite3_column_int64(statement_.get(), static_cast<int>(wanted_.size()));
    if (++rows_ % kCheckInterval == 0 && bytes_of(losses_) > database_.max_memory()) {
        database_.set_over_memory();
        return end();
    }
    return true;
}

bool Scan::end() {
    statement_.reset();
    look_.reset();
    known_ = nullptr;
    return false;
}

bool Scan::next() {
    if (!statement_ && (rows_ > 0 || !prepare())) return false;
    for (;;) {
        int code = sqlite3_step(statement_.get());
        bool circle = rows_ >= database_.max_rows();
        if (code == SQLITE_ROW && !circle) return take_row();
        if (code == SQLITE_DONE) return end();
        if (circle) {
            lose_rest("its pages form a cycle");
            return end();
        }
        throw_if_short_of_memory(database_.handle());  // the table is not damaged
        if (!skip_damage(sqlite3_errmsg(database_.handle()))) return end();
    }
}

std::optional<std::int64_t> Scan::integer(Field field) {
    if (!field) return std::nullopt;
    // One call that finds the column instead of two; the connection has one thread, so its values need no locking.
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
    if (text == nullptr) {
        throw_if_short_of_memory(database_.handle());
        return {};
    }
    return {reinterpret_cast<const char*>(text),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), field.place))};
}

std::string_view Scan::bytes(Field field) {
    if (!field) return {};
    const void* bytes = sqlite3_column_blob(statement_.get(), field.place);
    if (bytes == nullptr) {
        throw_if_short_of_memory(database_.handle());
        return {};
    }
    return {static_cast<const char*>(bytes),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), field.place))};
}

}  // namespace gpuprof::importers
