// The capture importer: what damage, other versions and hostile files do to a trace.
#include "io/importers/formats.h"

#include "core/format/bytes.h"
#include "core/format/chunk.h"
#include "core/schema/meta_keys.h"
#include "io/exporters/capture_export.h"
#include "io/importers/importer.h"
#include "tests/unit/exporters/same_tables.h"
#include "tests/unit/format/capture_bytes.h"
#include "tests/unit/loss_count.h"
#include "tests/unit/source_folder.h"

namespace gpuprof::test {
namespace {

Result<Trace> import_bytes(const std::string& bytes) {
    auto source = memory_source("m", bytes);
    EXPECT_TRUE(source.ok());
    return import_trace(**source);
}

Trace imported(const std::string& bytes) {
    Result<Trace> trace = import_bytes(bytes);
    EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
    return std::move(trace).value();
}

// A recording with 60 kernels, some thirty chunks.
std::string recording(std::size_t rows_per_chunk = 25) {
    Result<Trace> trace = open_file(source_folder() + "/tests/fixtures/kineto/memory_bound.json.gz");
    EXPECT_TRUE(trace.ok());
    StringSink sink;
    WriterOptions options;
    options.rows_per_chunk = rows_per_chunk;
    EXPECT_TRUE(write_capture(*trace, sink, options).ok());
    return sink.text();
}

struct Place {
    std::size_t begin, end;
    std::string table;
    std::size_t rows;
};

std::vector<Place> chunks_of(const std::string& bytes) {
    std::vector<Place> places;
    for (std::size_t at = 0; at < bytes.size();) {
        auto header = decode_header(std::string_view(bytes).substr(at));
        if (!header) break;
        std::string_view payload = std::string_view(bytes).substr(at + kChunkHeaderBytes, header->length);
        ChunkPreamble preamble;
        EXPECT_TRUE(read_preamble(payload, header->length, preamble));
        std::size_t end = at + kChunkHeaderBytes + header->length;
        places.push_back({at, end, std::string(preamble.table), preamble.rows});
        at = end;
    }
    return places;
}

std::map<std::string, std::size_t> row_counts_of(const Trace& trace) {
    std::map<std::string, std::size_t> rows;
    trace.tables().each_table([&](const TableSpec& spec, const auto& table) {
        if (spec.name != "loss") rows[std::string(spec.name)] = table.rows;
    });
    return rows;
}

// Rows that describe one thing in several chunks are merged; these tests are about tables where each row counts.
std::map<std::string, std::size_t> rows_without(const std::string& bytes, const Place& lost) {
    auto rows = row_counts_of(imported(bytes));
    if (rows.contains(lost.table)) rows[lost.table] -= lost.rows;
    return rows;
}

TEST(CaptureImport, CutAtEveryByteOfTheLastChunks) {
    std::string bytes = recording();
    std::vector<Place> places = chunks_of(bytes);
    const Place& last = places[places.size() - 2];  // before the end chunk
    auto whole = row_counts_of(imported(bytes)), less = rows_without(bytes, last);
    for (std::size_t cut = last.begin; cut < bytes.size(); ++cut) {
        Trace trace = imported(bytes.substr(0, cut));
        ASSERT_EQ(row_counts_of(trace), cut < last.end ? less : whole) << cut;
        ASSERT_EQ(losses(trace, "truncated"), 1) << cut;
        ASSERT_EQ(losses(trace, "damaged_chunk"), 0) << cut;
    }
    EXPECT_EQ(losses(imported(bytes), "truncated"), 0);
}

TEST(CaptureImport, AFlippedBitCostsTheRowsOfItsChunk) {
    std::string bytes = recording();
    std::vector<Place> places = chunks_of(bytes);
    auto whole = row_counts_of(imported(bytes));
    for (const Place& place : places) {
        for (std::size_t byte :
             {place.begin, place.begin + 9, place.begin + 13, place.begin + 25, place.begin + 30, place.end - 1}) {
            std::string damaged = bytes;
            damaged[byte] = static_cast<char>(damaged[byte] ^ 0x10);
            Trace trace = imported(damaged);
            ASSERT_EQ(losses(trace, "damaged_chunk"), 1) << byte;
            ASSERT_EQ(losses(trace, "truncated"), 0) << byte;
            auto expected = whole;
            if (expected.contains(place.table)) expected[place.table] -= place.rows;
            ASSERT_EQ(row_counts_of(trace), expected) << place.table << " byte " << byte;
        }
    }
}

// Of one recording twice, each event counts once.
TEST(CaptureImport, ConcatenationHoldsTheRowsOfBoth) {
    Trace once = imported(recording()), twice = imported(recording() + recording(7));
    EXPECT_EQ(twice.kernel().rows, once.kernel().rows);
    EXPECT_GE(losses(twice, "copied_event"), static_cast<std::int64_t>(once.kernel().rows));
    EXPECT_EQ(twice.tables().device.rows, once.tables().device.rows);  // the same one
    EXPECT_EQ(losses(twice, "damaged_chunk") + losses(twice, "truncated"), 0);
}

// Tables of another version: a column and a table this one does not know, a column of another type, one that is missing.
TEST(CaptureImport, OtherVersions) {
    std::vector<Value> two = {std::int64_t{10}, std::int64_t{20}};
    PlainTable kernel{"kernel",
                      {{"start", ColumnType::Time, "ns", two},
                       {"dur", ColumnType::Dur, "ns", two},
                       {"stream", ColumnType::I32, "", two},          // narrower than here: widened
                       {"registers", ColumnType::I64, "count", two},  // wider than here: left out
                       {"warp_stalls", ColumnType::F64, "", {1.0, 2.0}}}};
    PlainTable unheard_of{"tensor_map", {{"key", ColumnType::Str, "", {"a"}}}};
    PlainTable later = kernel;
    later.columns[0].values = {std::int64_t{30}, std::int64_t{40}};
    std::string bytes = write_bytes({kernel, unheard_of, later});
    bytes += encode_header(ChunkKind{99}, 0, "payload") + "payload";
    Trace trace = imported(bytes);
    ASSERT_EQ(trace.kernel().rows, 4u);
    EXPECT_EQ(trace.kernel().stream[3], 20);
    EXPECT_TRUE(trace.kernel().registers.none_present());
    EXPECT_TRUE(trace.kernel().name.none_present());
    EXPECT_EQ(losses(trace, "unknown_column"), 2);  // each column once, however many chunks have it
    EXPECT_EQ(losses(trace, "unknown_chunk"), 2);
    EXPECT_EQ(losses(trace, "damaged_chunk"), 0);
}

// Names of earlier versions.
TEST(CaptureImport, RenamedTablesAndColumns) {
    PlainTable before{
        "rank_sync",
        {{"rank", ColumnType::I32, "", {std::int64_t{3}}}, {"beside_ns", ColumnType::I64, "ns", {std::int64_t{70}}}}};
    Trace trace = imported(write_bytes({before}));
    ASSERT_EQ(trace.tables().rank_collective.rows, 1u);
    EXPECT_EQ(trace.tables().rank_collective.rank[0], 3);
    EXPECT_EQ(trace.tables().rank_collective.overlapped_compute_ns[0], 70);
    EXPECT_EQ(losses(trace, "unknown_column") + losses(trace, "unknown_chunk"), 0);
}

TEST(CaptureImport, ColumnsThatComeAndGo) {
    PlainTable a{
        "range",
        {{"start", ColumnType::Time, "ns", {std::int64_t{1}}}, {"dur", ColumnType::Dur, "ns", {std::int64_t{1}}}}};
    PlainTable b = a, c = a;
    b.columns[0].values[0] = std::int64_t{2};
    b.columns.push_back({"name", ColumnType::Str, "", {"second"}});
    c.columns[0].values[0] = std::int64_t{3};
    Trace trace = imported(write_bytes({a, b, c}));
    ASSERT_EQ(trace.range().rows, 3u);
    EXPECT_FALSE(trace.range().name.has(0));
    EXPECT_EQ(trace.text(trace.range().name[1]), "second");
    EXPECT_FALSE(trace.range().name.has(2));
}

// A chunk whose checksums are right but whose values are not: a code beyond the dictionary. Its rows go, the others stay.
TEST(CaptureImport, UnsoundValuesCostTheirChunk) {
    PlainTable good{"range",
                    {{"start", ColumnType::Time, "ns", {std::int64_t{1}, std::int64_t{2}}},
                     {"dur", ColumnType::Dur, "ns", {std::int64_t{1}, std::int64_t{1}}},
                     {"name", ColumnType::Str, "", {"a", "b"}}}};
    std::string bytes = write_bytes({good, good, good});
    ReadBack back = read_chunks(bytes);
    std::string spoiled;
    for (const RawChunk& chunk : back.chunks) {
        std::string payload(chunk.bytes());
        if (chunk.header.sequence == 2) payload.back() = '\x7f';  // the code of the last name
        spoiled += encode_header(ChunkKind{chunk.header.kind}, chunk.header.sequence, payload) + payload;
    }
    Trace trace = imported(spoiled);
    EXPECT_EQ(trace.range().rows, 4u);
    EXPECT_EQ(losses(trace, "damaged_chunk"), 1);
    for (Row row = 0; row < trace.range().rows; ++row) EXPECT_LE(trace.text(trace.range().name[row]).size(), 1u);
}

TEST(CaptureImport, IsRecognisedByContentEvenWhenItsBeginningIsDamaged) {
    std::string bytes = recording();
    EXPECT_EQ(sniff_capture(bytes), 100);
    bytes[0] = 'x';
    EXPECT_GT(sniff_capture(bytes), 0);
    Trace trace = imported(bytes);
    EXPECT_EQ(losses(trace, "damaged_chunk"), 1);
    EXPECT_EQ(sniff_capture("{\"traceEvents\": []}"), 0);
    EXPECT_EQ(sniff_capture(""), 0);
    EXPECT_EQ(sniff_capture(std::string(kChunkMagic) + std::string(100, 'x')), 100);
}

// The same trace whatever the threads do: strings have the same ids, so that ties sort the same way everywhere.
TEST(CaptureImport, DoesNotDependOnThreads) {
    std::string bytes = recording(3);
    Trace first = imported(bytes);
    for (int round = 0; round < 5; ++round) {
        Trace again = imported(bytes);
        ASSERT_EQ(again.strings().size(), first.strings().size());
        for (std::uint32_t id = 0; id < first.strings().size(); ++id)
            ASSERT_EQ(again.text(StringId{id}), first.text(StringId{id}));
        expect_same_tables(first, again);
    }
}

// A merged recording has a row of each part; the first is of who merged them.
TEST(CaptureImport, TheFirstToolSpeaksForAll) {
    TraceBuilder builder(Origin{});
    Batch facts;
    for (const char* tool :
         {meta_key::kRecorderTool, meta_key::kSamplerTool, meta_key::kRecorderTool, meta_key::kSamplerTool}) {
        Row row = facts.tables.meta.add();
        facts.tables.meta.key.set(row, facts.intern(meta_key::kTool));
        facts.tables.meta.value.set(row, facts.intern(tool));
    }
    builder.append(std::move(facts));
    StringSink sink;
    ASSERT_TRUE(write_capture(std::move(builder).finish(), sink, {}).ok());
    EXPECT_EQ(imported(sink.text()).origin().tool, meta_key::kRecorderTool);
}

}  // namespace
}  // namespace gpuprof::test
