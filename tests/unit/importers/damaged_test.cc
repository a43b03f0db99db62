// Files that were cut off or damaged: what is whole in them is read, nothing that is shown is not in the whole file, and what is lost
// is counted.
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "io/importers/source/json_document.h"
#include "io/importers/source/pickle.h"
#include "tests/unit/importers/read_text.h"

namespace gpuprof::test {
namespace {

namespace fs = std::filesystem;

std::multiset<std::string> lines_of(const std::string& text) {
    std::multiset<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = std::min(text.find('\n', at), text.size());
        lines.insert(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

Result<Trace> import(std::string_view bytes) { return import_trace(**memory_source("t", bytes)); }

// Rows of a table, as text.
std::multiset<std::string> rows_of(const Trace& trace, std::string_view table) {
    std::multiset<std::string> rows;
    for (const std::string& line : lines_of(dump(trace, false)))
        if (line.starts_with(std::string(table) + " ")) rows.insert(line);
    return rows;
}

bool are_among(const std::multiset<std::string>& some, const std::multiset<std::string>& all) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

void cut_everywhere(std::string_view whole) {
    std::multiset<std::string> all = rows_of(import_text(whole), "sample");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        Result<Trace> trace = import(whole.substr(0, size));
        bool at_line = size == 0 || whole[size - 1] == '\n';
        if (!trace.ok()) continue;
        ASSERT_TRUE(are_among(rows_of(*trace, "sample"), all)) << size;
        ASSERT_EQ(losses(*trace, "truncated"), at_line ? 0 : 1) << size;
    }
}

TEST(Damaged, QueryOfNvidiaSmiCutAtEveryByte) {
    cut_everywhere(
        "timestamp, index, clocks.current.sm [MHz], power.draw [W], memory.used [MiB]\n"
        "2026/11/21 19:11:02.123, 0, 1980 MHz, 0.0035 W, 1024 MiB\n2026/11/21 19:11:03.123, 1, 345 MHz, 70.25 W, 8 "
        "MiB\n");
    cut_everywhere(fixture("nvidia-smi/h200-580.csv"));
}

TEST(Damaged, DmonCutAtEveryByte) { cut_everywhere(fixture("nvidia-smi/h200-580-dmon.txt")); }

TEST(Damaged, LogCutWithinItsHeader) {
    EXPECT_NE(import_error("timestamp, index, power.draw [W]").message.find("ends within its header"),
              std::string::npos);
}

TEST(Damaged, WholePartOfJson) {
    auto repaired = [](std::string_view text, std::size_t deepest = 100) {
        JsonPrefix prefix = complete_prefix(text, deepest);
        return std::string(text.substr(0, prefix.whole)) + prefix.closing;
    };
    EXPECT_EQ(repaired(R"({"a": 1, "b": [2, 34)"), R"({"a": 1, "b": [2]})") << "34 may go on";
    EXPECT_EQ(repaired(R"({"a": 1, "b)"), R"({"a": 1})");
    EXPECT_EQ(repaired(R"({"a": 1, "b": )"), R"({"a": 1})");
    EXPECT_EQ(repaired(R"({"a": "x\")"), R"({})");
    EXPECT_EQ(repaired(R"({"e": [{"x": {"y": 1}}, {"x": {"y": 2)", 2), R"({"e": [{"x": {"y": 1}}]})")
        << "whole events only";
    EXPECT_EQ(repaired(R"([1, 2], [3)"), "[1, 2]");
    EXPECT_EQ(repaired("[1, 2, }, 3]"), "[1, 2]");
    EXPECT_EQ(repaired("  "), "");
    EXPECT_EQ(complete_prefix("[1, }]", 9).ends, 4u);
}

// Cuts at many points: each answer has rows of the whole file alone, and more of them the later the cut.
void cut_often(std::string whole, std::string_view table, double least_share_at_99) {
    if (whole.ends_with('\n')) whole.pop_back();  // without it nothing is cut off
    std::multiset<std::string> all = rows_of(import_text(whole), table);
    ASSERT_FALSE(all.empty());
    for (int percent : {3, 20, 50, 80, 99, 100}) {
        std::size_t size = percent == 100 ? whole.size() - 1 : whole.size() * static_cast<std::size_t>(percent) / 100;
        Result<Trace> trace = import(std::string_view(whole).substr(0, size));
        if (!trace.ok()) {
            EXPECT_NE(trace.error().message.find("unexpected end"), std::string::npos) << trace.error().message;
            EXPECT_LT(percent, 50);
            continue;
        }
        std::multiset<std::string> found = rows_of(*trace, table);
        EXPECT_TRUE(are_among(found, all)) << percent;
        EXPECT_EQ(losses(*trace, "truncated"), 1) << percent;
        EXPECT_NE(loss_place(*trace, "truncated").find("unexpected end"), std::string::npos);
        if (percent >= 99) {
            EXPECT_GE(static_cast<double>(found.size()), least_share_at_99 * static_cast<double>(all.size()))
                << percent;
        }
    }
}

TEST(Damaged, XprofJsonCutOff) { cut_often(fixture("jax/mlp.trace.json.zst"), "kernel", 0.9); }

TEST(Damaged, ProtonCutOff) { cut_often(fixture("proton/matmul.hatchet"), "call_metric", 0.5); }

TEST(Damaged, MemorySnapshotCutOff) {
    std::string whole = fixture("memory/growth.snapshot.pickle.gz");
    cut_often(whole, "memory_block", 1.0);
    Trace all = import_text(whole);
    Trace trace = import_text(std::string_view(whole).substr(0, whole.size() * 99 / 100));
    const MemoryEventTable &events = trace.tables().memory_event, &wanted = all.tables().memory_event;
    ASSERT_GT(events.rows, wanted.rows * 9 / 10);
    for (Row row = 0; row < events.rows; ++row) {
        ASSERT_EQ(events.bytes[row], wanted.bytes[row]);
        ASSERT_EQ(events.address.get(row), wanted.address.get(row));
        ASSERT_EQ(events.stream.get(row), wanted.stream.get(row)) << "an event that was not whole is omitted";
        ASSERT_FALSE(events.total_allocated.has(row)) << "totals are counted from the end, which is not there";
    }
}

TEST(Damaged, PickleIsPutTogether) {
    std::string text(
        "\x80\x04}(X\x01\x00\x00\x00"
        "aK\x01X\x01\x00\x00\x00"
        "b](K\x02K\x03",
        24);
    Result<Pickle> pickle = Pickle::read(text);
    ASSERT_TRUE(pickle.ok());
    EXPECT_TRUE(pickle->cut().ends_with("at byte 24")) << pickle->cut();
    EXPECT_EQ(Pickle::integer(pickle->find(pickle->root(), "a")), 1);
    PickleValue list = pickle->find(pickle->root(), "b");
    ASSERT_EQ(pickle->items(list).size(), 2u);
    EXPECT_EQ(Pickle::integer(pickle->items(list)[1]), 3);
    EXPECT_TRUE(pickle->is_open(list));
    EXPECT_FALSE(Pickle::read("K\x01").ok()) << "nothing to put together";
}

// A database of nsys with one table of kernels, in a file for a while.
class Database : public testing::Test {
protected:
    static constexpr int kRows = 20'000;
    void SetUp() override {
        ASSERT_EQ(sqlite3_open(path_.c_str(), &database_), SQLITE_OK);
        run("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1, 'k')");
        run("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, demangledName "
            "INTEGER)");
    }
    void TearDown() override {
        sqlite3_close(database_);
        for (const char* ending : {"", "-wal", "-shm", "-journal"}) fs::remove(path_ + ending);
    }
    void run(const std::string& sql) {
        ASSERT_EQ(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
            << sqlite3_errmsg(database_);
    }
    void add_kernels() {
        run(
            fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 1000, i * 1000 + 10, 0, 1 FROM n",
                        kRows));
    }
    std::int64_t number(const std::string& sql) {
        sqlite3_stmt* statement = nullptr;
        sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr);
        std::int64_t value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
        sqlite3_finalize(statement);
        return value;
    }
    void overwrite(std::uint64_t page, std::size_t pages = 1) {
        std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(page * 4096));
        file << std::string(pages * 4096, '\xEE');
    }
    std::string path_ = fs::temp_directory_path() / fmt::format("gpuprof_damaged_test.{}.sqlite", getpid());
    sqlite3* database_ = nullptr;
};

TEST_F(Database, RowsBehindADamagedPageAreRead) {
    add_kernels();
    std::uint64_t pages = fs::file_size(path_) / 4096;
    ASSERT_GT(pages, 60u);
    overwrite(pages / 3);
    overwrite(pages / 2, 2);
    overwrite(pages - 5);
    Result<Trace> trace = open_file(path_);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    const KernelTable& kernel = trace->tables().kernel;
    auto lost = losses(*trace, "damaged_table");
    EXPECT_GT(kernel.rows, kRows * 9 / 10u);
    EXPECT_LT(kernel.rows, kRows);
    EXPECT_EQ(static_cast<std::int64_t>(kernel.rows) + lost, kRows) << "each row is there or counted";
    for (Row row = 0; row < kernel.rows; ++row) ASSERT_EQ(kernel.dur[row], 10);
}

TEST_F(Database, ATableWhoseEndIsDamaged) {
    add_kernels();
    overwrite(fs::file_size(path_) / 4096 - 3, 3);
    Result<Trace> trace = open_file(path_);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_GT(trace->tables().kernel.rows, kRows * 9 / 10u);
    EXPECT_GE(losses(*trace, "damaged_table"), 1);
}

TEST_F(Database, ChangesInALogBesideItAreNotOverlooked) {
    run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
    add_kernels();
    auto before = fs::last_write_time(path_);
    Result<Trace> trace = open_file(path_);
    ASSERT_FALSE(trace.ok());
    std::string remedy = fmt::format("sqlite3 {} 'PRAGMA wal_checkpoint(TRUNCATE)'", path_);
    EXPECT_TRUE(trace.error().message.ends_with(remedy)) << trace.error().message;
    EXPECT_EQ(fs::last_write_time(path_), before);
    run("PRAGMA wal_checkpoint(TRUNCATE)");
    Result<Trace> whole = open_file(path_);
    ASSERT_TRUE(whole.ok()) << whole.error().message;
    EXPECT_EQ(whole->tables().kernel.rows, static_cast<std::size_t>(kRows));
}

TEST_F(Database, AnInterruptedWriterIsNotOverlooked) {
    std::ofstream(path_ + "-journal") << "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" << std::string(504, '\0');
    Result<Trace> trace = open_file(path_);
    ASSERT_FALSE(trace.ok());
    EXPECT_NE(trace.error().message.find("was interrupted"), std::string::npos);
}

TEST_F(Database, AViewInPlaceOfATableIsRefused) {
    run("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS "
        "(SELECT 1 UNION ALL SELECT start + 1 FROM n) SELECT start, start AS end, 0 AS deviceId FROM n");
    Result<Trace> trace = open_file(path_);
    ASSERT_FALSE(trace.ok());
    EXPECT_NE(trace.error().message.find("CUPTI_ACTIVITY_KIND_KERNEL is a view or a virtual table"), std::string::npos);
}

TEST_F(Database, ACompressedOneLeavesNothingBehind) {
    add_kernels();
    std::ifstream file(path_, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    fs::path folder = path_ + ".tmp";
    fs::create_directory(folder);
    setenv("TMPDIR", folder.c_str(), 1);
    Result<Trace> trace = import(gzip(bytes));
    unsetenv("TMPDIR");
    EXPECT_TRUE(fs::is_empty(folder));
    fs::remove_all(folder);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_EQ(trace->tables().kernel.rows, static_cast<std::size_t>(kRows));
}

}  // namespace
}  // namespace gpuprof::test
