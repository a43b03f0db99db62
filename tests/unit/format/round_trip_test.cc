// What is written is read back: every type, every way values can run, with and without absences, across chunk borders.
#include <cmath>
#include <limits>
#include <random>

#include "tests/unit/format/capture_bytes.h"

namespace gpuprof::test {
namespace {

using Random = std::mt19937_64;

// The ways columns of numbers look like, each of which suits another encoding.
std::int64_t run(int way, std::size_t row, Random& random, std::int64_t& last) {
    switch (way) {
        case 0: return 42;
        case 1: return last += static_cast<std::int64_t>(random() % 5000);         // rising times
        case 2: return last += static_cast<std::int64_t>(random() % 2001) - 1000;  // a walk
        case 3: return static_cast<std::int64_t>(random() % 7) * 1'000'000'007;    // few distinct
        case 4: return static_cast<std::int64_t>(random());                        // noise over the whole range
        case 5:
            return row % 2 == 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
        default: return static_cast<std::int64_t>(random() % 300) - 150;
    }
}

PlainColumn random_column(std::string name, ColumnType type, std::size_t rows, Random& random) {
    PlainColumn column{std::move(name), type, type == ColumnType::Dur ? "ns" : "", std::vector<Value>(rows)};
    int way = static_cast<int>(random() % 7);
    std::uint64_t absent = random() % 4;  // of 4 rows; 0 = none
    std::int64_t last = 1'700'000'000'000'000'000;
    for (std::size_t row = 0; row < rows; ++row) {
        std::int64_t number = run(way, row, random, last);
        if (random() % 4 < absent) continue;
        switch (type) {
            case ColumnType::Str:
                column.values[row] =
                    "name " + std::to_string(static_cast<std::uint64_t>(number) % (way < 4 ? 5 : 3000));
                break;
            case ColumnType::F64: column.values[row] = way == 0 ? std::nan("") : static_cast<double>(number) / 3; break;
            case ColumnType::I32: column.values[row] = std::int64_t{static_cast<std::int32_t>(number)}; break;
            default: column.values[row] = number;
        }
    }
    return column;
}

bool all_absent(const PlainColumn& column) {
    for (const Value& value : column.values)
        if (value.index() != 0) return false;
    return true;
}

void expect_equal(const PlainTable& written, const PlainTable& read) {
    for (const PlainColumn& column : written.columns) {
        auto found = std::find_if(read.columns.begin(), read.columns.end(),
                                  [&](const PlainColumn& c) { return c.name == column.name; });
        ASSERT_EQ(found == read.columns.end(), all_absent(column)) << column.name;
        if (found == read.columns.end()) continue;
        EXPECT_EQ(found->type, column.type);
        EXPECT_EQ(found->unit, column.unit);
        ASSERT_EQ(found->values.size(), column.values.size());
        for (std::size_t row = 0; row < column.values.size(); ++row)
            ASSERT_TRUE(same_value(found->values[row], column.values[row])) << column.name << " row " << row;
    }
}

TEST(CaptureRoundTrip, EveryTypeWithAbsences) {
    Random random(7);
    for (int round = 0; round < 120; ++round) {
        std::size_t rows = 1 + random() % (round % 10 == 0 ? 5000 : 200);
        PlainTable table{"t", {}};
        for (int i = 0; i < 8; ++i)
            table.columns.push_back(random_column("c" + std::to_string(i),
                                                  ColumnType{static_cast<int>(random() % kColumnTypes)}, rows, random));
        WriterOptions options;
        options.rows_per_chunk = 1 + random() % 3000;
        options.level = static_cast<int>(random() % 3) + 1;
        ReadBack back = read_chunks(write_bytes({table}, options));
        EXPECT_TRUE(back.gaps.empty());
        auto tables = read_tables(back);
        ASSERT_EQ(tables.size(), 1u);
        expect_equal(table, tables["t"]);
        if (HasFatalFailure()) FAIL() << "round " << round;
    }
}

TEST(CaptureRoundTrip, EmptyTablesAndNoTables) {
    ReadBack back = read_chunks(write_bytes({{"t", {{"c", ColumnType::I64, "", {}}}}}));
    EXPECT_EQ(back.chunks.size(), 2u);  // begin and end
    EXPECT_TRUE(back.gaps.empty());
}

TEST(CaptureRoundTrip, AnyBytesInStrings) {
    std::string every;
    for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
    std::string huge(10'000'000, 'x');
    PlainTable table{
        "t", {{"c", ColumnType::Str, "", {every, std::string(), huge, Value{}, every + every, std::string("\0", 1)}}}};
    auto tables = read_tables(read_chunks(write_bytes({table})));
    expect_equal(table, tables["t"]);
}

TEST(CaptureRoundTrip, LargeStringsBecomeSeveralChunks) {
    PlainTable table{"t", {{"c", ColumnType::Str, "", {}}}};
    Random random(1);
    for (int row = 0; row < 60; ++row) {
        std::string text(1'000'000, '\0');
        for (char& c : text) c = static_cast<char>(random());
        table.columns[0].values.push_back(std::move(text));
    }
    ReadBack back = read_chunks(write_bytes({table}));
    EXPECT_GT(back.chunks.size(), 4u);
    expect_equal(table, read_tables(back)["t"]);
}

// Very regular data compresses to nearly nothing; the payload is padded so that a reader may believe its rows.
TEST(CaptureRoundTrip, RegularDataIsPadded) {
    PlainTable table{"t", {{"c", ColumnType::I64, "", std::vector<Value>(200'000, std::int64_t{5})}}};
    std::string bytes = write_bytes({table});
    EXPECT_LT(bytes.size(), 210'000u);
    expect_equal(table, read_tables(read_chunks(bytes))["t"]);
}

TEST(CaptureRoundTrip, NoStringIsAbsent) {
    StringPool strings;
    StringId ids[] = {strings.intern("a"), kNoString, strings.intern("b")};
    ColumnView column{"c", ColumnType::Str, "", ids, nullptr};
    StringSink sink;
    CaptureWriter writer(sink);
    ASSERT_TRUE(writer.write({"t", 3, {&column, 1}}, strings).ok());
    auto tables = read_tables(read_chunks(sink.text()));
    EXPECT_EQ(tables["t"].columns[0].values, (std::vector<Value>{"a", Value{}, "b"}));
}

// Inputs that hand out few bytes at a time give the same chunks.
TEST(CaptureRoundTrip, SmallReads) {
    Random random(3);
    PlainTable table{"t", {random_column("c", ColumnType::Time, 500, random)}};
    std::string bytes = write_bytes({table});
    for (std::size_t piece : {1u, 7u, 29u}) {
        Bytes input(bytes, piece);
        ChunkReader reader(input);
        RawChunk chunk;
        std::size_t chunks = 0;
        while (*reader.next(chunk)) ++chunks;
        EXPECT_EQ(chunks, 3u);
        EXPECT_TRUE(reader.gaps().empty());
    }
}

// Columns as a growing program leaves them: some rows of a table have a column, others do not.
TEST(CaptureRoundTrip, ColumnsMayComeAndGo) {
    PlainTable old_rows{"t", {{"a", ColumnType::I64, "", {std::int64_t{1}, std::int64_t{2}}}}};
    PlainTable new_rows{"t", {{"a", ColumnType::I64, "", {std::int64_t{3}}}, {"b", ColumnType::Str, "", {"x"}}}};
    auto tables = read_tables(read_chunks(write_bytes({old_rows, new_rows})));
    expect_equal({"t",
                  {{"a", ColumnType::I64, "", {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}}},
                   {"b", ColumnType::Str, "", {Value{}, Value{}, "x"}}}},
                 tables["t"]);
}

}  // namespace
}  // namespace gpuprof::test
