// Payloads that are not compressed: the narrowest encoding is taken, and what it holds is read back.
#include "core/format/payload.h"

#include <gtest/gtest.h>

#include "core/format/table_chunk.h"

namespace gpuprof::test {
namespace {

struct Encoded {
    Encoding encoding;
    int width;
    std::vector<std::int64_t> values;
    bool operator==(const Encoded&) const = default;
};

Encoded encoded(const std::vector<std::int64_t>& values) {
    ColumnView column{"n", ColumnType::I64, "", values.data(), nullptr};
    PayloadEncoder encoder(EncodingGoal::narrowest);
    encoder.encode({"t", values.size(), {&column, 1}}, StringPool(), 0, values.size());
    std::string payload = encoder.payload(nullptr);
    Decompressor zstd;
    std::optional<TableChunk> chunk = TableChunk::read(payload, zstd);
    if (!chunk) return {};
    std::string planes(chunk->values_size(), '\0');
    std::vector<std::int64_t> back(chunk->rows());
    const ChunkColumn& only = chunk->columns()[0];
    if (!chunk->read_values(planes.data(), zstd) || !decode_column(only, planes.data(), back.size(), back.data()))
        return {};
    return {only.encoding, only.width, back};
}

TEST(Payload, TheNarrowestEncodingIsTaken) {
    const std::int64_t late = 1'700'000'000'000'000'000;
    std::vector<std::int64_t> rising, wandering, few, small, same(100, late);
    for (std::int64_t i = 0; i < 100; ++i) {
        rising.push_back(late + i * 200);
        wandering.push_back(late + i * 30 - i % 2 * 40);  // 10 back, 70 on
        few.push_back(i % 3 * late);
        small.push_back(late + i * 7 % 100);
    }
    EXPECT_EQ(encoded(rising), (Encoded{Encoding::delta, 1, rising}));
    EXPECT_EQ(encoded(wandering), (Encoded{Encoding::signed_delta, 1, wandering}));
    EXPECT_EQ(encoded(few), (Encoded{Encoding::dictionary, 1, few}));
    EXPECT_EQ(encoded(small), (Encoded{Encoding::offset, 1, small}));
    EXPECT_EQ(encoded(same), (Encoded{Encoding::constant, 0, same}));
}

}  // namespace
}  // namespace gpuprof::test
