// Steps as bars over ranks, the critical path through them, and which of them are shown.
#include "ranks/pages/step_bars.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analyze/facts/facts.h"
#include "ranks/job/job.h"
#include "ranks/pages/job_cells.h"
#include "ranks/pages/step_choice.h"
#include "ranks/price/replay.h"
#include "tests/unit/ranks/job_rows.h"

namespace gpuprof {
namespace {

constexpr std::int32_t kLate = 3;
constexpr DurNs kMore = 500'000;

DurNs sum_of(const StepBar& bar, BarPart part) { return bar.sums[static_cast<std::size_t>(part)]; }

TEST(StepBars, ABarHasNoHoleAndEndsWithItsStep) {
    Trace trace = even_job(8, kLate, kMore, 10);
    Facts facts(trace, {});
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
        StepBar bar = step_bar(facts, rank, 5, 100);
        DurNs all = 0, sums = 0;
        for (const BarSpan& span : bar.spans) all += span.dur;
        for (DurNs sum : bar.sums) sums += sum;
        EXPECT_EQ(all, bar.window.length());
        EXPECT_EQ(sums, bar.window.length());
    }
}

TEST(StepBars, RanksWaitForTheLateOneOnly) {
    Trace trace = even_job(8, kLate, kMore, 10);
    Facts facts(trace, {});
    EXPECT_EQ(sum_of(step_bar(facts, 0, 5, 100), BarPart::wait), kMore);
    EXPECT_EQ(sum_of(step_bar(facts, kLate, 5, 100), BarPart::wait), 0);
    EXPECT_EQ(sum_of(step_bar(facts, 0, 5, 100), BarPart::compute), kMillisecond);
}

TEST(StepBars, ManySpansBecomeSlotsWithTheSameLength) {
    Trace trace = even_job(8, kLate, kMore, 10);
    Facts facts(trace, {});
    StepBar fine = step_bar(facts, 0, 5, 100), coarse = step_bar(facts, 0, 5, 1);
    ASSERT_EQ(coarse.spans.size(), 1U);
    EXPECT_EQ(coarse.spans[0].dur, coarse.window.length());
    EXPECT_EQ(coarse.spans[0].part, BarPart::compute);  // of 1.6 ms, 1 ms
    EXPECT_EQ(coarse.sums, fine.sums);
}

TEST(StepBars, ARankWithoutTheStepHasNoBar) {
    Trace trace = even_job(4, kLate, kMore, 3);
    Facts facts(trace, {});
    EXPECT_TRUE(has_step(facts, 0, 2));
    EXPECT_FALSE(has_step(facts, 0, 3));
    EXPECT_TRUE(step_bar(facts, 0, 3, 100).spans.empty());
}

TEST(StepPath, GoesThroughTheLateRankAndHasNoHole) {
    Trace trace = even_job(8, kLate, kMore, 10);
    Facts facts(trace, {});
    TimeNs begin = 5 * (kMillisecond + kMore + 100'000);
    std::vector<PathPiece> path = critical_path(facts, 5, begin);
    ASSERT_EQ(path.size(), 2U);
    EXPECT_EQ(path[0].rank, static_cast<std::uint32_t>(kLate));
    EXPECT_FALSE(path[0].transfer);
    EXPECT_EQ(path[0].time, (Interval{begin, begin + kMillisecond + kMore}));
    EXPECT_TRUE(path[1].transfer);
    EXPECT_EQ(path[1].time.start, path[0].time.end);
    EXPECT_EQ(path[1].time.length(), 100'000);
}

TEST(StepChoice, AllRanksIfTheyAreFewElseTheCriticalOnesAndQuantiles) {
    Trace trace = even_job(40, kLate, kMore, 5);
    Facts facts(trace, {});
    EXPECT_EQ(chosen_ranks(facts, 2, {kLate}, 40).size(), 40U);
    std::vector<ChosenRank> chosen = chosen_ranks(facts, 2, {kLate}, 10);
    EXPECT_EQ(chosen.size(), 10U);
    bool shown = false;
    for (const ChosenRank& rank : chosen) shown |= rank.rank == kLate && rank.reason != ChosenFor::quantile;
    EXPECT_TRUE(shown);
}

TEST(StepChoice, TheLongestStepsAndTheMedianOne) {
    std::vector<DurNs> lengths{10, 50, 20, 40, 30};
    EXPECT_EQ(chosen_steps(lengths, 2), (std::vector<std::size_t>{1, 3, 4}));
    EXPECT_EQ(chosen_steps(lengths, 9), (std::vector<std::size_t>{1, 3, 4, 2, 0}));
    EXPECT_TRUE(chosen_steps({}, 8).empty());
}

TEST(JobCells, StepsThatARankDidNotRecordAreLost) {
    JobRows rows;
    for (std::int32_t rank : {0, 1, 2}) rows.rank(rank);
    rows.step(0, 7, 0, 100);
    rows.step(0, 8, 100, 200);
    rows.step(1, 8, 100, 260);
    Trace trace = rows.trace();
    Facts facts(trace, {});
    const JobCells& cells = facts.get<JobCells>();
    EXPECT_EQ(cells.recorded, (std::vector<bool>{true, true, false, true, false, false}));
    EXPECT_EQ(cells.longest, (std::vector<DurNs>{100, 160}));
    const std::vector<double>* compute = nullptr;
    for (const JobQuantity& quantity : cells.quantities) {
        EXPECT_NE(quantity.name, "sm_clock");  // no rank has a value
        if (quantity.name == "compute") compute = &quantity.cells;
    }
    ASSERT_NE(compute, nullptr);
    EXPECT_EQ((*compute)[3], 160);
    EXPECT_TRUE(std::isnan((*compute)[2]));
}

}  // namespace
}  // namespace gpuprof
