// Interval algebra against a model that cannot be wrong: a set of single nanoseconds.
#include "core/model/interval.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace gpuprof {
namespace {

using Points = std::set<TimeNs>;

Points points_of(const IntervalSet& set) {
    Points points;
    for (const Interval& interval : set)
        for (TimeNs t = interval.start; t < interval.end; ++t) points.insert(t);
    return points;
}

Intervals random_intervals(std::mt19937& random) {
    Intervals intervals;
    auto pick = [&](int bound) { return static_cast<TimeNs>(random() % static_cast<unsigned>(bound)); };
    for (TimeNs n = pick(12); n > 0; --n) {
        TimeNs start = pick(60);
        intervals.push_back({start, start + pick(12)});
    }
    return intervals;
}

bool is_normal(const IntervalSet& set) {
    for (std::size_t i = 0; i < set.size(); ++i)
        if (set[i].end <= set[i].start || (i > 0 && set[i].start <= set[i - 1].end)) return false;
    return true;
}

TEST(Interval, OperationsEqualSetsOfPoints) {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        IntervalSet a = unite(random_intervals(random)), b = unite(random_intervals(random));
        Points pa = points_of(a), pb = points_of(b), both, either = pa, only_a = pa;
        either.insert(pb.begin(), pb.end());
        for (TimeNs t : pb) {
            if (pa.contains(t)) both.insert(t);
            only_a.erase(t);
        }
        for (const IntervalSet& set : {a, b, unite(a, b)}) ASSERT_TRUE(is_normal(set));
        ASSERT_EQ(points_of(unite(a, b)), either);
        ASSERT_EQ(points_of(intersect(a, b)), both);
        ASSERT_EQ(points_of(subtract(a, b)), only_a);
        ASSERT_EQ(length(a), static_cast<DurNs>(pa.size()));
        ASSERT_EQ(length(intersect(a, b)), length(intersect(b, a)));
    }
}

TEST(Interval, BusyPlusIdleIsTheWindow) {
    std::mt19937 random(8);
    for (int round = 0; round < 2000; ++round) {
        Interval window{-5, 80};
        IntervalSet busy = unite(random_intervals(random)), idle = complement(busy, window);
        ASSERT_EQ(length(busy) + length(idle), window.length());
        ASSERT_TRUE(intersect(busy, idle).empty());
        ASSERT_EQ(unite(busy, idle), (IntervalSet{window}));
    }
}

TEST(Interval, LengthWithinCutsAtTheEdges) {
    std::mt19937 random(9);
    for (int round = 0; round < 2000; ++round) {
        IntervalSet set = unite(random_intervals(random));
        TimeNs start = static_cast<TimeNs>(random() % 70);
        Interval within{start, start + static_cast<TimeNs>(random() % 30)};
        ASSERT_EQ(length_within(set, within), length(intersect(set, unite({within}))));
    }
}

TEST(Interval, TouchingBecomeOneAndEmptyVanish) {
    EXPECT_EQ(unite({{0, 5}, {5, 7}, {9, 9}}), (IntervalSet{{0, 7}}));
    EXPECT_TRUE(complement({{0, 5}}, {0, 5}).empty());
}

}  // namespace
}  // namespace gpuprof
