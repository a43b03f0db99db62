// SQL over small traces: values, what is pushed down against what SQLite finds without it, functions, and what is refused.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/base/text/json_writer.h"
#include "present/query/sql.h"
#include "tests/unit/processor_time.h"
#include "tests/unit/query/small_trace.h"

namespace gpuprof {
namespace {

std::string shown(const Cell& cell) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
    if (const auto* text = std::get_if<std::string_view>(&cell)) return std::string(*text);
    std::string real;
    if (const auto* value = std::get_if<double>(&cell)) append_real(real, *value);
    return std::holds_alternative<std::monostate>(cell) ? "NULL" : real;
}

class SqlTest : public testing::Test {
protected:
    SqlTest()
        : trace_(small_trace(40)), catalogue_(trace_, Options{}), sql_(std::move(Sql::open(catalogue_)).value()) {}

    // "a|b;c|d", or the error.
    std::string ask(std::string_view text) {
        Result<std::optional<SqlRows>> rows = sql_->prepare(text);
        if (!rows.ok()) return rows.error().message;
        std::string out;
        while (true) {
            Result<bool> there = (*rows)->next();
            if (!there.ok()) return there.error().message;
            if (!*there) return out;
            if (!out.empty()) out += ';';
            for (std::size_t i = 0; i < (*rows)->columns(); ++i) out += (i == 0 ? "" : "|") + shown((*rows)->cell(i));
        }
    }

    Trace trace_;
    Catalogue catalogue_;
    std::unique_ptr<Sql> sql_;
};

TEST_F(SqlTest, ReadsValuesAndAbsence) {
    EXPECT_EQ(ask("SELECT start_ns, end_ns, dur_ns, name, device, grid_x FROM kernel LIMIT 1"), "0|50|50|gemm|0|NULL");
    EXPECT_EQ(ask("SELECT count(*), count(grid_x), sum(dur_ns) FROM kernel"), "40|0|2780");
    EXPECT_EQ(ask("SELECT kind, bytes FROM memcpy"), "HtoD|4096");
    EXPECT_EQ(ask("SELECT kind, total_ns FROM memcpy_summary"), "HtoD|200");
}

// Unary plus keeps SQLite from pushing a condition or an order down: both ways must agree.
TEST_F(SqlTest, PushingDownChangesNothing) {
    const char* pairs[][2] = {
        {"start_ns >= 500 AND start_ns < 2000", "+start_ns >= 500 AND +start_ns < 2000"},
        {"start_ns > 500 AND start_ns <= 2000", "+start_ns > 500 AND +start_ns <= 2000"},
        {"start_ns > 499.5 AND start_ns < 700.5", "+start_ns > 499.5 AND +start_ns < 700.5"},
        {"start_ns < '700'", "start_ns + 0 < 700"},
        {"start_ns = 700", "+start_ns = 700"},
        {"rowid = 3", "+rowid = 3"},
        {"rowid > 3 AND rowid <= 5", "+rowid > 3 AND +rowid <= 5"},
        {"rowid < -5", "+rowid < -5"},
        {"name = 'gemm'", "+name = 'gemm'"},
        {"name = 'none'", "+name = 'none'"},
        {"name = 'GEMM' COLLATE NOCASE", "lower(name) = 'gemm'"},
        {"name LIKE 'r%'", "lower(name) = 'relu'"},
        {"name GLOB 'R*'", "+name = 'Relu'"},
        {"name IN ('gemm', 'add')", "+name IN ('gemm', 'add')"},
        {"device = 1.0", "+device = 1"},
        {"device = 1.5", "0"},
        {"device = '1'", "+device = 1"},
        {"device = NULL", "0"},
        {"grid_x = 1", "0"},
        {"grid_x IS NULL AND device IN (0, 2)", "+device IN (0, 2)"},
    };
    for (const auto& [pushed, plain] : pairs) {
        std::string rows = ask(fmt::format("SELECT rowid FROM kernel WHERE {} ORDER BY rowid", plain));
        EXPECT_EQ(ask(fmt::format("SELECT rowid FROM kernel WHERE {} ORDER BY rowid", pushed)), rows) << pushed;
        EXPECT_EQ(rows.find("no such"), std::string::npos) << rows;
    }
}

TEST_F(SqlTest, OrdersAsSqliteDoes) {
    for (const char* by : {"name", "name DESC", "device, name DESC", "device DESC, stream", "grid_x, name", "start_ns",
                           "start_ns DESC", "name COLLATE NOCASE"}) {
        std::string plain = by;
        for (const char* column : {"name", "device", "stream", "grid_x", "start_ns"})
            if (std::size_t at = plain.find(column); at != std::string::npos) plain.insert(at, "+");
        EXPECT_EQ(ask(fmt::format("SELECT rowid FROM kernel ORDER BY {}, rowid", by)),
                  ask(fmt::format("SELECT rowid FROM kernel ORDER BY {}, rowid", plain)));
        EXPECT_EQ(
            ask(fmt::format("SELECT group_concat(r) FROM (SELECT rowid AS r FROM kernel ORDER BY {})", by)).size(),
            110U);
    }
    EXPECT_EQ(ask("SELECT name, count(*) FROM kernel GROUP BY name"), "Relu|10;add|20;gemm|10");
    EXPECT_EQ(ask("SELECT DISTINCT device FROM kernel ORDER BY device DESC"), "2;1;0");
}

TEST_F(SqlTest, Joins) {
    EXPECT_EQ(ask("SELECT count(*), min(k.start_ns - a.end_ns) FROM kernel k JOIN api_call a "
                  "ON a.correlation = k.correlation AND a.process = k.process"),
              "40|10");
    EXPECT_EQ(ask("SELECT count(*) FROM kernel k JOIN kernels s ON s.name = k.name"), "40");
    EXPECT_EQ(ask("SELECT count(*) FROM kernel a JOIN kernel b ON a.name = b.name WHERE a.start_ns = 0"), "10");
    EXPECT_EQ(ask("SELECT count(*) FROM kernel a LEFT JOIN memset b ON a.stream = b.stream"), "40");
}

TEST_F(SqlTest, Functions) {
    EXPECT_EQ(ask("SELECT overlap(0, 10, 5, 20), overlap(0, 5, 5, 9), overlap(0, NULL, 1, 2)"), "5|0|NULL");
    EXPECT_EQ(ask("WITH s(a, b) AS (VALUES (5, 9), (0, 3), (2, 6), (20, 20)) SELECT busy(a, b) FROM s"), "9");
    EXPECT_EQ(ask("SELECT busy(start_ns, end_ns) FROM memset"), "0");
    EXPECT_EQ(ask("SELECT percentile(value, 95), median(value) FROM generate_series(1, 20)").rfind("no such", 0), 0U);
    EXPECT_EQ(ask("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20) "
                  "SELECT percentile(i, 95), percentile(i, 100), median(i), median(i + 0.5) FROM n"),
              "19|20|10|10.5");
    EXPECT_NE(ask("SELECT percentile(dur_ns, 0) FROM kernel").find("percentile: p"), std::string::npos);
    EXPECT_NE(ask("SELECT percentile(name, 50) FROM kernel").find("percentile: a value"), std::string::npos);
    EXPECT_EQ(ask("WITH n(i) AS (VALUES (2), (4), (4), (4), (5), (5), (7), (9), (NULL)) SELECT stddev(i) FROM n"),
              "2.0");
    EXPECT_EQ(ask("SELECT stddev(dur_ns) FROM kernel WHERE 0"), "NULL");
    EXPECT_NE(ask("SELECT stddev(name) FROM kernel").find("stddev: a value"), std::string::npos);
    EXPECT_EQ(ask("SELECT demangle('_Z3fooi'), demangle('plain'), short_name('_ZN2ns3fooIiEEvT_')"),
              "foo(int)|plain|foo");
}

TEST_F(SqlTest, RegularExpressions) {
    EXPECT_EQ(ask("SELECT name, count(*) FROM kernel WHERE name REGEXP '^[ga]' GROUP BY name"), "add|20;gemm|10");
    EXPECT_EQ(ask("SELECT 'abc' REGEXP 'B', 'abc' REGEXP '(?i)B', NULL REGEXP 'a', 'x' REGEXP ''"), "0|1|NULL|1");
    EXPECT_EQ(ask("SELECT count(*) FROM kernel WHERE 'gemm' REGEXP name"), "10");  // a pattern per row
    EXPECT_NE(ask("SELECT 'a' REGEXP '('").find("'('"), std::string::npos);
    EXPECT_EQ(ask("SELECT 'a1 b' REGEXP '^\\w\\d\\sb\\b$', 'ü' REGEXP '^.$', 'a' || char(10) || 'b' REGEXP 'a.b'"),
              "1|1|1");
    EXPECT_NE(ask("SELECT 'aa' REGEXP '(a)\\1'").find("\\1"), std::string::npos);
    EXPECT_NE(ask("SELECT 'a' REGEXP '" + std::string(1001, 'a') + "'").find("1,000 bytes"), std::string::npos);
}

TEST_F(SqlTest, OnlyReads) {
    constexpr std::string_view kRefused = "read-only";
    for (const char* text : {"ATTACH 'x.db' AS x", "VACUUM INTO 'x.db'", "CREATE TABLE t(a)", "CREATE TEMP TABLE t(a)",
                             "DROP TABLE kernel", "PRAGMA journal_mode = WAL", "PRAGMA temp_store_directory = 'x'",
                             "PRAGMA writable_schema = 1", "BEGIN", "COMMIT", "SELECT load_extension('x')",
                             "CREATE VIRTUAL TABLE t USING kernel", "DETACH main", "ANALYZE",
                             "CREATE VIEW v AS SELECT 1", "SAVEPOINT s"}) {
        std::string said = ask(text);
        EXPECT_TRUE(said.find(kRefused) != std::string::npos || said.find("no such") == 0 ||
                    said.find("not authorized") == 0)
            << text << ": " << said;
    }
    // Refused by SQLite before it asks: virtual tables that nothing can write, or that have no triggers.
    for (const char* text : {"INSERT INTO kernel VALUES (1)", "DELETE FROM kernel", "UPDATE kernel SET name = 'x'",
                             "CREATE TRIGGER t AFTER INSERT ON kernel BEGIN SELECT 1; END"})
        EXPECT_FALSE(ask(text).empty()) << text;
    EXPECT_EQ(ask("SELECT count(*) FROM kernel"), "40");
    EXPECT_NE(ask("SELECT name FROM pragma_table_info('kernel') LIMIT 1"), "");
}

TEST_F(SqlTest, SaysWhereItIsWrong) {
    EXPECT_EQ(ask("SELECT nam FROM kernel"), "no such column: nam (character 8: nam FROM kernel)");
    EXPECT_EQ(ask("SELEC 1"), "near \"SELEC\": syntax error (character 1: SELEC 1)");
    EXPECT_EQ(ask("SELECT '"), "unrecognized token: \"'\" (character 8: ')");
    std::string quoted = ask("SELECT \"nam\" FROM kernel");  // newer versions of SQLite add advice
    EXPECT_EQ(quoted.find("no such column: "), 0u) << quoted;
    EXPECT_NE(quoted.find(" (character 8: \"nam\" FROM kernel)"), std::string::npos) << quoted;
    EXPECT_NE(ask(std::string_view("SELECT 1\0, 2", 12)).find("NUL byte"), std::string::npos);
    EXPECT_NE(ask(std::string(2 << 20, ' ')).find("1048576 bytes"), std::string::npos);
}

TEST_F(SqlTest, EndsWhenItIsTold) {
    constexpr const char* kEndless =
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    double begun = processor_seconds();
    sql_->limit_time(std::chrono::milliseconds(50));
    EXPECT_NE(ask(kEndless).find("0.05 s"), std::string::npos);
    EXPECT_LT(processor_seconds() - begun, 1);
    sql_->limit_time(std::chrono::nanoseconds(0));
    sql_->interrupt();
    EXPECT_EQ(ask(kEndless), "the query was cancelled");
    sql_->resume();
    EXPECT_EQ(ask("SELECT 1"), "1");
}

TEST_F(SqlTest, OneTextCannotFillTheMemory) {
    EXPECT_NE(ask("SELECT length(replace(hex(zeroblob(1e8)), '0', 'abcdefgh'))").find("too long"), std::string::npos);
    EXPECT_NE(ask("SELECT zeroblob(1e8)").find("too long"), std::string::npos);
    EXPECT_NE(ask("SELECT zeroblob(16777217)").find("too long"), std::string::npos);
    EXPECT_EQ(ask("SELECT length(zeroblob(16777216))"), "16777216");
    EXPECT_NE(ask("SELECT zeroblob(9000000), zeroblob(9000000)").find("16 MiB"), std::string::npos);
}

// 512 MiB hold 2^26 values. The budget is for all aggregates together, and is given back at the end of each.
TEST_F(SqlTest, AggregatesCannotFillTheMemory) {
    std::string rows = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 3000000) SELECT ";
    std::string all;
    for (int i = 0; i < 24; ++i) all += (i == 0 ? "median(i + " : ", median(i + ") + std::to_string(i) + ")";
    EXPECT_NE(ask(rows + all + " FROM n").find("exceed 512 MiB"), std::string::npos);
    for (int i = 0; i < 9; ++i)
        EXPECT_EQ(ask(rows + "median(i), busy(-i, 0), median(i + 0.5) FROM n"), "1500000|3000000|1500000.5");
}

TEST_F(SqlTest, BlobsAreHexadecimal) { EXPECT_EQ(ask("SELECT x'00ff7a', x''"), "00ff7a|"); }

}  // namespace
}  // namespace gpuprof
