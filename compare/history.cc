// See the header for the tables and guarantees.
#include "compare/history.h"

#include <fmt/format.h>

#include <cstring>
#include <initializer_list>
#include <memory>

#include "analyze/tables/cells.h"
#include "core/base/host_name.h"

namespace gpuprof::compare {
namespace {

constexpr int kMaxValueBytes = 1 << 20;   // of a text
constexpr int kApplication = 0x67706869;  // "gphi", in the file's header: identifies our files
constexpr int kVersion = 1;

constexpr const char* kCreate =
    "BEGIN;"
    "CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, added_at TEXT NOT NULL, label TEXT NOT NULL,"
    " machine TEXT NOT NULL, hardware TEXT NOT NULL, tool TEXT NOT NULL, file TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS value (run INTEGER NOT NULL REFERENCES run(id), metric TEXT NOT NULL,"
    " value REAL NOT NULL, PRIMARY KEY (run, metric)) WITHOUT ROWID;"
    "PRAGMA application_id = 1735420009; PRAGMA user_version = 1;"
    "COMMIT;";
static_assert(kApplication == 1735420009 && kVersion == 1);

std::string text_at(const SqliteStatement& row, int column) {
    const char* text = row.text(column);
    return text == nullptr ? "" : text;
}

std::string host_of(const Run& run) {
    const ProcessTable& processes = run.trace->tables().process;
    for (Row row = 0; row < processes.rows; ++row)
        if (processes.host.has(row)) return std::string(run.trace->text(processes.host[row]));
    return host_name();
}

constexpr ResultColumn kHistoryColumns[] = {
    {"id", CellType::integer, Unit::none, "Number of the run."},
    {"added_at", CellType::text, Unit::none, "Time of the addition, UTC."},
    {"label", CellType::text, Unit::none, "Label of the run."},
#define GPUPROF_HISTORY_COLUMN(id, unit, words, doc) {#id, CellType::real, Unit::unit, doc},
    GPUPROF_COMPARE_METRICS(GPUPROF_HISTORY_COLUMN)
#undef GPUPROF_HISTORY_COLUMN
        {"machine", CellType::text, Unit::none, "Host name, or the value of --machine."},
    {"hardware", CellType::text, Unit::none, "Devices with work."},
    {"tool", CellType::text, Unit::none, "Tool that recorded it."},
    {"file", CellType::text, Unit::none, "Recording that it summarises."},
};

}  // namespace

Error History::error_of(int code) const {
    const char* said = sqlite3_errstr(code);
    switch (code & 0xFF) {
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_TOOBIG:
        case SQLITE_ERROR:  // it lacks our tables
            return {
                ExitCode::unreadable,
                fmt::format(
                    "cannot read {}: damaged, or not a history ({}); restore it, or move it away to start a new one",
                    path_, said)};
        default: return {ExitCode::internal, fmt::format("{}: {}", path_, said)};
    }
}

Status History::run_all(const char* statements) const {
    int code = sqlite3_exec(database_.get(), statements, nullptr, nullptr, nullptr);
    return code == SQLITE_OK ? Status() : Status(error_of(code));
}

// Reads the database of these bytes; without any it is a new one.
Status History::load(const std::string& bytes) {
    int code = open_sqlite(database_, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
    if (code != SQLITE_OK) return error_of(code);
    sqlite3* database = database_.get();
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
    if (!bytes.empty()) {
        auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
        if (copy == nullptr) return error_of(SQLITE_NOMEM);
        std::memcpy(copy, bytes.data(), bytes.size());
        // Memory has no write-ahead log; a file that had one says so in these two bytes.
        constexpr std::size_t kWriteVersion = 18, kReadVersion = 19;
        if (bytes.size() > kReadVersion && copy[kWriteVersion] == 2 && copy[kReadVersion] == 2)
            copy[kWriteVersion] = copy[kReadVersion] = 1;
        auto size = static_cast<sqlite3_int64>(bytes.size());
        code = sqlite3_deserialize(database, "main", copy, size, size,
                                   SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
        if (code != SQLITE_OK) return error_of(code);
    }
    if (Status checks = run_all("PRAGMA cell_size_check=ON"); !checks.ok()) return checks;
    return check();
}

// Whose file it is. A new one has neither a mark nor a table.
Status History::check() {
    auto number = [&](const char* text, std::int64_t& value) {
        SqliteStatement statement(database_.get(), text);
        if (statement.next()) value = statement.integer(0);
        return statement.code();
    };
    std::int64_t application = 0, version = 0, tables = 0;
    for (auto [text, value] : {std::pair{"PRAGMA application_id", &application},
                               {"PRAGMA user_version", &version},
                               {"SELECT count(*) FROM sqlite_master", &tables}})
        if (int code = number(text, *value); code != SQLITE_OK) return error_of(code);
    new_ = application == 0 && tables == 0;
    if (new_) return {};
    if (application != kApplication)
        return Error{
            ExitCode::unreadable,
            fmt::format("cannot use {}: a SQLite database, but not a history; choose another with --db", path_)};
    // A view or a trigger would run code of the file's author, possibly without end.
    std::int64_t others = 0;
    if (int code = number("SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index')", others);
        code != SQLITE_OK)
        return error_of(code);
    if (others != 0)
        return Error{
            ExitCode::unreadable,
            fmt::format("cannot use {}: it contains views or triggers, unlike a history; choose another with --db",
                        path_)};
    if (version != kVersion)
        return Error{ExitCode::unreadable,
                     fmt::format("cannot use {}: a history of version {}, but this program supports version {}", path_,
                                 version, kVersion)};
    return {};
}

Result<std::string> History::bytes() const {
    sqlite3_int64 size = 0;
    auto release = [](unsigned char* copy) { sqlite3_free(copy); };
    std::unique_ptr<unsigned char, decltype(release)> copy(sqlite3_serialize(database_.get(), "main", &size, 0),
                                                           release);
    if (!copy) return error_of(SQLITE_NOMEM);
    return std::string(reinterpret_cast<const char*>(copy.get()), static_cast<std::size_t>(size));
}

Result<History> History::open_to_add(const std::string& path, const Announce& announce) {
    Result<std::optional<HistoryFile>> file = HistoryFile::open(path, HistoryFile::Access::replace);
    if (file.ok() && !*file) {
        History empty(path);
        if (Status loaded = empty.load({}); !loaded.ok()) return loaded.error();
        if (Status made = empty.run_all(kCreate); !made.ok()) return made.error();
        Result<std::string> bytes = empty.bytes();
        if (!bytes.ok()) return bytes.error();
        if (Status made = HistoryFile::make(path, *bytes, announce); !made.ok()) return made.error();
        file = HistoryFile::open(path, HistoryFile::Access::replace);
    }
    if (!file.ok()) return file.error();
    History history(path);
    if (!*file) return Error{ExitCode::not_permitted, fmt::format("cannot open {}: it was removed; try again", path)};
    history.file_ = std::move(*file);
    history.announce_ = announce;
    if (Status loaded = history.load(history.file_->bytes()); !loaded.ok()) return loaded.error();
    if (history.new_) {  // an empty file
        if (Status made = history.run_all(kCreate); !made.ok()) return made.error();
        history.new_ = false;
        return history;
    }
    // A damaged file is not replaced, wherever the damage is. A full check is affordable because a history is small.
    SqliteStatement sound(history.database_.get(), "PRAGMA quick_check(1)");
    if (!sound.next()) return history.error_of(sound.code());
    if (text_at(sound, 0) != "ok") return history.error_of(SQLITE_CORRUPT);
    return history;
}

Result<History> History::open_to_read(const std::string& path) {
    History history(path);
    Result<std::optional<HistoryFile>> file = HistoryFile::open(path, HistoryFile::Access::read);
    if (!file.ok()) return file.error();
    if (!*file) return history;
    if (Status loaded = history.load((*file)->bytes()); !loaded.ok()) return loaded.error();
    return history;
}

Result<std::int64_t> History::add(const HistoryRun& run) {
    SqliteStatement insert(database_.get(),
                           "INSERT INTO run (added_at, label, machine, hardware, tool, file)"
                           " VALUES (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?, ?, ?, ?)");
    insert.bind(1, run.key.label).bind(2, run.key.machine).bind(3, run.key.hardware).bind(4, run.key.tool);
    insert.bind(5, run.file).next();
    if (insert.code() != SQLITE_OK) return error_of(insert.code());
    std::int64_t id = sqlite3_last_insert_rowid(database_.get());
    for (std::size_t i = 0; i < kMetricCount; ++i) {
        if (!run.values[i]) continue;
        SqliteStatement value(database_.get(), "INSERT INTO value (run, metric, value) VALUES (?, ?, ?)");
        value.bind(1, id).bind(2, std::string(kMetrics[i].name)).bind(3, *run.values[i]).next();
        if (value.code() != SQLITE_OK) return error_of(value.code());
    }
    Result<std::string> whole = bytes();
    if (!whole.ok()) return whole.error();
    if (Status replaced = file_->replace(*whole, announce_); !replaced.ok()) return replaced.error();
    return id;
}

Result<std::vector<HistoryRun>> History::runs(const std::string& label) const {
    std::vector<HistoryRun> runs;
    if (!database_ || new_) return runs;
    SqliteStatement rows(database_.get(),
                         "SELECT id, added_at, label, machine, hardware, tool, file FROM run"
                         " WHERE ?1 = '' OR label = ?1 ORDER BY id");
    rows.bind(1, label);
    while (rows.next())
        runs.push_back({rows.integer(0),
                        text_at(rows, 1),
                        {text_at(rows, 2), text_at(rows, 3), text_at(rows, 4), text_at(rows, 5)},
                        text_at(rows, 6),
                        {}});
    if (rows.code() != SQLITE_OK) return error_of(rows.code());
    for (HistoryRun& run : runs) {
        SqliteStatement values(database_.get(), "SELECT metric, value FROM value WHERE run = ?");
        values.bind(1, run.id);
        while (values.next())
            for (std::size_t i = 0; i < kMetricCount; ++i)
                if (kMetrics[i].name == text_at(values, 0)) run.values[i] = values.real(1);
        if (values.code() != SQLITE_OK) return error_of(values.code());
    }
    return runs;
}

std::vector<HistoryRun> comparable(const std::vector<HistoryRun>& runs, const HistoryKey& key, std::size_t max_runs) {
    std::vector<HistoryRun> found;
    for (const HistoryRun& run : runs)
        if (run.key.label == key.label && run.key.machine == key.machine && run.key.hardware == key.hardware &&
            run.key.tool == key.tool)
            found.push_back(run);
    if (found.size() > max_runs) found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(max_runs));
    return found;
}

HistoryKey key_of(const Run& run, const std::string& label, const std::string& machine) {
    const Origin& origin = run.trace->origin();
    return {label, machine.empty() ? host_of(run) : machine, hardware_of(run),
            origin.tool.empty() ? origin.importer : origin.tool};
}

ResultTable history_table(const std::vector<HistoryRun>& runs) {
    ResultTable table("history", kHistoryColumns);
    for (const HistoryRun& run : runs) {
        std::vector<Cell> cells = {integer(run.id), text_cell(run.added_at), text_cell(run.key.label)};
        for (const std::optional<double>& value : run.values) cells.push_back(real(value));
        for (const std::string* text : {&run.key.machine, &run.key.hardware, &run.key.tool, &run.file})
            cells.push_back(text_cell(*text));
        table.add_row(cells);
    }
    return table;
}

}  // namespace gpuprof::compare
