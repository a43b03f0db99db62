#include "ranks/reduce/chosen_steps.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpuprof {
namespace {

std::map<std::int64_t, DurNs> lengths(std::int64_t count) {
    std::map<std::int64_t, DurNs> made;
    for (std::int64_t step = 0; step < count; ++step) made[100 + step] = 1000 + (step * 37) % 101;
    return made;
}

std::set<std::int64_t> chosen(std::string_view text, std::int64_t steps, std::size_t collectives = 1) {
    Result<StepChoice> choice = StepChoice::parse(text);
    EXPECT_TRUE(choice.ok());
    return choice->choose(lengths(steps), collectives);
}

TEST(ChosenSteps, AllIfTheyFit) {
    EXPECT_TRUE(chosen("", 100).empty());
    EXPECT_TRUE(chosen("all", 100, kMostCollectives).empty());
    EXPECT_TRUE(chosen("100", 100).empty());
}

TEST(ChosenSteps, OfALargeJobRunsOfStepsThatFit) {
    std::set<std::int64_t> steps = chosen("", 100, kMostCollectives / 40);
    EXPECT_LE(steps.size(), 40U);
    EXPECT_GE(steps.size(), 32U);
    EXPECT_LT(*steps.begin(), 112);
    EXPECT_GT(*steps.rbegin(), 188);
    EXPECT_EQ(chosen("", 100, kMostCollectives).size(), 8U);
}

TEST(ChosenSteps, EachComesWithTheOneBefore) {
    std::map<std::int64_t, DurNs> given = lengths(100);
    auto slowest =
        std::max_element(given.begin(), given.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    EXPECT_EQ(chosen("slowest:1", 100), (std::set<std::int64_t>{slowest->first - 1, slowest->first}));
    EXPECT_EQ(chosen("slowest:500", 100).size(), 100U);
    EXPECT_EQ(chosen("110:112", 100), (std::set<std::int64_t>{109, 110, 111}));
    EXPECT_EQ(chosen("100:101", 100), (std::set<std::int64_t>{100}));
}

TEST(ChosenSteps, WrongWordsAreRefused) {
    for (std::string_view text :
         {"0", "-1", "slowest", "slowest:", "slowest:0", "5:5", "7:3", ":", "1:", "x", "1:2:3", "99999999999999999999"})
        EXPECT_FALSE(StepChoice::parse(text).ok()) << text;
}

class Rows : public testing::Test {
protected:
    void add(std::int32_t rank, std::int64_t step, std::int32_t follows, std::int32_t waited_for = 0) {
        Row row = table_.add();
        table_.rank.set(row, rank);
        table_.step.set(row, step);
        if (follows > 0) table_.follows.set(row, follows);
        if (waited_for > 0) table_.waited_for.set(row, waited_for);
    }
    RankCollectiveTable table_;
    RankTransferTable transfers_;
};

TEST_F(Rows, OffsetsCountKeptRowsOfTheRank) {
    add(0, 1, 0), add(1, 1, 0);
    add(0, 2, 1), add(1, 2, 1);
    add(0, 3, 1), add(1, 3, 1);
    add(0, 3, 2, 3), add(1, 3, 1, 2);
    table_.close();
    keep_steps(table_, transfers_, {1, 3});
    ASSERT_EQ(table_.rows, 6U);
    EXPECT_FALSE(table_.follows.has(2));  // it followed step 2
    EXPECT_FALSE(table_.follows.has(4));
    EXPECT_EQ(table_.waited_for.get(4), 2);  // was 3 rows before; one of these is gone
    EXPECT_EQ(table_.follows.get(5), 1);
    EXPECT_FALSE(table_.waited_for.has(5));
}

TEST_F(Rows, WorkThatCountsFromARemovedRowIsUnknown) {
    for (auto [step, follows] : {std::pair(1, 0), std::pair(2, 1), std::pair(3, 1), std::pair(3, 1)}) {
        add(0, step, follows);
        table_.compute_ns.set(static_cast<Row>(table_.rows - 1), 100);
    }
    table_.close();
    keep_steps(table_, transfers_, {1, 3});
    ASSERT_EQ(table_.rows, 3U);
    EXPECT_EQ(table_.compute_ns.get(0), 100);  // since its step began
    EXPECT_EQ(table_.compute_ns.get(1), 0);    // it followed step 2
    EXPECT_EQ(table_.compute_ns.get(2), 100);
}

TEST_F(Rows, BatchesKeepTheirTransfers) {
    std::int64_t bytes = 0;
    for (std::int64_t step = 1; step <= 3; ++step)
        for (std::int32_t rank : {4, 7}) {
            add(rank, step, 0);
            table_.transfers.set(static_cast<Row>(table_.rows - 1), 2);
            for (int i = 0; i < 2; ++i) {
                Row row = transfers_.add();
                transfers_.rank.set(row, rank);
                transfers_.bytes.set(row, ++bytes);
            }
        }
    table_.close(), transfers_.close();
    keep_steps(table_, transfers_, {2});
    ASSERT_EQ(transfers_.rows, 4U);
    for (Row row = 0; row < 4; ++row) EXPECT_EQ(transfers_.bytes.get(row), 5 + static_cast<std::int64_t>(row));
}

}  // namespace
}  // namespace gpuprof
