// Words and intervals of single comparisons; change_trials_test.cc says how often they are wrong.
#include "compare/change.h"

#include <gtest/gtest.h>

#include <vector>

#include "compare/comparison.h"
#include "measure/random.h"

namespace gpuprof::compare {
namespace {

constexpr int kTrials = 200;

// A true rate of 1 % gives more than 7 of 200 in less than 1 of 1,000 sets of trials.
constexpr int kRare = 7;

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

TEST(Change, FewSamplesTellOnlyWhatIsFarBeyondThem) {
    std::vector<double> base = {100, 103, 101}, double_that = {201, 206, 200}, near = {115, 112, 119};
    Change change = change_of_samples(base, double_that, "steps");
    EXPECT_EQ(change.word, Word::higher);
    EXPECT_TRUE(change.few);
    EXPECT_NE(change.because.find("low confidence"), std::string::npos);
    ASSERT_TRUE(change.pct);
    EXPECT_NEAR(*change.pct, 99.0, 0.1);
    change = change_of_samples(base, near, "steps");
    EXPECT_EQ(change.word, Word::cannot_tell);
    EXPECT_NE(change.because.find("too few"), std::string::npos);
    EXPECT_EQ(change_of_means(base, double_that, "steps").word, Word::higher);
    EXPECT_EQ(change_of_p95(base, double_that, "steps").word, Word::cannot_tell);
}

// A first step that is warm-up is no evidence against the rest.
TEST(Change, OneSampleOnASideCannotTell) {
    std::vector<double> first = {300}, rest = {100, 101, 100.5, 100.2};
    EXPECT_EQ(change_of_samples(first, rest, "steps").word, Word::cannot_tell);
    EXPECT_EQ(change_of_samples(rest, first, "steps").word, Word::cannot_tell);
}

TEST(Change, SumsOfUnequallyManySamplesAreNotCompared) {
    std::vector<double> base = {100, 101, 102}, next = {201, 202, 203}, longer = {201, 202, 203, 204};
    EXPECT_EQ(change_of_sums(base, next, "steps").word, Word::higher);
    EXPECT_EQ(*change_of_sums(base, next, "steps").base, 303);
    Change change = change_of_sums(base, longer, "steps");
    EXPECT_EQ(change.word, Word::cannot_tell);
    EXPECT_EQ(*change.next, 810);
}

// 20 of 200 steps doubled: the median is the same, the 95th percentile is twice as much.
TEST(Change, ThePercentileOf95SeesATail) {
    std::vector<double> base, next;
    for (int i = 0; i < 200; ++i)
        base.push_back(100 + 0.01 * (i * 7 % 13)), next.push_back(base.back() * (i % 10 == 0 ? 2 : 1));
    EXPECT_EQ(change_of_samples(base, next, "steps").word, Word::same);
    EXPECT_EQ(change_of_p95(base, next, "steps").word, Word::higher);
    EXPECT_EQ(change_of_means(base, next, "steps").word, Word::higher);
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
