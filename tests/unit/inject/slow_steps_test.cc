// Which steps are kept, with exact times.
#include "collect/inject/steps/slow_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace gpuprof::inject {
namespace {

constexpr std::int64_t kStepMs = 1'000'000, kStepSecond = 1000 * kStepMs;
// CLOCK_REALTIME is this much ahead, so that a confusion of the clocks shows.
constexpr std::int64_t kAhead = 1'000'000 * kStepSecond;

Moment at(std::int64_t steady) { return {steady + kAhead, steady}; }

class Process {
public:
    explicit Process(std::int64_t keep, std::int64_t trigger = 0) { steps.start(keep, trigger); }
    // A step of this length right after the one before.
    void step(std::int64_t length, std::uint32_t thread = 1) {
        take(StepEvent::begun, now, 0, thread);
        std::int64_t begin = now;
        now += length;
        take(StepEvent::ended, begin, now, thread);
    }
    void steps_of(std::int64_t length, int count, std::uint32_t thread = 1) {
        for (int i = 0; i < count; ++i) step(length, thread);
    }
    std::vector<std::uint64_t> kept() const {
        std::vector<std::uint64_t> found;
        for (std::size_t i = 0; i < steps.kept(); ++i) found.push_back(steps.kept(i).number);
        std::sort(found.begin(), found.end());
        return found;
    }

    void take(StepEvent::Kind kind, std::int64_t begin, std::int64_t end = 0, std::uint32_t thread = 1) {
        bool begins = kind == StepEvent::begun || kind == StepEvent::begun_by_mark;
        numbers[thread] += begins;
        steps.take({thread, kind, numbers[thread], at(begin), begins ? Moment{} : at(end)});
    }

    SlowSteps steps;
    std::map<std::uint32_t, std::uint64_t> numbers;  // of the last step of each thread
    std::int64_t now = 100 * kStepSecond;
};

using Numbers = std::vector<std::uint64_t>;

TEST(SlowSteps, TheSlowestAreKeptWithTheMedianBeforeThem) {
    Process process(2);
    process.steps_of(10 * kStepMs, 30);
    process.step(50 * kStepMs);  // 31
    process.steps_of(10 * kStepMs, 30);
    process.step(70 * kStepMs);  // 62
    process.steps_of(10 * kStepMs, 30);
    process.step(60 * kStepMs);  // 93
    EXPECT_EQ(process.kept(), (Numbers{62, 93}));
    for (std::size_t i = 0; i < 2; ++i) {
        const spool::KeptStep& step = process.steps.kept(i);
        EXPECT_EQ(step.median, 10 * kStepMs);
        EXPECT_EQ(step.end - step.begin, step.duration);
        EXPECT_EQ(step.begin - step.since, 10 * kStepMs);  // the step before
        EXPECT_GT(step.begin, kAhead);
        EXPECT_EQ(step.flags, 0u);
    }
    EXPECT_EQ(process.steps.series(0).ended, 93u);
    EXPECT_EQ(process.steps.series(0).slowest, 62u);
}

TEST(SlowSteps, OfEqualStepsTheFirstAfterTheWarmUpAreKept) {
    Process process(3);
    process.steps_of(10 * kStepMs, 500);
    EXPECT_EQ(process.kept(), (Numbers{11, 12, 13}));
}

TEST(SlowSteps, AFirstStepThatCompilesIsNotKept) {
    Process process(2);
    process.step(60 * kStepSecond);
    process.steps_of(10 * kStepMs, 50);
    EXPECT_EQ(process.kept(), (Numbers{11, 12}));
    EXPECT_EQ(process.steps.series(0).slowest_ns, 10 * kStepMs);
}

TEST(SlowSteps, AProgramOfFewStepsKeepsThoseOfTheWarmUp) {
    Process process(2);
    process.step(30 * kStepMs), process.step(10 * kStepMs), process.step(20 * kStepMs);
    EXPECT_EQ(process.kept(), (Numbers{1, 3}));
    EXPECT_EQ(process.steps.kept(0).flags, spool::KeptStep::kWarmUp);
    EXPECT_EQ(process.steps.kept(0).median, 0);
    EXPECT_EQ(process.steps.series(0).slowest, 0u);
}

TEST(SlowSteps, ATriggerComparesExactly) {
    constexpr std::int64_t kFactor = 1'004'000;  // 1.004
    Process process(10, kFactor);
    process.steps_of(1000 * kStepMs, 20);
    process.step(1004 * kStepMs);      // not longer than 1.004x
    process.step(1004 * kStepMs + 1);  // 22
    EXPECT_EQ(process.kept(), (Numbers{22}));
    EXPECT_EQ(process.steps.seen().fired, 1u);
}

TEST(SlowSteps, ATriggerThatNeverFiresKnowsTheSlowestStep) {
    Process process(10, 2 * 1'000'000);
    process.step(10 * kStepSecond);
    process.steps_of(10 * kStepMs, 40);
    process.step(19 * kStepMs);  // 42
    EXPECT_EQ(process.kept(), Numbers{});
    EXPECT_EQ(process.steps.series(0).slowest, 42u);
    EXPECT_EQ(process.steps.series(0).slowest_median, 10 * kStepMs);
}

TEST(SlowSteps, ATriggerNeverFiresInTheWarmUp) {
    Process process(10, 1'500'000);
    process.steps_of(10 * kStepMs, 9);
    process.step(50 * kStepMs);
    EXPECT_EQ(process.kept(), Numbers{});
    process.step(50 * kStepMs);
    EXPECT_EQ(process.kept(), (Numbers{11}));
}

TEST(SlowSteps, ATriggerKeepsTheSlowestOfThoseThatFire) {
    Process process(2, 1'500'000);
    process.steps_of(10 * kStepMs, 20);
    for (int length : {20, 40, 30, 25}) process.step(length * kStepMs), process.steps_of(10 * kStepMs, 20);
    EXPECT_EQ(process.steps.seen().fired, 4u);
    EXPECT_EQ(process.kept(), (Numbers{42, 63}));
}

TEST(SlowSteps, DriftDoesNotFireButShows) {
    Process process(10, 1'500'000);
    std::int64_t length = 10 * kStepMs;
    for (int i = 0; i < 300; ++i) process.step(length), length += length / 200;
    EXPECT_EQ(process.steps.seen().fired, 0u);
    EXPECT_GT(process.steps.series(0).last_median, 3 * process.steps.series(0).first_median);
}

TEST(SlowSteps, AChangeThatStaysFiresUntilItIsTheMedian) {
    Process process(64, 1'500'000);
    process.steps_of(10 * kStepMs, 100);
    process.steps_of(20 * kStepMs, 100);
    EXPECT_EQ(process.steps.seen().fired, 32u);  // half of the 64 steps of the median
}

TEST(SlowSteps, ThreadsAreComparedWithThemselves) {
    Process process(10, 1'500'000);
    for (int i = 0; i < 50; ++i) process.step(10 * kStepMs, 1), process.step(100 * kStepMs, 2);
    EXPECT_EQ(process.steps.seen().fired, 0u);
    process.step(30 * kStepMs, 1);
    ASSERT_EQ(process.steps.kept(), 1u);
    EXPECT_EQ(process.steps.kept(0).thread, 1u);
    EXPECT_EQ(process.steps.kept(0).number, 51u);
    EXPECT_EQ(process.steps.series(), 2u);
}

TEST(SlowSteps, TooManyThreadsAreCounted) {
    Process process(1);
    for (std::uint32_t thread = 1; thread <= 100; ++thread) process.step(kStepMs, thread);
    EXPECT_EQ(process.steps.series(), SlowSteps::kMaxSeries);
    EXPECT_EQ(process.steps.seen().unjudged, 100 - SlowSteps::kMaxSeries);
}

TEST(SlowSteps, AStepWithoutAnEndIsJudgedAtTheEndOfTheProcess) {
    Process process(1);
    process.steps_of(10 * kStepMs, 30);
    process.take(StepEvent::begun, process.now);
    EXPECT_EQ(process.steps.longest_open(process.now + 5 * kStepSecond), 5 * kStepSecond);
    process.steps.finish(at(process.now + 5 * kStepSecond));
    EXPECT_EQ(process.kept(), (Numbers{31}));
    EXPECT_EQ(process.steps.kept(0).flags, spool::KeptStep::kUnfinished);
    EXPECT_EQ(process.steps.kept(0).duration, 5 * kStepSecond);
}

TEST(SlowSteps, WhatFollowsTheLastMarkIsNoStep) {
    Process process(1);
    std::int64_t begin = process.now;
    process.take(StepEvent::begun_by_mark, begin);
    process.take(StepEvent::ended, begin, begin + kStepMs);
    process.take(StepEvent::begun_by_mark, begin + kStepMs);
    process.steps.finish(at(begin + 5 * kStepSecond));
    ASSERT_EQ(process.kept(), (Numbers{1}));
    EXPECT_EQ(process.steps.kept(0).flags, spool::KeptStep::kWarmUp | spool::KeptStep::kMark);
    EXPECT_EQ(process.steps.series(0).open_is_mark, 1u);
}

TEST(SlowSteps, TheStepInProgressAndTheOneBeforeAreNeeded) {
    Process process(1);
    process.steps_of(10 * kStepMs, 30);
    std::int64_t begin = process.now;
    process.take(StepEvent::begun, begin);
    EXPECT_EQ(process.steps.since(at(begin + kStepSecond)).steady, begin - 10 * kStepMs);
    EXPECT_EQ(process.steps.since(at(begin + kStepSecond)).real, begin - 10 * kStepMs + kAhead);
    process.take(StepEvent::ended, begin, begin + kStepSecond);
    // It may be the one before the next, but not for longer than it took.
    EXPECT_EQ(process.steps.since(at(begin + 2 * kStepSecond)).steady, begin);
    EXPECT_EQ(process.steps.since(at(begin + 3 * kStepSecond)).steady, begin + 3 * kStepSecond);
    EXPECT_TRUE(process.steps.kept_need(begin + kStepSecond + kStepSecond / 2,
                                        begin + 9 * kStepSecond));  // delivery of its records
    EXPECT_FALSE(process.steps.kept_need(begin + 3 * kStepSecond, begin + 9 * kStepSecond));
    EXPECT_TRUE(process.steps.kept_need(0, begin));
    EXPECT_FALSE(process.steps.kept_need(0, begin - 11 * kStepMs));
}

TEST(SlowSteps, APauseBetweenStepsIsNoContextButIsKnown) {
    Process process(1);
    process.steps_of(10 * kStepMs, 30);
    process.now += 7 * kStepSecond;
    process.step(50 * kStepMs);
    EXPECT_EQ(process.steps.kept(0).since, process.steps.kept(0).begin);
    EXPECT_EQ(process.steps.series(0).longest_between, 7 * kStepSecond);
}

TEST(SlowSteps, WhatIsGoneOfAStepIsSaid) {
    Process process(1);
    process.steps_of(10 * kStepMs, 30);
    std::int64_t begin = process.now;
    process.take(StepEvent::begun, begin);
    process.steps.forget_before(begin + 3 * kStepSecond);
    process.take(StepEvent::ended, begin, begin + 5 * kStepSecond);
    EXPECT_EQ(process.steps.kept(0).missing, 3 * kStepSecond);
}

TEST(SlowSteps, NumbersAreThoseOfTheProgramEvenIfEventsWereMissed) {
    Process process(1);
    process.steps_of(10 * kStepMs, 30);
    process.numbers[1] += 100;  // too fast for the queue
    process.step(50 * kStepMs);
    EXPECT_EQ(process.kept(), (Numbers{131}));
    EXPECT_EQ(process.steps.series(0).ended, 131u);
}

TEST(SlowSteps, AStepOutsideOfTheRecordingIsNotJudged) {
    Process process(1);
    process.take(StepEvent::begun, process.now);
    process.take(StepEvent::abandoned, process.now, process.now + kStepMs);
    EXPECT_EQ(process.steps.series(0).ended, 0u);
    EXPECT_EQ(process.steps.seen().unjudged, 1u);
}

}  // namespace
}  // namespace gpuprof::inject
