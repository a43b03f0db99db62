#include "measure/statistics.h"

#include <gtest/gtest.h>

#include <numeric>

#include "measure/bench_comparison.h"
#include "measure/stopping.h"
#include "tests/unit/measure/noise.h"

namespace gpuprof::measure {
namespace {

std::vector<double> one_to(int n) {
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 1.0);
    return values;
}

TEST(Statistics, PercentilesAreSamples) {
    Statistics found = statistics_of(std::vector<double>{4, 1, 3, 2});
    EXPECT_EQ(found.median, 2);  // nearest rank, as in GLOSSARY.md
    EXPECT_EQ(found.p5, 1);
    EXPECT_EQ(found.p25, 1);
    EXPECT_EQ(found.p75, 3);
    EXPECT_EQ(found.p95, 4);
    EXPECT_EQ(found.mean, 2.5);
    EXPECT_NEAR(found.std, 1.118034, 1e-6);
}

// n = 10: P(X <= 1) = 11/1024, so [x2, x9] covers with 1 - 22/1024 = 97.85 %; [x3, x8] with 89 % only.
TEST(Statistics, IntervalIsThatOfTheBinomialDistribution) {
    auto interval = median_interval_of(one_to(10), 0.95, 10);
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->low, 2);
    EXPECT_EQ(interval->high, 9);
    EXPECT_NEAR(interval->level, 1 - 22.0 / 1024, 1e-9);
    interval = median_interval_of(one_to(6), 0.95, 6);
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->low, 1);
    EXPECT_EQ(interval->high, 6);
    EXPECT_NEAR(interval->level, 1 - 2.0 / 64, 1e-9);
}

TEST(Statistics, BothWaysToAnIntervalAgreeWhereTheyMeet) {
    auto summed = median_interval_of(one_to(400), 0.95, 400), normal = median_interval_of(one_to(401), 0.95, 401);
    EXPECT_NEAR(summed->low, normal->low, 2);
    EXPECT_NEAR(summed->high, normal->high, 2);
}

TEST(Statistics, FewSamplesHaveNoIntervalAndSayWhy) {
    EXPECT_EQ(min_count_for(0.95), 6U);
    EXPECT_EQ(min_count_for(0.99), 8U);
    Statistics found = statistics_of(std::vector<double>{1, 2, 3, 4, 5});
    EXPECT_FALSE(found.median_interval);
    EXPECT_EQ(found.no_interval_because, "5 samples, equivalent to 5 independent ones; a 95 % interval needs 6");
    EXPECT_FALSE(statistics_of({}).median_interval);
    EXPECT_EQ(statistics_of({}).count, 0U);
}

TEST(Statistics, EqualSamplesAreKnownExactly) {
    Statistics found = statistics_of(std::vector<double>(100, 5.0));
    EXPECT_EQ(found.median, 5);
    EXPECT_EQ(*found.precision, 0);
    EXPECT_EQ(found.noise, 0);
    EXPECT_FALSE(found.bimodal);
    EXPECT_FALSE(found.drift);
}

TEST(Statistics, OutliersAreCountedAndKept) {
    std::vector<double> samples = one_to(20);
    samples.push_back(1000);
    samples.push_back(-1000);
    Statistics found = statistics_of(samples);
    EXPECT_EQ(found.outliers_high, 1U);
    EXPECT_EQ(found.outliers_low, 1U);
    EXPECT_EQ(found.max, 1000);
    EXPECT_EQ(found.count, 22U);
}

TEST(Statistics, TellsTwoModesFromOne) {
    Random random(3);
    EXPECT_TRUE(statistics_of(times(random, Noise::bimodal, 100, 0.01, 200)).bimodal);
    EXPECT_FALSE(statistics_of(times(random, Noise::normal, 100, 0.01, 200)).bimodal);
    EXPECT_FALSE(statistics_of(times(random, Noise::skewed, 100, 0.5, 200)).bimodal);
    std::vector<double> with_outliers = times(random, Noise::normal, 100, 0.01, 200);
    with_outliers[7] = with_outliers[70] = 200;
    EXPECT_FALSE(statistics_of(with_outliers).bimodal);
}

TEST(Statistics, TellsDriftAndNeighboursThatAreAlike) {
    Random random(4);
    EXPECT_GT(statistics_of(one_to(50)).drift.value_or(0), 0.99);
    Statistics alike = statistics_of(dependent_times(random, 100, 0.01, 0.9, 5000));
    EXPECT_LT(alike.effective_count, 1000);
    EXPECT_GT(alike.lag1, 0.5);
    Statistics plain = statistics_of(times(random, Noise::normal, 100, 0.01, 5000));
    EXPECT_EQ(plain.effective_count, 5000);
    EXPECT_FALSE(plain.drift);
    // A long drift costs no more time than anything else, and is worth next to nothing.
    EXPECT_LT(statistics_of(one_to(100'000)).effective_count, 10);
}

TEST(Comparison, SaysWhyItCannotTell) {
    Random random(9);
    std::vector<double> few = {1, 2, 3}, none, zeros(50, 0.0), fine = times(random, Noise::normal, 100, 0.1, 50);
    EXPECT_EQ(compare(none, fine).reason, "a side has no samples");
    EXPECT_FALSE(compare(none, fine).speedup);
    EXPECT_NE(compare(few, fine).reason.find("too few"), std::string::npos);
    EXPECT_EQ(*compare(few, few).speedup, 1);
    EXPECT_NE(compare(fine, zeros).reason.find("too short for the timer"), std::string::npos);
    EXPECT_NE(compare(fine, fine).reason.find("both directions"), std::string::npos);
    for (const Comparison& found : {compare(none, fine), compare(few, fine), compare(fine, zeros), compare(fine, fine)})
        EXPECT_EQ(found.verdict, SpeedVerdict::cannot_tell);
}

TEST(Comparison, IsTheSameEveryTime) {
    Random random(5);
    std::vector<double> a = times(random, Noise::normal, 200, 0.02, 100),
                        b = times(random, Noise::normal, 100, 0.02, 100);
    Comparison first = compare(a, b), second = compare(a, b);
    EXPECT_EQ(first.interval->low, second.interval->low);
    EXPECT_NEAR(*first.speedup, 2, 0.05);
    EXPECT_EQ(first.verdict, SpeedVerdict::faster);
    EXPECT_EQ(compare(b, a).verdict, SpeedVerdict::slower);
    EXPECT_LT(first.strict_interval->low, first.interval->low);
}

TEST(Comparison, ChangesBelowTheSmallestEffectAreNone) {
    Random random(6);
    std::vector<double> a = times(random, Noise::normal, 100.3, 0.001, 500),
                        b = times(random, Noise::normal, 100, 0.001, 500);
    EXPECT_EQ(compare(a, b).verdict, SpeedVerdict::same);
    EXPECT_EQ(compare(a, b, {.min_effect = 0.001}).verdict, SpeedVerdict::faster);
    EXPECT_EQ(compare(a, b, {.paired = true, .min_effect = 0.001}).verdict, SpeedVerdict::faster);
}

TEST(Warmup, EndsWhenMediansAgreeTwiceAndTheTimeIsUp) {
    Warmup warmup({.min_time = 1000, .max_time = 1'000'000, .window = 3});
    TimeNs now = 0;
    // Medians of three: 500, 100, 100, 100, and the second agreement is at the twelfth call.
    for (double ns : {900.0, 500.0, 300.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0}) {
        warmup.add(ns, now += static_cast<DurNs>(ns));
        EXPECT_FALSE(warmup.over());
    }
    warmup.add(100, now += 100);
    EXPECT_TRUE(warmup.over());
    EXPECT_TRUE(warmup.seen().settled);
    EXPECT_EQ(warmup.seen().first_ns, 900);
    EXPECT_EQ(warmup.seen().last_ns, 100);
    EXPECT_EQ(warmup.seen().calls, 12U);
}

TEST(Warmup, EndsUnsettledAtTheLongestTime) {
    Warmup warmup({.min_time = 0, .max_time = 1000, .window = 2});
    double ns = 1000;
    for (TimeNs now = 0; !warmup.over(); ns *= 0.7) warmup.add(ns, now += 100);
    EXPECT_FALSE(warmup.seen().settled);
    EXPECT_EQ(warmup.seen().calls, 10U);
    Warmup single({.max_time = 0});
    single.add(77, 77);
    EXPECT_TRUE(single.over());
    EXPECT_EQ(single.seen().last_ns, 77);
}

TEST(Stopping, FollowsEachRule) {
    EXPECT_EQ(*find_stop_rule("entropy"), StopRule::entropy);
    EXPECT_FALSE(find_stop_rule("never").ok());
    Stopping by_number({.rule = StopRule::samples, .min_samples = 3});
    for (int i = 0; i < 2; ++i) by_number.add(1);
    EXPECT_FALSE(by_number.reason(1'000'000'000));
    by_number.add(1);
    EXPECT_EQ(by_number.reason(0), StopReason::enough_samples);
    Stopping by_time({.rule = StopRule::time, .min_time = 100});
    by_time.add(1);
    EXPECT_FALSE(by_time.reason(99));
    EXPECT_EQ(by_time.reason(100), StopReason::enough_time);
    Stopping precise({.min_time = 100, .min_samples = 10});
    for (int i = 0; i < 10; ++i) precise.add(1000);
    EXPECT_FALSE(precise.reason(99));
    EXPECT_EQ(precise.reason(100), StopReason::precise);
}

TEST(Stopping, EntropyEndsWhenSamplesSayNothingNew) {
    Random random(8);
    StoppingOptions options{.rule = StopRule::entropy, .min_time = 0};
    Stopping noisy(options), flat(options);
    int noisy_count = 0, flat_count = 0;
    for (; !flat.reason(1); ++flat_count) flat.add(1000);
    for (; !noisy.reason(1); ++noisy_count) noisy.add(1000 * (1 + 0.05 * random.normal()));
    EXPECT_LT(flat_count, noisy_count);
    EXPECT_LT(noisy_count, 20'000);
}

}  // namespace
}  // namespace gpuprof::measure
