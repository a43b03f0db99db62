// Recorded traces, exported and imported again, are the same traces.
#include <cctype>
#include <filesystem>

#include "io/exporters/capture_export.h"
#include "io/exporters/exporter.h"
#include "io/importers/importer.h"
#include "tests/unit/exporters/same_tables.h"
#include "tests/unit/source_folder.h"

namespace gpuprof::test {
namespace {

std::vector<std::string> recordings() {
    std::vector<std::string> files;
    for (const char* folder : {"/tests/fixtures/kineto", "/tests/fixtures/public", "/tests/fixtures/ranks"})
        for (const auto& entry : std::filesystem::directory_iterator(source_folder() + folder))
            if (entry.path().extension() == ".gz") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    return files;
}

Trace import_bytes(const std::string& bytes) {
    auto source = memory_source("memory", bytes);
    EXPECT_TRUE(source.ok());
    Result<Trace> trace = import_trace(**source);
    EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
    return std::move(trace).value();
}

std::string export_bytes(const Trace& trace, std::string_view format) {
    StringSink sink;
    EXPECT_TRUE(find_exporter(format)->run(trace, sink).ok());
    return sink.text();
}

class Recording : public testing::TestWithParam<std::string> {};

TEST_P(Recording, ComesBackFromACapture) {
    Result<Trace> trace = open_file(GetParam());
    ASSERT_TRUE(trace.ok());
    std::string bytes = export_bytes(*trace, "capture");
    Trace back = import_bytes(bytes);
    expect_same_tables(*trace, back, {"meta"});
    EXPECT_EQ(back.origin().tool, trace->origin().tool);
    EXPECT_EQ(back.origin().importer, "capture");
    EXPECT_EQ(back.meta("importer"), trace->origin().importer);
    EXPECT_EQ(back.window().start, trace->window().start);
    EXPECT_EQ(back.window().end, trace->window().end);
    const MetaTable& meta = trace->tables().meta;
    for (Row row = 0; row < meta.rows; ++row)
        EXPECT_EQ(back.meta(trace->text(meta.key[row])), trace->meta(trace->text(meta.key[row])));
    EXPECT_EQ(export_bytes(back, "capture"), bytes);  // and once more changes nothing
}

TEST_P(Recording, ComesBackFromChunksOfAnySize) {
    Result<Trace> trace = open_file(GetParam());
    ASSERT_TRUE(trace.ok());
    StringSink sink;
    WriterOptions options;
    options.rows_per_chunk = 777;
    ASSERT_TRUE(write_capture(*trace, sink, options).ok());
    expect_same_tables(*trace, import_bytes(sink.text()), {"meta"});
}

// Of what Kineto's format has no place for, only facts differ: the base of times, and what is said about losses.
// Collectives have no time of their own; they come in the order of the events they were recorded with.
TEST_P(Recording, ComesBackFromAChromeTrace) {
    Result<Trace> trace = open_file(GetParam());
    ASSERT_TRUE(trace.ok());
    expect_same_tables(*trace, import_bytes(export_bytes(*trace, "chrome")),
                       {"meta", "loss", "profiled_kernel", "kernel_counter"}, {"collective"});
}

std::string test_name(const testing::TestParamInfo<std::string>& recording) {
    std::string name = std::filesystem::path(recording.param).stem().stem().string();
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Recording, testing::ValuesIn(recordings()), test_name);

}  // namespace
}  // namespace gpuprof::test
