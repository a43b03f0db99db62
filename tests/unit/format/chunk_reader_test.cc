// What damage costs: exactly the chunk it is in, wherever it is.
#include "tests/unit/format/capture_bytes.h"

namespace gpuprof::test {
namespace {

PlainTable table_of(std::string name, std::int64_t first, std::size_t rows) {
    std::vector<Value> none(rows);
    PlainTable table{std::move(name), {{"n", ColumnType::I64, "", none}, {"s", ColumnType::Str, "", none}}};
    for (std::size_t row = 0; row < rows; ++row) {
        table.columns[0].values[row] = first + static_cast<std::int64_t>(row * row);
        table.columns[1].values[row] = "text " + std::to_string(row % 3);
    }
    return table;
}

// begin, t 0, t 1, t 2, end.
std::string sample(std::int64_t first = 1000) {
    WriterOptions options;
    options.rows_per_chunk = 10;
    return write_bytes({table_of("t", first, 30)}, options);
}

// Offsets of the chunks, and the size at the end.
std::vector<std::size_t> borders(const std::string& bytes) {
    std::vector<std::size_t> at;
    ReadBack back = read_chunks(bytes);
    for (const RawChunk& chunk : back.chunks) at.push_back(chunk.offset);
    at.push_back(bytes.size());
    return at;
}

bool same_chunk(const RawChunk& a, const RawChunk& b) {
    return a.header.kind == b.header.kind && a.bytes() == b.bytes();
}

// CRC-32 as its specification has it, bit by bit.
std::uint32_t plain_checksum(std::string_view bytes) {
    std::uint32_t sum = ~0U;
    for (unsigned char byte : bytes) {
        sum ^= byte;
        for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0xEDB88320 : 0);
    }
    return ~sum;
}

TEST(ChunkReader, ChecksumsAreCrc32) {
    EXPECT_EQ(checksum("123456789"), 0xCBF43926U);  // the check value of its catalogue
    std::string bytes;
    for (unsigned number = 1; bytes.size() < 700; number = number * 1664525 + 1013904223)
        bytes += static_cast<char>(number >> 24);
    for (std::size_t size = 0; size < 600; ++size) {
        std::string_view some = std::string_view(bytes).substr(size % 33, size);
        ASSERT_EQ(checksum(some), plain_checksum(some)) << size << " bytes";
    }
}

TEST(ChunkReader, CutAnywhereKeepsWholeChunksAndCountsOneLoss) {
    std::string bytes = sample();
    std::vector<std::size_t> at = borders(bytes);
    ReadBack whole = read_chunks(bytes);
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        ReadBack back = read_chunks(std::string_view(bytes).substr(0, cut));
        std::size_t complete = 0;
        while (complete + 1 < at.size() && at[complete + 1] <= cut) ++complete;
        ASSERT_EQ(back.chunks.size(), complete) << cut;
        for (std::size_t i = 0; i < complete; ++i) ASSERT_TRUE(same_chunk(back.chunks[i], whole.chunks[i]));
        ASSERT_EQ(back.missing(true), cut > 0 && cut < bytes.size() ? 1u : 0u) << cut;
        ASSERT_EQ(back.missing(false), 0u) << cut;
    }
}

TEST(ChunkReader, EveryFlippedBitCostsItsChunkAndNoOther) {
    std::string bytes = sample();
    std::vector<std::size_t> at = borders(bytes);
    ReadBack whole = read_chunks(bytes);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        std::string damaged = bytes;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << (bit % 8));
        std::size_t hit = 0;
        while (at[hit + 1] <= bit / 8) ++hit;
        ReadBack back = read_chunks(damaged);
        ASSERT_EQ(back.chunks.size(), whole.chunks.size() - 1) << bit;
        for (std::size_t i = 0; i < back.chunks.size(); ++i)
            ASSERT_TRUE(same_chunk(back.chunks[i], whole.chunks[i + (i >= hit ? 1 : 0)])) << bit;
        ASSERT_EQ(back.missing(false), 1u) << bit;
        ASSERT_EQ(back.missing(true), 0u) << bit;
    }
}

TEST(ChunkReader, RemovedAndForeignBytesAreCounted) {
    std::string bytes = sample();
    std::vector<std::size_t> at = borders(bytes);
    std::string without = bytes.substr(0, at[1]) + bytes.substr(at[3]);  // two whole chunks are gone
    EXPECT_EQ(read_chunks(without).missing(false), 2u);
    std::string foreign =
        bytes.substr(0, at[2]) + "\x89gpuprof is not here" + std::string(100, '\x89') + bytes.substr(at[2]);
    ReadBack back = read_chunks(foreign);
    EXPECT_EQ(back.chunks.size(), 5u);
    EXPECT_EQ(back.missing(false), 1u);
}

TEST(ChunkReader, ConcatenationIsACapture) {
    std::string first = sample(), second = sample(5);
    ReadBack back = read_chunks(first + second + first);
    EXPECT_EQ(back.chunks.size(), 15u);
    EXPECT_TRUE(back.gaps.empty());
    EXPECT_EQ(read_tables(back)["t"].rows(), 90u);
}

// A process was killed, and its capture has another one behind it: the first misses its end, the second nothing.
TEST(ChunkReader, ACutCaptureMayHaveAnotherBehindIt) {
    std::string first = sample(), second = sample(5);
    std::vector<std::size_t> at = borders(first);
    for (std::size_t cut = 1; cut < first.size(); ++cut) {
        ReadBack back = read_chunks(first.substr(0, cut) + second);
        std::size_t complete = 0;
        while (at[complete + 1] <= cut) ++complete;
        ASSERT_EQ(back.chunks.size(), complete + 5) << cut;
        ASSERT_EQ(back.missing(true) + back.missing(false), 1u) << cut;
    }
}

// Headers that are sound but lie: their payload is checked, then searched, each byte a bounded number of times.
TEST(ChunkReader, NestedLiesAreSkipped) {
    std::string lies;
    for (int i = 0; i < 3000; ++i) {
        std::string header = encode_header(ChunkKind::table, 1, std::string(200'000, 'x'));
        lies += header;
    }
    lies += std::string(300'000, 'y');
    std::string bytes = sample();
    ReadBack back = read_chunks(lies + bytes);
    EXPECT_EQ(back.chunks.size(), 5u);
    EXPECT_EQ(back.gaps.size(), 1u);
}

TEST(ChunkReader, UnknownKindsAreHandedOn) {
    std::string bytes = encode_header(ChunkKind{77}, 0, "anything") + "anything" + sample();
    ReadBack back = read_chunks(bytes);
    ASSERT_EQ(back.chunks.size(), 6u);
    EXPECT_EQ(back.chunks[0].header.kind, 77u);
}

TEST(ChunkReader, EmptyInputHasNothing) {
    ReadBack back = read_chunks("");
    EXPECT_TRUE(back.chunks.empty());
    EXPECT_TRUE(back.gaps.empty());
}

}  // namespace
}  // namespace gpuprof::test
