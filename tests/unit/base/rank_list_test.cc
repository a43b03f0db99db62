#include "core/base/text/rank_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <set>

namespace gpuprof::test {
namespace {

TEST(RankList, CompactTexts) {
    struct Example {
        RankList ranks;
        const char* text;
    };
    for (const Example& example :
         {Example{{}, ""}, Example{{5}, "5"}, Example{{0, 1}, "0,1"}, Example{{0, 1, 2}, "0-2"},
          Example{{0, 8, 16}, "0,8,16"}, Example{{0, 8, 16, 24}, "0-24/8"}, Example{{0, 1, 2, 3, 8, 9}, "0-3,8,9"},
          Example{{0, 2, 3, 4, 5}, "0,2-5"}, Example{{2147483646, 2147483647}, "2147483646,2147483647"}}) {
        EXPECT_EQ(format_ranks(example.ranks), example.text);
        EXPECT_EQ(parse_ranks(example.text).value_or(RankList{}), example.ranks) << example.text;
    }
}

TEST(RankList, DistancesThatNoRankHas) {
    constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min(),
                           kMost = std::numeric_limits<std::int32_t>::max();
    EXPECT_EQ(format_ranks(RankList{kLeast, 3, kMost}), "-2147483648,3,2147483647");
}

TEST(RankList, RefusesOtherTexts) {
    for (const char* text :
         {"",    " ",     "-1",  "1-",         "3-1",          "0-7/0",    "0-7/2", "0-8/-2", "0,,1", "0,", "1,0",
          "0,0", "0-3,3", "0 1", "2147483648", "0-2147483647", "0-131072", "0x10",  "[0]",    "1e3",  "+1"})
        EXPECT_FALSE(parse_ranks(text)) << text;
    EXPECT_EQ(parse_ranks("0-131071")->size(), kMaxRanks);
    EXPECT_FALSE(parse_ranks("0-131071,2000000"));
}

TEST(RankList, EveryTextComesBack) {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::set<std::int32_t> drawn;
        int stride = 1 + static_cast<int>(random() % 5);
        for (auto n = random() % 20; n > 0; --n) drawn.insert(stride * static_cast<int>(random() % 24));
        drawn.insert(static_cast<int>(random() % 4));
        RankList ranks(drawn.begin(), drawn.end());
        EXPECT_EQ(parse_ranks(format_ranks(ranks)), ranks) << format_ranks(ranks);
    }
}

TEST(RankList, EvenlySpaced) {
    EXPECT_EQ(format_ranks(*EvenRanks::of(0, 8, 64)), "0-504/8");
    EXPECT_EQ(format_ranks(*EvenRanks::of(2147483647, 1, 1)), "2147483647");
    for (int stride : {1, 3})
        for (int size = 1; size < 6; ++size) {
            EvenRanks even = *EvenRanks::of(2, stride, size);
            RankList ranks;
            for (int i = 0; i < size; ++i) ranks.push_back(even[i]);
            EXPECT_EQ(format_ranks(even), format_ranks(ranks));
            for (int rank = 0; rank < 30; ++rank)
                EXPECT_EQ(even.contains(rank), std::find(ranks.begin(), ranks.end(), rank) != ranks.end());
        }
    for (auto [start, stride, size] : {std::array<std::int64_t, 3>{-1, 1, 2},
                                       {0, 0, 2},
                                       {0, 1, 0},
                                       {0, 1, -5},
                                       {0, 1, std::int64_t{1} << 21},
                                       {2147483647, 1, 2},
                                       {0, 2147483647, 3},
                                       {0, std::int64_t{1} << 40, 2},
                                       {std::int64_t{1} << 62, 1, 1}})
        EXPECT_FALSE(EvenRanks::of(start, stride, size)) << start << " " << stride << " " << size;
}

TEST(RankList, RecordedLists) {
    EXPECT_EQ(parse_recorded_ranks("[0, 1, 2]")->listed, (RankList{0, 1, 2}));
    RecordedRanks unsorted = *parse_recorded_ranks("[\n 8,\n 0\n]");
    EXPECT_EQ(unsorted.listed, (RankList{8, 0}));
    EXPECT_EQ(unsorted.sorted(), (RankList{0, 8}));
    EXPECT_TRUE(parse_recorded_ranks("[]")->whole());
    for (const char* text :
         {"", "[", "]", "0, 1", "[0, 1", "[0 1]", "[0, 1]]", "[0, 0]", "[-1]", "[0, ...]", "[0, ..., 0]",
          "[0, ..., 5, 6]", "[,]", "[0,]", "[1.5]", "[99999999999]", "[\"0\"]", "[0, ..., ..., 3]"})
        EXPECT_FALSE(parse_recorded_ranks(text)) << text;
}

TEST(RankList, CutListsAgreeWithWhatTheyWereCutFrom) {
    RecordedRanks cut = *parse_recorded_ranks("[0, 8, 16, ..., 504]");
    EXPECT_FALSE(cut.whole());
    EXPECT_TRUE(cut.cut_from(*EvenRanks::of(0, 8, 64)));
    EXPECT_FALSE(cut.cut_from(*EvenRanks::of(0, 8, 63)));  // lacks the last
    EXPECT_FALSE(cut.cut_from(*EvenRanks::of(8, 8, 63)));  // lacks the first
    EXPECT_TRUE(cut.cut_from(RankList{0, 8, 16, 17, 504}));
    EXPECT_FALSE(cut.cut_from(RankList{0, 8, 17, 18, 504}));
    EXPECT_FALSE(parse_recorded_ranks("[0, 1]")->cut_from(RankList{0, 1, 2}));
}

// Files keep these numbers; they must never change.
TEST(RankList, HashesAreStable) {
    EXPECT_EQ(hash_ranks({}), 0xcbf29ce484222325u);
    EXPECT_EQ(hash_ranks({0, 1}), 0x08cd4c29d1e47d34u);
    RankList world(10'000);
    std::iota(world.begin(), world.end(), 0);
    EXPECT_EQ(hash_ranks(world), 0xe1c6203eaaafd605u);
    EXPECT_NE(hash_ranks({1}), hash_ranks({256}));
}

// Nine bytes stand for 131,072 ranks; a job's lists have room for 32 times as many.
TEST(RankLists, OfAJobHaveALimit) {
    RankLists lists;
    for (int i = 0; i < 32; ++i) EXPECT_TRUE(lists.parse("0-131071"));
    EXPECT_FALSE(lists.full());
    EXPECT_FALSE(lists.parse("5"));
    EXPECT_TRUE(lists.full());
    EXPECT_FALSE(RankLists().parse("5-"));
}

}  // namespace
}  // namespace gpuprof::test
