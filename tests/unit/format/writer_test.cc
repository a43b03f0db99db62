// The writer when the disk is full: an error with a reason, and what was written is still a capture.
#include "core/format/writer.h"

#include "cli/output.h"
#include "tests/unit/format/capture_bytes.h"

namespace gpuprof::test {
namespace {

// A disk with limited space, in bytes.
class SmallDisk final : public Sink {
public:
    explicit SmallDisk(std::size_t room) : room_(room) {}
    bool failed() const override { return failed_; }
    const std::string& bytes() const { return bytes_; }

private:
    void put(std::string_view more) override {
        failed_ = failed_ || bytes_.size() + more.size() > room_;
        bytes_ += more.substr(0, room_ - bytes_.size());
    }
    std::size_t room_;
    bool failed_ = false;
    std::string bytes_;
};

PlainTable numbers(std::size_t rows) {
    PlainTable table{"t", {{"n", ColumnType::I64, "", std::vector<Value>(rows)}}};
    for (std::size_t row = 0; row < rows; ++row) table.columns[0].values[row] = static_cast<std::int64_t>(row * row);
    return table;
}

TEST(CaptureWriter, AFullDiskIsAnErrorAndLeavesACapture) {
    PlainTable table = numbers(40);
    WriterOptions options;
    options.rows_per_chunk = 10;
    std::string whole = write_bytes({table}, options);
    for (std::size_t room = 0; room < whole.size(); ++room) {
        SmallDisk disk(room);
        StringPool strings;
        WriterColumns columns(table, strings);
        CaptureWriter writer(disk, options);
        Status begun = writer.begin(), written = writer.write(columns.view(), strings), ended = writer.end();
        ASSERT_FALSE(ended.ok()) << room;
        EXPECT_NE((begun.ok() ? written.ok() ? ended : written : begun).error().message.find("disk is full"),
                  std::string::npos);
        ReadBack back = read_chunks(disk.bytes());
        ASSERT_EQ(back.missing(true), room > 0 ? 1u : 0u) << room;
        ASSERT_EQ(back.missing(false), 0u) << room;
        ASSERT_EQ(disk.bytes(), whole.substr(0, room));
    }
}

TEST(CaptureWriter, DevFullHasAClearMessage) {
    Result<Output> full = Output::open("/dev/full");
    if (!full) GTEST_SKIP() << "no /dev/full here";
    CaptureWriter writer(*full);
    EXPECT_FALSE(writer.begin().ok());
    Status closed = full->close();
    ASSERT_FALSE(closed.ok());
    EXPECT_NE(closed.error().message.find("No space left on device"), std::string::npos);
}

TEST(CaptureWriter, CallsAfterAnErrorWriteNothing) {
    SmallDisk disk(10);
    CaptureWriter writer(disk);
    EXPECT_FALSE(writer.begin().ok());
    EXPECT_FALSE(writer.end().ok());
    EXPECT_EQ(disk.bytes().size(), 10u);
}

// The end chunk says how many rows of each table a reader should have found.
TEST(CaptureWriter, EndCountsTheRows) {
    ReadBack back = read_chunks(write_bytes({numbers(40), numbers(2)}));
    Decompressor zstd;
    auto end = TableChunk::read(back.chunks.back().bytes(), zstd);
    ASSERT_TRUE(end.has_value());
    ASSERT_EQ(end->columns().size(), 2u);
    EXPECT_EQ(decode(*end, end->columns()[0], ""), std::vector<Value>{"t"});
    EXPECT_EQ(decode(*end, end->columns()[1], ""), std::vector<Value>{std::int64_t{42}});
}

}  // namespace
}  // namespace gpuprof::test
