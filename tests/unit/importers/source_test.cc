// Sources: what a file, compressed or not, delivers, and how it fails.
#include "io/importers/source/source.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdio>
#include <filesystem>

#include "tests/unit/importers/read_text.h"

namespace gpuprof::test {
namespace {

struct Delivered {
    std::string text;
    bool damaged = false;
};

Delivered drain(std::string_view bytes, std::size_t step = 1000) {
    auto source = memory_source("t", bytes);
    Delivered all;
    if (!source) {
        ADD_FAILURE() << source.error().message;
        return all;
    }
    std::string buffer(step, '\0');
    for (std::size_t got = step; got == step;) {
        got = (*source)->read(buffer.data(), step).value();
        all.text.append(buffer, 0, got);
    }
    EXPECT_EQ((*source)->read(buffer.data(), step).value(), 0u);
    all.damaged = (*source)->damaged();
    return all;
}

// Longer than the head and than any buffer in between.
std::string long_text() {
    std::string text;
    for (int i = 0; text.size() < 1'000'000; ++i) text += std::to_string(i * 7919) + (i % 13 == 0 ? "\n" : ",");
    return text;
}

std::string zstd_of(std::string_view text) {
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
    return packed;
}

TEST(Source, DeliversBytesAsTheyAre) {
    std::string text = long_text();
    for (std::size_t step : {1000u, 65536u, 65537u, 4000000u}) EXPECT_EQ(drain(text, step).text, text);
    EXPECT_EQ(drain("").text, "");
}

TEST(Source, HeadDoesNotConsume) {
    std::string text = long_text();
    auto source = memory_source("t", text);
    ASSERT_TRUE(source.ok());
    EXPECT_EQ((*source)->head(), std::string_view(text).substr(0, 65536));
    std::string buffer(10, '\0');
    EXPECT_EQ((*source)->read(buffer.data(), 10).value(), 10u);
    EXPECT_EQ(buffer, text.substr(0, 10));
}

TEST(Source, Gzip) {
    std::string text = long_text();
    Delivered got = drain(gzip(text));
    EXPECT_TRUE(got.text == text);
    EXPECT_FALSE(got.damaged);
}

TEST(Source, GzipMembersFollowOneAnother) {
    std::string text = long_text();
    Delivered got = drain(gzip("first ") + gzip("") + gzip(text) + std::string(512, '\0'));
    EXPECT_TRUE(got.text == "first " + text);
    EXPECT_FALSE(got.damaged);
}

TEST(Source, DamagedGzipGivesWhatItHas) {
    std::string text = long_text();
    std::string whole = gzip(text);
    for (std::size_t cut : {whole.size() - 1, whole.size() - 9, whole.size() / 2, whole.size() / 10}) {
        Delivered got = drain(whole.substr(0, cut));
        EXPECT_TRUE(got.damaged) << cut;
        EXPECT_TRUE(text.starts_with(got.text)) << cut;
    }
    EXPECT_GT(drain(whole.substr(0, whole.size() / 2)).text.size(), text.size() / 4);
    std::string flipped = whole;
    flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 0x10);
    EXPECT_TRUE(drain(flipped).damaged);
    Delivered trailing = drain(whole + "junk");
    EXPECT_TRUE(trailing.damaged);
    EXPECT_TRUE(trailing.text == text);
}

// What a cut file still holds does not depend on how much is read at a time, though little input holds much output.
TEST(Source, ACutLosesTheSameInPiecesOfAnySize) {
    std::string zeros(3 << 20, '\0');
    for (const std::string& whole : {gzip(zeros), zstd_of(zeros)}) {
        std::string_view cut = std::string_view(whole).substr(0, whole.size() * 2 / 3);
        Delivered at_once = drain(cut, 1 << 20);
        EXPECT_TRUE(at_once.damaged);
        for (std::size_t piece : {999U, 24'736U, 65'536U})
            EXPECT_EQ(drain(cut, piece).text.size(), at_once.text.size());
    }
}

TEST(Source, Zstd) {
    std::string text = long_text();
    Delivered got = drain(zstd_of("a") + zstd_of(text));
    EXPECT_TRUE(got.text == "a" + text);
    EXPECT_FALSE(got.damaged);
    std::string whole = zstd_of(text);
    Delivered half = drain(whole.substr(0, whole.size() / 2));
    EXPECT_TRUE(half.damaged);
    EXPECT_TRUE(text.starts_with(half.text));
}

TEST(Source, RefusesWhatCannotBeRead) {
    auto missing = open_source("/no/such/file.json");
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, ExitCode::unreadable);
    EXPECT_EQ(missing.error().message, "cannot read /no/such/file.json: no such file");
    auto directory = open_source("/");
    ASSERT_FALSE(directory.ok());
    EXPECT_EQ(directory.error().code, ExitCode::unreadable);
    EXPECT_NE(directory.error().message.find("directory"), std::string::npos);
}

TEST(Source, StandardInput) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    int saved = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    std::string packed = gzip("from a pipe");
    ASSERT_EQ(write(ends[1], packed.data(), packed.size()), static_cast<ssize_t>(packed.size()));
    close(ends[1]);
    {
        auto source = open_source("-");
        ASSERT_TRUE(source.ok());
        EXPECT_EQ((*source)->name(), "-");
        EXPECT_EQ((*source)->head(), "from a pipe");
        EXPECT_EQ((*source)->plain_fd(), -1);
    }
    dup2(saved, STDIN_FILENO);
    close(saved);
}

TEST(Source, PlainFileKnowsItsSize) {
    std::string path = std::filesystem::temp_directory_path() / ("gpuprof_source_test." + std::to_string(getpid()));
    std::FILE* file = std::fopen(path.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    std::fputs("0123456789", file);
    std::fclose(file);
    auto source = open_source(path);
    ASSERT_TRUE(source.ok());
    EXPECT_EQ((*source)->plain_size(), 10u);
    char byte = 0;
    EXPECT_EQ(pread((*source)->plain_fd(), &byte, 1, 3), 1);
    EXPECT_EQ(byte, '3');
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace gpuprof::test
