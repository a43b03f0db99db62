// Words and intervals, and how often they are wrong, by seeded trials on drawn recordings (docs/commands/compare.md states the rates).
#include "compare/change.h"

#include <gtest/gtest.h>

#include <vector>

#include "compare/comparison.h"
#include "tests/unit/compare/steps.h"

namespace gpuprof::compare {
namespace {

constexpr int kTrials = 200;

// How many of the trials end with `word` for the median step.
int count(Word word, const Loop& base, const Loop& next) {
    int hits = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
        auto seed = static_cast<std::uint64_t>(trial);
        auto before = run_of(base, 2 * seed + 1);
        auto after = run_of(next, 2 * seed + 2);
        hits +=
            change_of_samples(before.metric(Metric::step_p50).samples, after.metric(Metric::step_p50).samples, "steps")
                .word == word;
    }
    return hits;
}

// A true rate of 1 % gives more than 7 of 200 in less than 1 of 1,000 sets of trials.
constexpr int kRare = 7;

TEST(CompareTrials, NoiseOfThreePercentIsTheSame) {
    Loop loop{.steps = 200, .noise = 0.03};
    EXPECT_GE(count(Word::same, loop, loop), kTrials - kRare);
}

TEST(CompareTrials, NoiseIsSeldomCalledAChange) {
    Loop loop{.steps = 30, .noise = 0.03};
    EXPECT_LE(count(Word::higher, loop, loop) + count(Word::lower, loop, loop), kRare);
}

TEST(CompareTrials, FivePercentUnderOnePercentOfNoiseIsFound) {
    Loop base{.steps = 20, .noise = 0.01}, slower{.steps = 20, .noise = 0.01, .factor = 1.05};
    EXPECT_GE(count(Word::higher, base, slower), kTrials - kRare);
    EXPECT_GE(count(Word::lower, slower, base), kTrials - kRare);
}

TEST(CompareTrials, AChangeOfThreePercentIsSeldomCalledTheSame) {
    Loop base{.steps = 200, .noise = 0.03}, slower{.steps = 200, .noise = 0.03, .factor = 1.03};
    EXPECT_LE(count(Word::same, base, slower), kRare);
}

// Recordings that differ as wholes by 3 %, as no step shows: only repeats can tell.
TEST(CompareTrials, RepeatsSeeWhatDiffersBetweenRecordings) {
    int wrong = 0, found = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
        measure::Random random(static_cast<std::uint64_t>(trial));
        auto runs = [&](double mean, double noise) {
            std::vector<double> values;
            for (int i = 0; i < 5; ++i) values.push_back(mean * (1 + noise * random.normal()));
            return values;
        };
        Word none = change_of_runs(runs(100, 0.03), runs(100, 0.03)).word;
        wrong += none == Word::higher || none == Word::lower;
        found += change_of_runs(runs(100, 0.01), runs(105, 0.01)).word == Word::higher;
    }
    EXPECT_LE(wrong, kRare);
    EXPECT_GE(found, kTrials * 9 / 10);
}

TEST(Change, EqualSamplesAreTheSameWithZeroDifference) {
    std::vector<double> samples = {3, 1, 2};
    Change change = change_of_samples(samples, samples, "steps");
    EXPECT_EQ(change.word, Word::same);
    EXPECT_EQ(change.pct, 0);
    EXPECT_EQ(change.interval->low, 0);
    EXPECT_EQ(change.interval->high, 0);
}

TEST(Change, FewSamplesCannotTell) {
    std::vector<double> base = {1, 1.1, 1.2}, next = {2, 2.1, 2.2};
    Change change = change_of_samples(base, next, "steps");
    EXPECT_EQ(change.word, Word::cannot_tell);
    EXPECT_NE(change.because.find("too few"), std::string::npos);
    ASSERT_TRUE(change.pct);
    EXPECT_NEAR(*change.pct, 90.9, 0.1);
}

TEST(Change, OneValueASideCannotTellUnlessEqual) {
    EXPECT_EQ(change_of_values(1.0, 2.0).word, Word::cannot_tell);
    EXPECT_EQ(change_of_values(2.0, 2.0).word, Word::same);
    EXPECT_FALSE(change_of_values(std::nullopt, 2.0).pct);
    EXPECT_FALSE(change_of_values(0.0, 2.0).pct);
}

// One recording against three that hardly differ, as history checks it.
TEST(Change, OneRunAgainstThree) {
    std::vector<double> three = {100, 100.1, 99.9}, slow = {110}, alike = {100.05};
    EXPECT_EQ(change_of_runs(three, slow).word, Word::higher);
    EXPECT_EQ(change_of_runs(three, alike).word, Word::same);
}

// Table of the t distribution in any textbook.
TEST(Change, QuantilesOfStudentsT) {
    EXPECT_NEAR(student_t(0.95, 1), 12.706, 1e-3);
    EXPECT_NEAR(student_t(0.95, 2), 4.303, 1e-3);
    EXPECT_NEAR(student_t(0.95, 9), 2.262, 1e-3);
    EXPECT_NEAR(student_t(0.99, 4), 4.604, 1e-3);
    EXPECT_NEAR(student_t(0.99, 30), 2.750, 1e-3);
}

}  // namespace
}  // namespace gpuprof::compare
