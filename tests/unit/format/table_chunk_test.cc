// Payloads that are not sound are refused whole; what a newer version may have added is skipped.
#include "core/format/bytes.h"
#include "tests/unit/format/capture_bytes.h"

namespace gpuprof::test {
namespace {

std::optional<TableChunk> read(const std::string& payload) {
    static Decompressor zstd;
    return TableChunk::read(payload, zstd);
}

// A payload with an uncompressed front and values.
std::string payload_of(std::uint64_t rows, const std::string& front, const std::string& values) {
    std::string payload;
    put_text(payload, "t");
    for (std::uint64_t size : {rows, std::uint64_t{front.size()}, std::uint64_t{front.size()},
                               std::uint64_t{values.size()}, std::uint64_t{values.size()}})
        put_varint(payload, size);
    return payload + front + values;
}

std::string column(std::string_view name, int type, int encoding, int width, const std::string& parameter) {
    std::string front;
    put_text(front, name);
    put_u8(front, static_cast<std::uint8_t>(type));
    put_text(front, "");
    put_u8(front, 0);
    put_u8(front, static_cast<std::uint8_t>(encoding));
    put_u8(front, static_cast<std::uint8_t>(width));
    put_text(front, parameter);
    return front;
}

std::string front_of(const std::vector<std::string>& columns) {
    std::string front;
    put_varint(front, columns.size());
    for (const std::string& one : columns) front += one;
    return front;
}

std::string number(std::int64_t value) {
    std::string bytes;
    put_signed(bytes, value);
    return bytes;
}

const std::string kNumbers = column("n", 2, 1, 1, number(100));  // offset, one byte

TEST(TableChunk, ReadsWhatIsSound) {
    auto chunk = read(payload_of(3, front_of({kNumbers}), "\x01\x02\x03"));
    ASSERT_TRUE(chunk.has_value());
    std::int64_t out[3];
    ASSERT_TRUE(decode_column(chunk->columns()[0], "\x01\x02\x03", 3, out));
    EXPECT_EQ(out[2], 103);
}

TEST(TableChunk, RefusesWhatIsNotSound) {
    EXPECT_FALSE(read(""));
    EXPECT_FALSE(read(payload_of(3, front_of({kNumbers}), "\x01\x02")));            // too few values
    EXPECT_FALSE(read(payload_of(3, front_of({kNumbers}), "\x01\x02\x03\x04")));    // too many
    EXPECT_FALSE(read(payload_of(3, front_of({kNumbers}) + "x", "\x01\x02\x03")));  // bytes behind the columns
    EXPECT_FALSE(read(payload_of(3, front_of({column("n", 2, 1, 9, number(0))}), std::string(27, '\0'))));  // width
    EXPECT_FALSE(read(payload_of(3, front_of({column("n", 2, 1, 1, "")}), "abc")));  // no parameter
    EXPECT_FALSE(
        read(payload_of(3, front_of({column("n", 2, 4, 1, "\x7f")}), "abc")));  // dictionary longer than its bytes
    EXPECT_FALSE(read(payload_of(3, front_of({column("n", 5, 1, 1, number(0))}), "abc")));  // a string by offset
    EXPECT_FALSE(
        read(payload_of(3, front_of({column("n", 2, 5, 8, "")}), std::string(24, 'x'))));  // an integer as it is
    std::string many;
    put_varint(many, 1u << 30);
    EXPECT_FALSE(read(payload_of(3, many, "")));
}

// A handful of bytes cannot claim a million rows or a gigabyte.
TEST(TableChunk, RefusesMoreThanItsBytesCanHold) {
    std::string constant = front_of({column("n", 2, 0, 0, number(7))});
    std::string honest = payload_of(250, constant, "");
    EXPECT_TRUE(read(honest));
    EXPECT_FALSE(read(payload_of(100'000, constant, "")));
    EXPECT_TRUE(read(payload_of(100'000, constant, "") + std::string(100'000, '\0')));
    EXPECT_FALSE(read(payload_of((1u << 20) + 1, constant, "") + std::string(2'000'000, '\0')));

    Compressor zstd(3);
    std::string zeros(10'000'000, '\0');
    std::string bomb;
    put_text(bomb, "t");
    std::string_view stored = zstd.compress(zeros);
    for (std::uint64_t size : {std::uint64_t{1}, std::uint64_t{zeros.size()}, std::uint64_t{stored.size()},
                               std::uint64_t{0}, std::uint64_t{0}})
        put_varint(bomb, size);
    EXPECT_FALSE(read(bomb + std::string(stored)));
}

TEST(TableChunk, UnknownTypesAndEncodingsAreMarked) {
    std::string front =
        front_of({column("new type", 200, 1, 2, "?"), column("new encoding", 2, 99, 1, "??"), kNumbers});
    auto chunk = read(payload_of(3, front, "aaaaaabbb\x01\x02\x03"));
    ASSERT_TRUE(chunk.has_value());
    EXPECT_FALSE(chunk->columns()[0].known);
    EXPECT_FALSE(chunk->columns()[1].known);
    ASSERT_TRUE(chunk->columns()[2].known);
    EXPECT_EQ(chunk->columns()[2].at, 9u);
}

TEST(TableChunk, NumbersBeyondTheDictionaryAreRefused) {
    std::string entries;
    put_varint(entries, 2);
    put_text(entries, "a");
    put_text(entries, "b");
    auto chunk = read(payload_of(3, front_of({column("s", 5, 4, 1, entries)}), std::string("\0\1\2", 3)));
    ASSERT_TRUE(chunk.has_value());
    StringId out[3];
    EXPECT_FALSE(decode_column(chunk->columns()[0], "\0\1\2", 3, {StringId{0}, StringId{1}}, out));
    EXPECT_TRUE(decode_column(chunk->columns()[0], "\0\1\1", 3, {StringId{0}, StringId{1}}, out));
}

TEST(TableChunk, VarintsThatDoNotFitAreRefused) {
    ByteCursor good("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    EXPECT_EQ(good.varint(), ~std::uint64_t{0});
    EXPECT_TRUE(good.ok());
    ByteCursor wide("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02");
    EXPECT_EQ(wide.varint(), 0u);
    EXPECT_FALSE(wide.ok());
    ByteCursor cut("\xff");
    cut.varint();
    EXPECT_FALSE(cut.ok());
}

TEST(TableChunk, ZigzagIsItsOwnInverse) {
    for (std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, INT64_MIN, INT64_MAX})
        EXPECT_EQ(unzigzag(zigzag(value)), value);
}

}  // namespace
}  // namespace gpuprof::test
