// A rank is reduced from a part of its recording's columns, and from large arrays in files. The summary must be the one of
// the whole recording in memory, to the byte.
// GPUPROF_RECORDINGS=FOLDER compares the files of that folder too (tests/python/ranks/test_ranks_reading.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "core/base/files/spill.h"
#include "core/format/chunk.h"
#include "core/model/build/damage.h"
#include "io/exporters/capture_export.h"
#include "io/importers/importer.h"
#include "ranks/reduce/reduce.h"
#include "tests/unit/source_folder.h"

namespace gpuprof::test {
namespace {

namespace fs = std::filesystem;

// A summary as bytes, or why there is none.
std::string summary_of(const std::string& path, const ColumnSelection& selected) {
    Result<OpenedFile> opened = recognise_file(path, path, {});
    if (!opened.ok()) return opened.error().message;
    Result<Trace> trace = import_file(*opened, selected);
    if (!trace.ok()) return trace.error().message;
    RankFile file;
    file.path = path;
    file.reason = damage_of(*trace);
    Batch rows;
    Facts facts(*trace, {});
    reduce_rank(facts, file, rank_of(*trace, file).value_or(0), rows);
    TraceBuilder builder(trace->origin());
    builder.append(std::move(rows));
    StringSink sink;
    EXPECT_TRUE(write_capture(std::move(builder).finish(), sink, {}).ok());
    return sink.text();
}

// The same with every large array in a file, and no page kept.
std::string spilled_summary_of(const std::string& path) {
    Spill spill({{testing::TempDir()}, 0, 0, std::size_t{64} << 10});
    return summary_of(path, reduced_columns());
}

std::vector<std::string> files_below(const fs::path& folder) {
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file() && entry.path().extension() != ".md") found.push_back(entry.path().string());
    std::sort(found.begin(), found.end());
    return found;
}

void expect_same_summaries(const fs::path& folder, std::size_t least) {
    std::size_t captures = 0;
    for (const std::string& path : files_below(folder)) {
        SCOPED_TRACE(path);
        std::string whole = summary_of(path, {});
        EXPECT_TRUE(summary_of(path, reduced_columns()) == whole);
        EXPECT_TRUE(spilled_summary_of(path) == whole);
        captures += whole.starts_with(kChunkMagic);
    }
    EXPECT_GE(captures, least);
}

TEST(BoundedReading, FixturesReduceToTheSameBytes) { expect_same_summaries(source_folder() + "/tests/fixtures", 45); }

TEST(BoundedReading, ExamplesReduceToTheSameBytes) { expect_same_summaries(source_folder() + "/examples", 9); }

TEST(BoundedReading, OtherRecordingsReduceToTheSameBytes) {
    const char* folder = std::getenv("GPUPROF_RECORDINGS");
    if (folder == nullptr) GTEST_SKIP() << "GPUPROF_RECORDINGS names no folder";
    expect_same_summaries(folder, 1);
}

// A step with an operator of many arguments and a Python call that begins before it and ends after it.
constexpr std::string_view kStep = R"({"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 2, "ts": 10, "dur": 50},
{"ph": "X", "cat": "python_function", "name": "train.py(1): main", "pid": 1, "tid": 2, "ts": 1, "dur": 99},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 11, "dur": 9,
 "args": {"External id": 7, "Input Dims": [[4096, 4096]], "Concrete Inputs": ["secret"], "Sequence number": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 12, "dur": 2,
 "args": {"correlation": 5}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 30,
 "args": {"device": 0, "stream": 7, "correlation": 5, "grid": [2, 3, 1], "block": [32, 1, 1], "registers per thread": 40}}]})";

Trace read(std::string_view text, const ColumnSelection& selected) {
    auto source = memory_source("t", text);
    TraceBuilder builder(Origin{}, selected);
    const Importer* kineto = nullptr;
    for (const Importer& each : all_importers())
        if (each.name == "kineto") kineto = &each;
    EXPECT_TRUE(kineto->import(**source, builder).ok());
    return std::move(builder).finish();
}

TEST(BoundedReading, SkipsWhatIsNotRead) {
    Trace whole = read(kStep, {}), part = read(kStep, reduced_columns());
    EXPECT_NE(whole.strings().find("[[4096, 4096]]"), kNoString);
    EXPECT_EQ(part.strings().find("[[4096, 4096]]"), kNoString);
    EXPECT_EQ(part.strings().find("train.py(1): main"), kNoString);
    EXPECT_EQ(whole.tables().python_call.rows, 1u);
    EXPECT_EQ(part.tables().python_call.rows, 0u);
    EXPECT_EQ(whole.kernel().registers.get(0), 40);
    EXPECT_EQ(part.kernel().registers.get(0), std::nullopt);
    EXPECT_EQ(part.kernel().grid_y.get(0), 3);
    EXPECT_EQ(part.op().sequence.get(0), std::nullopt);
    EXPECT_EQ(part.text(part.op().name[0]), "aten::mm");
}

TEST(BoundedReading, WindowCountsSkippedRows) {
    Trace part = read(kStep, reduced_columns());
    EXPECT_EQ(part.window().start, 1'000);
    EXPECT_EQ(part.window().end, 100'000);
}

// The second Python call began 100 days later.
TEST(BoundedReading, ImplausibleTimesOfSkippedRowsAreLosses) {
    std::string text(kStep);
    text.insert(text.rfind(']'), R"(,
{"ph": "X", "cat": "python_function", "name": "late", "pid": 1, "tid": 2, "ts": 8640000000000, "dur": 1})");
    Trace whole = read(text, {}), part = read(text, reduced_columns());
    EXPECT_EQ(part.window(), whole.window());
    EXPECT_EQ(part.tables().loss.rows, whole.tables().loss.rows);
    EXPECT_EQ(part.text(part.tables().loss.kind[0]), "time_out_of_range");
}

}  // namespace
}  // namespace gpuprof::test
