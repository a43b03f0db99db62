// Large blocks in files: contents, limits, and folders that are not used.
#include "core/base/files/spill.h"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "core/base/large_vector.h"
#include "core/base/pod_vector.h"

namespace gpuprof::test {
namespace {

constexpr std::uint64_t kMB = 1'000'000;

// Everything goes to files, and pages are given back all the time.
constexpr std::size_t kSmallest = std::size_t{64} << 10;
SpillPlan everything() { return {{testing::TempDir()}, 0, 0, kSmallest}; }

std::uint64_t resident() {
    unsigned long long pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%*u %llu", &pages) != 1) pages = 0;
    if (file != nullptr) std::fclose(file);
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(Spill, KeepsContentsWhileBlocksGrow) {
    Spill spill(everything());
    PodVector<std::uint64_t> values;
    for (std::uint64_t i = 0; i < 2'000'000; ++i) values.push_back(i * i);
    EXPECT_GE(Spill::bytes(), 16 * kMB);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < 2'000'000; ++i) wrong += values[i] != i * i;
    EXPECT_EQ(wrong, 0u);
    values = {};
    EXPECT_EQ(Spill::bytes(), 0u);
}

TEST(Spill, ServesVectors) {
    Spill spill(everything());
    LargeVector<int> values;
    for (int i = 0; i < 1'000'000; ++i) values.push_back(i);
    EXPECT_GE(Spill::bytes(), 4 * kMB);
    LargeVector<int> copy = values;
    values = {};
    EXPECT_EQ(copy[999'999], 999'999);
}

TEST(Spill, BlocksOutliveIt) {
    PodVector<int> before(1'000'000, 1), during;
    {
        Spill spill(everything());
        during.resize(1'000'000, 2);
        before.resize(2'000'000, 3);
    }
    EXPECT_EQ(before[999'999], 1);
    EXPECT_EQ(before[1'999'999], 3);
    during.resize(3'000'000, 4);
    EXPECT_EQ(during[999'999], 2);
    EXPECT_EQ(during[2'999'999], 4);
}

TEST(Spill, WhatFitsStaysOnTheHeap) {
    SpillPlan plan = everything();
    plan.heap_bytes = 4 * kMB;
    Spill spill(plan);
    PodVector<char> small(1'000), fits(3 * kMB);
    EXPECT_EQ(Spill::bytes(), 0u);
    PodVector<char> more(2 * kMB);
    EXPECT_EQ(Spill::bytes(), 2 * kMB);
    PodVector<char> still_fits(kMB / 2);
    EXPECT_EQ(Spill::bytes(), 2 * kMB);
    fits = {};
    PodVector<char> fits_now(2 * kMB);
    EXPECT_EQ(Spill::bytes(), 2 * kMB);
}

TEST(Spill, BoundsResidentMemory) {
    constexpr std::uint64_t kAllowed = 48 * kMB, kOvershoot = 80 * kMB, kWritten = 256 * kMB;
    std::uint64_t before = resident(), most = 0;
    SpillPlan plan = everything();
    plan.resident_bytes = before + kAllowed;
    Spill spill(plan);
    PodVector<char> values(kWritten);
    for (std::uint64_t at = 0; at < kWritten; at += kMB) {
        std::memset(values.data() + at, static_cast<int>(at / kMB % 251), kMB);
        most = std::max(most, resident());
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_LT(most, before + kAllowed + kOvershoot);
    std::uint64_t wrong = 0;
    for (std::uint64_t at = 0; at < kWritten; ++at) wrong += values[at] != static_cast<char>(at / kMB % 251);
    EXPECT_EQ(wrong, 0u);
}

TEST(Spill, ThreadsGrowBlocksOfTheirOwn) {
    Spill spill(everything());
    std::vector<std::thread> threads;
    std::vector<std::uint64_t> sums(4);
    for (std::uint64_t part = 0; part < sums.size(); ++part)
        threads.emplace_back([&sums, part] {
            for (int turn = 0; turn < 10; ++turn) {
                PodVector<std::uint64_t> values;
                for (std::uint64_t i = 0; i < 100'000; ++i) values.push_back(part);
                for (std::uint64_t value : values) sums[part] += value;
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (std::uint64_t part = 0; part < sums.size(); ++part) EXPECT_EQ(sums[part], part * 1'000'000);
    EXPECT_EQ(Spill::bytes(), 0u);
}

TEST(Spill, FoldersInMemoryAreNotUsed) {
    struct statfs about {};
    if (statfs("/dev/shm", &about) != 0 || about.f_type != TMPFS_MAGIC) GTEST_SKIP() << "/dev/shm is not in memory";
    SpillPlan plan = everything();
    plan.folders = {"/dev/shm", "/nonexistent"};
    Spill spill(plan);
    PodVector<char> values(4 * kMB);
    EXPECT_EQ(Spill::bytes(), 0u);
}

TEST(Spill, FoldersAreTriedInOrder) {
    ASSERT_EQ(setenv("TMPDIR", "/somewhere", 1), 0);
    EXPECT_EQ(spill_folders("cache"), (std::vector<std::string>{"/somewhere", "cache", "/var/tmp", "/tmp"}));
    ASSERT_EQ(unsetenv("TMPDIR"), 0);
    EXPECT_EQ(spill_folders(""), (std::vector<std::string>{".", "/var/tmp", "/tmp"}));
}

}  // namespace
}  // namespace gpuprof::test
