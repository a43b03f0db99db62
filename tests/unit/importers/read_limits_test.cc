// Limits of reading: what unpacks without end, and inputs that are not files.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <filesystem>
#include <thread>

#include "tests/unit/importers/read_text.h"

namespace gpuprof::test {
namespace {

namespace fs = std::filesystem;

std::string zstd(std::string_view text) {
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
    return packed;
}

// Reads all; the message of the failure, or "".
std::string failure(std::string_view bytes, const ReadLimits& limits) {
    auto source = memory_source("t", bytes, limits);
    if (!source.ok()) return source.error().message;
    std::string piece(1 << 20, '\0');
    for (;;) {
        auto got = (*source)->read(piece.data(), piece.size());
        if (!got.ok()) return got.error().message;
        if (*got == 0) return "";
    }
}

TEST(ReadLimits, RatioOfUnpackedToCompressedSize) {
    std::string zeros(40 << 20, '0');
    for (const std::string& packed : {gzip(zeros), zstd(zeros)}) {
        std::string refused = failure(packed, {});
        EXPECT_TRUE(refused.find("200 times") != refused.npos && refused.find("--unpack-ratio") != refused.npos)
            << refused;
        ReadLimits trusting;
        trusting.unpack_ratio = 1e6;
        EXPECT_EQ(failure(packed, trusting), "");
    }
    EXPECT_EQ(failure(gzip(zeros.substr(0, 30 << 20)), {}), "") << "small ones may have any ratio";
}

TEST(ReadLimits, UnpackedSize) {
    ReadLimits limits;
    limits.unpack_gib = 0.001;
    std::string refused = failure(gzip(std::string(2 << 20, '0')), limits);
    EXPECT_TRUE(refused.find("0.001 GiB") != refused.npos && refused.find("--unpack-gib") != refused.npos) << refused;
    EXPECT_EQ(failure(std::string(2 << 20, '0'), limits), "") << "what is not compressed has its size";
}

class PipeNamed : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0); }
    void TearDown() override { fs::remove(path_); }
    std::string path_ = fs::temp_directory_path() / ("gpuprof_pipe_test." + std::to_string(getpid()));
};

TEST_F(PipeNamed, IsNotWaitedForWithoutEnd) {
    ReadLimits limits;
    limits.pipe_wait = 0.05;
    auto nobody_writes = open_source(path_, limits);
    ASSERT_FALSE(nobody_writes.ok());
    const std::string& message = nobody_writes.error().message;
    EXPECT_TRUE(message.find(path_) != message.npos &&
                message.find("0.05 s; raise the limit with --pipe-wait") != message.npos)
        << message;
    int writer = open(path_.c_str(), O_RDWR);
    EXPECT_FALSE(open_source(path_, limits).ok()) << "a writer that says nothing";
    close(writer);
}

TEST_F(PipeNamed, IsRead) {
    std::thread writer([this] {
        int fd = open(path_.c_str(), O_WRONLY);
        EXPECT_EQ(write(fd, "by ", 3), 3);
        EXPECT_EQ(write(fd, "pipe", 4), 4);
        close(fd);
    });
    auto source = open_source(path_, ReadLimits{});
    writer.join();
    ASSERT_TRUE(source.ok());
    EXPECT_EQ((*source)->head(), "by pipe");
}

TEST(ReadLimits, DevicesAreRefused) {
    auto zero = open_source("/dev/zero");
    ASSERT_FALSE(zero.ok());
    EXPECT_NE(zero.error().message.find("/dev/zero: it is a device"), std::string::npos) << zero.error().message;
    int saved = dup(STDIN_FILENO), device = open("/dev/zero", O_RDONLY);
    dup2(device, STDIN_FILENO);
    EXPECT_FALSE(open_source("-").ok());
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(device);
}

TEST(ReadLimits, StandardInputByItsOtherName) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    int saved = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    std::thread late([end = ends[1]] {
        usleep(20'000);
        EXPECT_EQ(write(end, "late", 4), 4);
        close(end);
    });
    ReadLimits limits;
    limits.pipe_wait = 0.001;
    auto source = open_source("/dev/stdin", limits);
    late.join();
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    ASSERT_TRUE(source.ok()) << "standard input may wait without a limit";
    EXPECT_EQ((*source)->head(), "late");
}

}  // namespace
}  // namespace gpuprof::test
