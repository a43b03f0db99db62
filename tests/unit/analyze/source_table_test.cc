// `source` and the exporters of instruction samples, over rows made here: no recording has such rows yet. The same rows are the capture
// tests/fixtures/instructions/samples.gpuprof, which `GPUPROF_WRITE_SAMPLES=FILE unit_tests --gtest_filter=SourceTable.IsTheFixture` writes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analyze/facts/kernels/source_texts.h"
#include "io/exporters/exporter.h"
#include "io/importers/importer.h"
#include "present/answer/analyses.h"
#include "tests/unit/analyze/draft.h"
#include "tests/unit/source_folder.h"

namespace gpuprof {
namespace {

struct Count {
    const char *function, *file;
    int line;
    std::int64_t offset;
    const char* metric;
    double value;
};

// A transpose whose stores wait, and a kernel without line information.
constexpr Count kCounts[] = {
    {"transpose", "/build/src/transpose.cu", 4, 0x40, "samples.long_scoreboard", 300},
    {"transpose", "/build/src/transpose.cu", 4, 0x40, "samples.long_scoreboard_not_issued", 250},
    {"transpose", "/build/src/transpose.cu", 4, 0x50, "samples.selected", 400},
    {"transpose", "/build/src/transpose.cu", 4, 0x50, "samples.lg_throttle", 100},
    {"transpose", "/build/src/transpose.cu", 3, 0x10, "samples.wait", 50},
    {"transpose", "/build/src/transpose.cu", 4, 0x50, "smsp__sass_sectors_mem_global", 7549747},
    {"transpose", "/build/src/transpose.cu", 4, 0x50, "smsp__sass_sectors_mem_global_ideal", 1677721},
    {"transpose", "/build/src/transpose.cu", 3, 0x10, "smsp__sass_inst_executed", 4096},
    {"library", "", 0, 0x100, "samples.math_pipe_throttle", 140},
    {"library", "", 0, 0x110, "samples.barrier", 10},
};

Trace counted() {
    Draft draft;
    InstructionCounterTable& table = draft.tables().instruction_counter;
    for (const Count& count : kCounts) {
        Row row = table.add();
        table.device.set(row, 0);
        table.module.set(row, draft.intern("5f3a"));
        table.function.set(row, draft.intern(count.function));
        if (count.line > 0) {
            table.file.set(row, draft.intern(count.file));
            table.line.set(row, count.line);
        }
        table.offset.set(row, count.offset);
        table.metric.set(row, draft.intern(count.metric));
        table.value.set(row, count.value);
    }
    return draft.finish();
}

ResultTable source_of(const Trace& trace, const Options& options = {}) {
    Facts facts(trace, options);
    Result<ResultTable> table = find_analysis("source")->run(facts);
    EXPECT_TRUE(table.ok());
    return std::move(table).value();
}

// A cell as text, "-" if absent.
std::string shown(const ResultTable& table, std::size_t row, std::string_view column) {
    Cell cell = table.cell(row, table.column(column));
    if (const auto* text = std::get_if<std::string_view>(&cell)) return std::string(*text);
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
    if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{:.1f}", *real);
    return "-";
}

// Samples of all launches stand for stall counters: shares without what was not issued, by the names of samples.
TEST(SourceTable, StallsComeFromSamples) {
    Trace trace = counted();
    Facts facts(trace, {});
    Result<ResultTable> table = find_analysis("stalls")->run(facts);
    ASSERT_TRUE(table.ok());
    ASSERT_EQ(table->rows(), 6u);
    EXPECT_EQ(shown(*table, 0, "name"), "transpose");
    EXPECT_EQ(shown(*table, 0, "reason"), "selected");
    EXPECT_EQ(shown(*table, 0, "share_pct"), "47.1");
    EXPECT_EQ(shown(*table, 1, "reason"), "long_scoreboard");
    EXPECT_EQ(shown(*table, 0, "basis"), "samples");
    EXPECT_EQ(shown(*table, 0, "launch"), "-");
    EXPECT_EQ(shown(*table, 4, "name"), "library");
}

TEST(SourceTable, SumsSamplesByLine) {
    Trace trace = counted();
    ResultTable table = source_of(trace);
    ASSERT_EQ(table.rows(), 3u);
    EXPECT_EQ(shown(table, 0, "line"), "4");
    EXPECT_EQ(shown(table, 0, "samples"), "800");
    EXPECT_EQ(shown(table, 0, "share_pct"), "80.0");
    EXPECT_EQ(shown(table, 0, "kernel_pct"), "94.1");
    EXPECT_EQ(shown(table, 0, "stall"), "long_scoreboard");  // selected is no stall
    EXPECT_EQ(shown(table, 0, "stall_pct"), "37.5");
    EXPECT_EQ(shown(table, 0, "second_stall"), "lg_throttle");
    EXPECT_EQ(shown(table, 0, "second_stall_pct"), "12.5");
    EXPECT_EQ(shown(table, 0, "sectors"), "7549747");
    EXPECT_EQ(shown(table, 0, "ideal_sectors"), "1677721");
    EXPECT_EQ(shown(table, 0, "instructions"), "2");
    EXPECT_EQ(shown(table, 0, "text"), "-");
    EXPECT_EQ(shown(table, 1, "name"), "library");
    EXPECT_EQ(shown(table, 1, "file"), "-");
    EXPECT_EQ(shown(table, 1, "line"), "-");
    EXPECT_EQ(shown(table, 2, "executed"), "4096");
    EXPECT_EQ(shown(table, 2, "second_stall"), "-");
    ASSERT_EQ(table.notes.size(), 2u);
}

TEST(SourceTable, SkipsWhatIsNoCount) {
    Draft draft;
    InstructionCounterTable& table = draft.tables().instruction_counter;
    for (double value : {-1.0, 0.0 / 0.0, 1e300}) {
        Row row = table.add();
        table.function.set(row, draft.intern("k"));
        table.metric.set(row, draft.intern("samples.wait"));
        table.value.set(row, value);
    }
    table.add();
    Trace trace = draft.finish();
    ResultTable result = source_of(trace);
    EXPECT_EQ(result.rows(), 0u);
    EXPECT_EQ(source_of(Draft().finish()).notes.size(), 1u);
}

class SourceFolder : public testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::path(testing::TempDir()) / fmt::format("source_test.{}", getpid());
        std::filesystem::create_directories(folder_ / "project/src");
        std::ofstream(folder_ / "project/src/transpose.cu")
            << "// transpose\n\n\tint x = threadIdx.x;\n  out[x * n] = in[x];\r\n";
        std::ofstream(folder_ / "secret.cu") << "1\n2\n3\nsecret\n";
        std::filesystem::create_symlink(folder_ / "secret.cu", folder_ / "project/src/link.cu");
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::filesystem::path folder_;
};

TEST_F(SourceFolder, LinesAreShownFromTheNamedFolder) {
    Options options;
    options.sources = folder_ / "project";
    Trace trace = counted();
    ResultTable table = source_of(trace, options);
    EXPECT_EQ(shown(table, 0, "text"), "out[x * n] = in[x];");
    EXPECT_EQ(shown(table, 1, "text"), "-");
    EXPECT_EQ(shown(table, 2, "text"), "int x = threadIdx.x;");
}

TEST_F(SourceFolder, NothingOutsideTheFolderIsRead) {
    const std::string kUp = "..";
    SourceTexts texts(folder_ / "project");
    EXPECT_EQ(texts.line((folder_ / "project/src/transpose.cu").string(), 1), "// transpose");
    EXPECT_EQ(texts.line("transpose.cu", 1), std::nullopt);  // src/transpose.cu is no end of it
    EXPECT_EQ(texts.line("src/transpose.cu", 5), std::nullopt);
    EXPECT_EQ(texts.line("src/transpose.cu", 0), std::nullopt);
    EXPECT_EQ(texts.line((folder_ / "secret.cu").string(), 4), std::nullopt);
    EXPECT_EQ(texts.line(kUp + "/secret.cu", 4), std::nullopt);
    EXPECT_EQ(texts.line("src/" + kUp + "/" + kUp + "/secret.cu", 4), std::nullopt);
    EXPECT_EQ(texts.line("src/link.cu", 4), std::nullopt);
    EXPECT_EQ(texts.line("src", 1), std::nullopt);
    EXPECT_EQ(texts.line("", 1), std::nullopt);
    EXPECT_EQ(texts.line(std::string_view("src/transpose.cu\0x", 18), 1), std::nullopt);
    EXPECT_EQ(SourceTexts("").line((folder_ / "secret.cu").string(), 4), std::nullopt);
    EXPECT_EQ(SourceTexts("/nowhere").line("src/transpose.cu", 1), std::nullopt);
    std::ofstream(folder_ / "project/large.cu") << std::string(5 << 20, '\n');
    EXPECT_EQ(texts.line("large.cu", 1), std::nullopt);
}

std::string exported(std::string_view format, const Trace& trace) {
    StringSink sink;
    EXPECT_TRUE(find_exporter(format)->run(trace, sink).ok());
    return sink.text();
}

TEST(SourceTable, ItsSamplesComeBackFromPprof) {
    Trace trace = counted();
    std::string bytes = exported("pprof-source", trace);
    Result<std::unique_ptr<Source>> source = memory_source("t", bytes);
    ASSERT_TRUE(source.ok());
    Result<Trace> back = import_trace(**source);
    ASSERT_TRUE(back.ok());
    const CallMetricTable& metrics = back->tables().call_metric;
    double samples = 0;
    for (Row row = 0; row < metrics.rows; ++row) samples += metrics.value[row];
    EXPECT_EQ(samples, 1000);
    const CallNodeTable& nodes = back->tables().call_node;
    int found = 0;
    for (Row row = 0; row < nodes.rows; ++row)
        found += back->text(nodes.name[row]) == "transpose (/build/src/transpose.cu:4)";
    EXPECT_EQ(found, 1);
}

TEST(SourceTable, IsTheFixture) {
    std::string path = source_folder() + "/tests/fixtures/instructions/samples.gpuprof";
    if (const char* write = std::getenv("GPUPROF_WRITE_SAMPLES"); write != nullptr)
        std::ofstream(write, std::ios::binary) << exported("capture", counted());
    Result<Trace> fixture = open_file(path);
    ASSERT_TRUE(fixture.ok());
    Trace made = counted();
    ResultTable expected = source_of(made), table = source_of(*fixture);
    ASSERT_EQ(table.rows(), expected.rows());
    for (std::size_t row = 0; row < table.rows(); ++row)
        for (const ResultColumn& column : table.columns())
            EXPECT_EQ(shown(table, row, column.name), shown(expected, row, column.name)) << column.name;
}

}  // namespace
}  // namespace gpuprof
