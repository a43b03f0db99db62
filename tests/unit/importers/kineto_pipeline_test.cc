// Cutting a file into pieces and parsing them on threads must change nothing: same rows, same losses, same places.
#include "io/importers/kineto/kineto_pipeline.h"

#include "io/importers/kineto/assembly.h"
#include "tests/unit/importers/read_text.h"

namespace gpuprof::test {
namespace {

std::string dump_in_pieces(std::string_view bytes, unsigned workers, std::size_t piece_bytes) {
    auto source = memory_source("t", bytes);
    TraceBuilder builder(Origin{});
    kineto::Assembly assembly("t", builder);
    Status status = kineto::parse_all(**source, {workers, piece_bytes}, {},
                                      [&](kineto::ParsedPiece& piece) { assembly.take(piece); });
    EXPECT_TRUE(status.ok());
    Status finished = assembly.finish();
    if (!finished) return finished.error().message;
    return dump(std::move(builder).finish());
}

std::string dump_whole(std::string_view bytes) { return dump_in_pieces(bytes, 1, bytes.size() + 1); }

// Rows of sorted tables keep their order; the tables of threads and strings do not depend on the cuts either.
void expect_same_in_pieces(std::string_view bytes) {
    std::string whole = dump_whole(bytes);
    for (std::size_t piece_bytes : {997u, 4096u, 65536u})
        for (unsigned workers : {1u, 3u})
            EXPECT_TRUE(dump_in_pieces(bytes, workers, piece_bytes) == whole) << piece_bytes << " " << workers;
}

void expect_same_of(const std::string& name) { expect_same_in_pieces(fixture(name)); }

TEST(KinetoPipeline, LargeTraceWithStacks) { expect_same_of("kineto/transformer-stacks-shapes-memory.json.zst"); }
TEST(KinetoPipeline, LargeTraceOfInput) { expect_same_of("kineto/input_bound.json.gz"); }
TEST(KinetoPipeline, LargeTraceOfCollectives) { expect_same_of("public/nccl_parser_config__nccl_data.json.zst"); }
TEST(KinetoPipeline, TraceOfAMD) { expect_same_of("public/amd_trace__mi250_minitoy_train_ROCm6_2_kineto.json.gz"); }
TEST(KinetoPipeline, FilteredTrace) { expect_same_of("public/trace_filter__sampled_rank-0.json.zst"); }

TEST(KinetoPipeline, SmallTraceInEveryPieceSize) {
    std::string text = fixture("public/triton_example__triton_example.json.gz");
    std::string whole = dump_whole(text);
    for (std::size_t piece_bytes = 64; piece_bytes < 2048; piece_bytes += 61)
        EXPECT_TRUE(dump_in_pieces(text, 2, piece_bytes) == whole) << piece_bytes;
}

// Objects that look like events inside events, so that pieces are cut at the wrong place.
TEST(KinetoPipeline, WrongGuesses) {
    std::string events;
    for (int i = 0; i < 300; ++i)
        events += (i > 0 ? ",\n" : "") + event("cpu_op", "op" + std::to_string(i),
                                               R"("Input Dims": [[1], {"ph": "X", "name": "inner"}, {"ph": "i"}],
            "text": "}, {\"ph\": 1}, \\", "grid": [{"ts": 1}])",
                                               std::to_string(i));
    expect_same_in_pieces(object_trace(events));
    EXPECT_EQ(import_text(object_trace(events)).op().rows, 300u);
}

TEST(KinetoPipeline, DamageInManyPlaces) {
    std::string text = fixture("kineto/memory_bound.json.gz");
    for (std::size_t at = 3000; at < text.size(); at += 7919) text[at] = "\"{}[],:x\n"[at % 9];
    expect_same_in_pieces(text);
}

TEST(KinetoPipeline, LongItemsSpanPieces) {
    std::string name(200'000, 'n');
    expect_same_in_pieces(object_trace(event("cpu_op", "a") + "," + event("cpu_op", name) + "," + event("cpu_op", "b"),
                                       "\"long\": \"" + std::string(100'000, 'h') + "\""));
}

TEST(KinetoPipeline, CutFiles) {
    std::string text = fixture("kineto/triton.json.gz");
    for (std::size_t n = 900; n < text.size(); n += 1777) expect_same_in_pieces(std::string_view(text).substr(0, n));
}

// Counts that inspection of the files gives.
TEST(KinetoPipeline, CountsOfRealTraces) {
    Trace trace = import_text(fixture("kineto/transformer-stacks-shapes-memory.json.zst"));
    EXPECT_EQ(trace.op().rows, 6794u);
    EXPECT_EQ(trace.kernel().rows, 1014u);
    EXPECT_EQ(trace.memset().rows, 168u);
    EXPECT_EQ(trace.api_call().rows, 1374u);
    EXPECT_EQ(trace.range().rows, 6u);
    EXPECT_EQ(trace.tables().python_call.rows, 4210u);
    EXPECT_EQ(trace.tables().memory_event.rows, 2516u);
    EXPECT_EQ(trace.tables().flow.rows, 620u);
    EXPECT_EQ(trace.tables().overhead.rows, 2u);
    EXPECT_EQ(trace.tables().loss.rows, 0u);
    for (Row row = 0; row < trace.kernel().rows; ++row) EXPECT_NE(trace.links().kernel_launch[row], kNoRow);
}

}  // namespace
}  // namespace gpuprof::test
