// The bounds of what is on disk while steps are chosen. No file exists: only the list of parts is under test.
#include "collect/inject/spool/part_ring.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/ids.h"

namespace gpuprof::inject {
namespace {

constexpr const char* kNowhere = "/nonexistent";

class Work {
public:
    explicit Work(std::int64_t keep, std::uint64_t ring_bytes = 0) {
        steps.start(keep, 0);
        EXPECT_TRUE(ring.start(ring_bytes));
    }
    // One step; the spool thread looks every `interval`.
    void step(std::int64_t length, std::int64_t interval, std::uint64_t bytes_per_second = 0) {
        std::int64_t begin = now;
        steps.take({1, StepEvent::begun, ++number, {now, now}, {}});
        while (now - begin < length) {
            now += std::min(interval, length - (now - begin));
            look(bytes_per_second);
        }
        steps.take({1, StepEvent::ended, number, {begin, begin}, {now, now}});
    }
    void look(std::uint64_t bytes_per_second) {
        auto bytes = static_cast<std::uint64_t>(now - began) * bytes_per_second / kSecond;
        if (!PartRing::ends(steps, began, bytes, now)) return;
        ring.add({began, began, now, bytes});
        ring.discard(kNowhere, steps, steps.since({now, now}).steady - kSecond);
        began = now;
        most = std::max(most, ring.parts());
    }

    SlowSteps steps;
    PartRing ring;
    std::int64_t now = kSecond, began = kSecond;
    std::size_t most = 0;
    std::uint64_t number = 0;
};

TEST(PartRing, TheDiskHoldsTheKeptStepsAndTheLastOnes) {
    Work job(3);
    for (int i = 1; i <= 20'000; ++i)
        job.step(i % 1000 == 0 ? (50 + i / 1000) * kMillisecond : 10 * kMillisecond, 10 * kMillisecond);
    // Each kept step with its second of delivery is in at most 4 parts, and so are the last steps.
    EXPECT_LE(job.most, 16u);
    EXPECT_GE(job.ring.parts(), 3u);
}

TEST(PartRing, AStepOfADayHasFewerThanAHundredParts) {
    Work job(1);
    job.step(86'400 * kSecond, 100 * kMillisecond);
    EXPECT_LT(job.most, 100u);
    EXPECT_GT(job.most, 50u);
}

TEST(PartRing, SixtyFourStepsOfADayFit) {
    Work job(64);
    for (int i = 0; i < 100; ++i) job.step((86'400 + i) * kSecond, 60 * kSecond);
    EXPECT_LT(job.most, PartRing::kMaxParts);
    EXPECT_EQ(job.steps.kept(), 64u);
}

TEST(PartRing, AStepThatIsTooLargeLosesItsBeginningAndSaysSo) {
    constexpr std::uint64_t kMebibyte = 1 << 20;
    Work job(1, 100 * kMebibyte);
    for (int i = 0; i < 20; ++i) job.step(10 * kMillisecond, 10 * kMillisecond, kMebibyte);
    job.step(60 * kSecond, 10 * kMillisecond, 10 * kMebibyte);
    ASSERT_EQ(job.steps.kept(), 1u);
    // 10 MiB a second: ten of its sixty seconds fit, and what is being written.
    EXPECT_GE(job.steps.kept(0).missing, 35 * kSecond);
    EXPECT_LE(job.steps.kept(0).missing, 51 * kSecond);
}

TEST(PartRing, WhatAKeptStepNeedsStays) {
    Work job(1, 1);
    for (int i = 0; i < 20; ++i) job.step(10 * kMillisecond, 10 * kMillisecond, 1000);
    job.step(2 * kSecond, 10 * kMillisecond, 1000);
    std::size_t parts = job.ring.parts();
    EXPECT_GT(job.steps.kept(0).missing, 0);
    for (int i = 0; i < 2000; ++i) job.step(10 * kMillisecond, 10 * kMillisecond, 1000);
    EXPECT_GE(job.ring.parts() + 1, parts);
    EXPECT_LE(job.ring.parts(), 8u);
}

}  // namespace
}  // namespace gpuprof::inject
