// Statistics against definitions written out: nearest rank by counting, sums beyond 64 bits.
#include "analyze/facts/stat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace gpuprof {
namespace {

// The definition: the smallest sample with at least p % of the samples at or below it.
std::int64_t by_counting(const std::vector<std::int64_t>& samples, unsigned p) {
    std::int64_t best = INT64_MAX;
    for (std::int64_t candidate : samples) {
        std::size_t at_or_below = 0;
        for (std::int64_t sample : samples) at_or_below += sample <= candidate;
        if (at_or_below * 100 >= p * samples.size()) best = std::min(best, candidate);
    }
    return best;
}

TEST(Stat, PercentilesAreNearestRank) {
    std::mt19937 random(7);
    for (std::size_t n = 1; n <= 130; ++n) {
        std::vector<std::int64_t> samples(n);
        for (auto& sample : samples) sample = static_cast<std::int64_t>(random() % 50);
        Stat stat = [copy = samples]() mutable { return stat_of(copy); }();
        EXPECT_EQ(stat.p50, by_counting(samples, 50)) << n;
        EXPECT_EQ(stat.p95, by_counting(samples, 95)) << n;
        for (unsigned p : {1u, 5u, 99u, 100u}) {
            std::vector<std::int64_t> copy = samples;
            EXPECT_EQ(nearest_rank(copy, p), by_counting(samples, p)) << n << " at " << p;
        }
    }
}

TEST(Stat, OfAFewByHand) {
    std::vector<std::int64_t> samples{7, 1, 4, 4};
    Stat stat = stat_of(samples);
    EXPECT_EQ(stat.count, 4u);
    EXPECT_EQ(stat.sum.value(), 16);
    EXPECT_EQ(stat.min, 1);
    EXPECT_EQ(stat.max, 7);
    EXPECT_DOUBLE_EQ(stat.mean, 4.0);
    EXPECT_DOUBLE_EQ(stat.std, std::sqrt(4.5));  // (9 + 9 + 0 + 0) / 4
}

TEST(Stat, SumsNeverWrap) {
    std::vector<std::int64_t> samples(8, std::int64_t{1} << 61);
    Stat stat = stat_of(samples);
    EXPECT_FALSE(stat.sum.value().has_value());  // 2^64 does not fit, and is not clamped
    EXPECT_DOUBLE_EQ(stat.mean, std::pow(2.0, 61));
    EXPECT_EQ(stat.std, 0.0);
    WideSum sum = stat.sum;
    for (int i = 0; i < 5; ++i) sum.subtract(std::int64_t{1} << 61);
    EXPECT_EQ(sum.value(), std::int64_t{3} << 61);
}

}  // namespace
}  // namespace gpuprof
