#include "bench/ranks/large_job.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analyze/facts/facts.h"
#include "ranks/clocks/clocks.h"
#include "ranks/price/stragglers.h"

namespace gpuprof {
namespace {

constexpr std::int32_t kRanks = 1'024, kSteps = 4, kCollectives = 20, kSlow = 517;

TEST(LargeJob, TheSlowRankOfAThousandHasItsPrice) {
    LargeJob with(kRanks, kSteps, kCollectives, kSlow), without(kRanks, kSteps, kCollectives, -1);
    double truth = with.step_ns() - without.step_ns();
    Trace trace = with.finish();
    Facts facts(trace, {});
    const Stragglers& found = facts.get<Stragglers>();
    ASSERT_EQ(found.reason, "");
    ASSERT_FALSE(found.units.empty());
    EXPECT_EQ(found.units[0].unit, "rank 517");
    EXPECT_TRUE(found.units[0].named);
    EXPECT_NEAR(found.units[0].cost_ns, truth, std::max(0.05 * truth, 0.005 * with.step_ns()));
    for (std::size_t i = 1; i < found.units.size(); ++i) EXPECT_FALSE(found.units[i].named) << found.units[i].unit;
    for (const ClockFit& clock : facts.get<AlignedClocks>().clocks) {
        EXPECT_TRUE(clock.aligned);
        EXPECT_LT(clock.error_ns, 20'000);
    }
}

TEST(LargeJob, NobodyIsSlowInACleanOne) {
    Trace trace = LargeJob(kRanks, kSteps, kCollectives, -1).finish();
    Facts facts(trace, {});
    for (const Straggler& unit : facts.get<Stragglers>().units) EXPECT_FALSE(unit.named) << unit.unit;
}

}  // namespace
}  // namespace gpuprof
