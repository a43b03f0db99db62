// Lengths of points are exact, however long they are, whatever was there before, and in a copy.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "analyze/replay/graph.h"

namespace gpuprof::test {
namespace {

constexpr DurNs kMost = (1 << 23) - 1, kLeast = -(1 << 22);  // of what three bytes hold beside places in the list

std::vector<DurNs> around_the_limits() {
    using Limits = std::numeric_limits<DurNs>;
    return {0,         1,          -1,     kMost,     kMost + 1,    kLeast,        kLeast - 1,
            2 * kMost, 2 * kLeast, 1 << 3, 1LL << 31, -(1LL << 31), Limits::max(), Limits::min()};
}

PointLengths lengths_of(const std::vector<DurNs>& values) {
    PointLengths lengths;
    lengths.reserve(values.size());
    for (DurNs value : values) lengths.push_back(value);
    return lengths;
}

void expect_lengths(const PointLengths& lengths, const std::vector<DurNs>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(lengths[static_cast<Point>(i)], values[i]) << i;
}

TEST(PointLengths, AreExact) { expect_lengths(lengths_of(around_the_limits()), around_the_limits()); }

TEST(PointLengths, AreReplacedAndCopied) {
    const std::vector<DurNs> values = around_the_limits();
    PointLengths copy;
    for (std::size_t shift = 0; shift < values.size(); ++shift) {
        PointLengths lengths = lengths_of(values);
        copy.take(lengths);
        std::vector<DurNs> shifted;
        for (std::size_t i = 0; i < values.size(); ++i) {
            shifted.push_back(values[(i + shift) % values.size()]);
            lengths.set(static_cast<Point>(i), shifted[i]);
        }
        expect_lengths(lengths, shifted);
        expect_lengths(copy, values);
    }
}

TEST(PointLengths, AreExactWhenTheListIsFull) {
    const Point full = (1 << 22) - 1, more = full + 1000;
    PointLengths lengths;
    lengths.reserve(more);
    for (Point p = 0; p < more; ++p) lengths.push_back(kMost + 1 + p);
    PointLengths copy;
    copy.take(lengths);
    for (Point p : {Point{0}, full - 1, full, full + 1, more - 1}) {
        EXPECT_EQ(lengths[p], kMost + 1 + p);
        lengths.set(p, 2);
        EXPECT_EQ(lengths[p], 2);
        lengths.set(p, kLeast - 1);
        EXPECT_EQ(lengths[p], kLeast - 1);
        EXPECT_EQ(copy[p], kMost + 1 + p);
    }
}

}  // namespace
}  // namespace gpuprof::test
