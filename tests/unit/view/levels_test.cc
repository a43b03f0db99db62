// Levels against the definition: what each must hold is computed from the events themselves, bin by bin.
#include "present/view/levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

namespace gpuprof {
namespace {

// Disjoint slices with mostly short lengths and some very long ones, as a stream has them.
Slices random_lane(std::uint32_t seed, std::size_t events) {
    std::mt19937 random(seed);
    auto pick = [&](std::uint32_t bound) { return static_cast<TimeNs>(random() % bound); };
    Slices lane;
    TimeNs at = pick(1000);
    for (std::size_t i = 0; i < events; ++i) {
        DurNs dur = pick(20) == 0 ? pick(1'000'000) : pick(3000);
        lane.push_back({at, dur, StringId{static_cast<std::uint32_t>(pick(5))}, static_cast<Row>(i)});
        at += dur + (pick(50) == 0 ? pick(2'000'000) : pick(500));
    }
    return lane;
}

TEST(Levels, HoldWhatTheDefinitionSays) {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        Slices lane = random_lane(seed, 20'000);
        auto levels = levels_of(lane);
        ASSERT_FALSE(levels.empty());
        std::size_t before = lane.size();
        for (const Level<MergedSlice>& level : levels) {
            EXPECT_LE(level.items.size(), before / 2);
            before = level.items.size();
            std::map<std::pair<TimeNs, TimeNs>, MergedSlice> expected;  // by bin, or by start where it stays as it is
            for (const Slice& slice : lane) {
                bool stays = slice.dur >= level.resolution;
                auto [found, added] =
                    expected.try_emplace(stays ? std::pair(slice.start / level.resolution, slice.start + 1)
                                               : std::pair(slice.start / level.resolution, TimeNs{0}));
                MergedSlice& merged = found->second;
                if (added) merged.start = slice.start, merged.row = slice.row;
                merged.dur = std::max(merged.dur, slice.start + slice.dur - merged.start);
                if (added || slice.dur > merged.longest) merged.longest = slice.dur, merged.name = slice.name;
                merged.count += 1;
                merged.busy += slice.dur;
            }
            ASSERT_EQ(level.items.size(), expected.size());
            std::vector<MergedSlice> in_time;
            for (const auto& [bin, merged] : expected) in_time.push_back(merged);
            std::stable_sort(in_time.begin(), in_time.end(),
                             [](const MergedSlice& a, const MergedSlice& b) { return a.start < b.start; });
            for (std::size_t i = 0; i < in_time.size(); ++i) {
                const MergedSlice &a = level.items[i], &b = in_time[i];
                ASSERT_EQ(std::tuple(a.start, a.dur, a.row, a.count, a.busy, a.longest),
                          std::tuple(b.start, b.dur, b.row, b.count, b.busy, b.longest));
                ASSERT_EQ(a.name, b.name);
            }
        }
    }
}

// What a document does with levels that it does not keep.
TEST(Levels, APartIsTheSameMadeFromItsEvents) {
    Slices lane = random_lane(7, 30'000);
    std::size_t seen = 0;
    auto levels = levels_of(lane, [&](Level<MergedSlice>& level) {
        ++seen;
        constexpr std::size_t kItems = 100;
        std::size_t event = 0;
        for (std::size_t first = 0; first < level.items.size(); first += kItems) {
            std::size_t count = std::min(kItems, level.items.size() - first), events = 0;
            for (std::size_t i = first; i < first + count; ++i)
                events += static_cast<std::size_t>(level.items[i].count);
            PodVector<MergedSlice> again = merged_items(lane, event, event + events, level.resolution);
            ASSERT_EQ(again.size(), count);
            for (std::size_t i = 0; i < count; ++i) {
                const MergedSlice &a = again[i], &b = level.items[first + i];
                ASSERT_EQ(std::tuple(a.start, a.dur, a.name, a.row, a.count, a.busy),
                          std::tuple(b.start, b.dur, b.name, b.row, b.count, b.busy));
            }
            event += events;
        }
        EXPECT_EQ(event, lane.size());
        level.items = {};
    });
    EXPECT_EQ(seen, levels.size());
    EXPECT_GT(seen, 3u);
}

TEST(Levels, NeverMoreThanAFewSlicesPerBin) {
    Slices lane = random_lane(99, 50'000);
    for (const Level<MergedSlice>& level : levels_of(lane)) {
        std::map<TimeNs, int> in_bin;
        for (const MergedSlice& slice : level.items) EXPECT_LE(++in_bin[slice.start / level.resolution], 2);
    }
}

TEST(Levels, FewEventsHaveNone) {
    EXPECT_TRUE(levels_of(random_lane(5, 2000)).empty());
    EXPECT_TRUE(levels_of(Slices{}).empty());
    EXPECT_TRUE(levels_of(PodVector<Value>{}).empty());
}

TEST(Levels, ValuesKeepMeanLowAndHigh) {
    std::mt19937 random(3);
    PodVector<Value> values;
    for (TimeNs i = 0; i < 30'000; ++i) values.push_back({i * 700, static_cast<double>(random() % 1000)});
    auto levels = levels_of(values);
    ASSERT_FALSE(levels.empty());
    for (const Level<MergedValue>& level : levels) {
        std::size_t at = 0;
        for (const MergedValue& merged : level.items) {
            double sum = 0, low = 1e9, high = -1;
            ASSERT_EQ(merged.time, values[at].time);
            for (std::int64_t i = 0; i < merged.count; ++i, ++at) {
                sum += values[at].value;
                low = std::min(low, values[at].value), high = std::max(high, values[at].value);
            }
            EXPECT_EQ(merged.low, low);
            EXPECT_EQ(merged.high, high);
            EXPECT_NEAR(merged.mean, sum / static_cast<double>(merged.count), 1e-6);
        }
        EXPECT_EQ(at, values.size());
    }
}

}  // namespace
}  // namespace gpuprof
