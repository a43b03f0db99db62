#include "ranks/clocks/clock_jump.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

// Leads every millisecond, with a little noise.
std::vector<ClockLead> leads(std::size_t count, double rate_ppm, std::size_t jump_at, double jump) {
    std::vector<ClockLead> made;
    for (std::size_t i = 0; i < count; ++i) {
        double time = 1e6 * static_cast<double>(i), noise = i % 3 == 0 ? 900 : i % 3 == 1 ? -700 : 0;
        made.push_back({time, 5e6 + rate_ppm * 1e-6 * time + noise + (i >= jump_at ? jump : 0)});
    }
    return made;
}

TEST(ClockJump, ItsTimeAndSizeAreFound) {
    for (double jump : {40e6, -3e6}) {
        std::vector<ClockLead> given = leads(200, 15, 60, jump);
        std::swap(given[3], given[150]);  // the order does not matter
        std::optional<ClockJump> found = find_jump(given);
        ASSERT_TRUE(found);
        EXPECT_GT(found->time, 59e6);
        EXPECT_LT(found->time, 60e6);
        EXPECT_NEAR(found->size, jump, 2'000);
    }
}

TEST(ClockJump, ASteadyClockHasNone) {
    for (double rate : {0.0, 20.0, -300.0}) {
        std::vector<ClockLead> given = leads(200, rate, 200, 0);
        EXPECT_FALSE(find_jump(given)) << rate;
    }
}

TEST(ClockJump, TooFewLeadsOnASideAreNone) {
    std::vector<ClockLead> given = leads(200, 0, 197, 40e6);
    std::optional<ClockJump> found = find_jump(given);
    EXPECT_FALSE(found && found->time > 195e6);
    given = leads(12, 0, 6, 40e6);
    EXPECT_FALSE(find_jump(given));
}

}  // namespace
}  // namespace gpuprof
