// Times in half of their memory are found as in an array of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "analyze/replay/host_lanes.h"

namespace gpuprof::test {
namespace {

TEST(AscendingTimes, AreThoseOfAnArray) {
    constexpr TimeNs kPart = TimeNs{1} << 32;
    const std::vector<TimeNs> times{-3 * kPart - 1, -kPart, -1,    0,         7,         7,
                                    kPart - 1,      kPart,  kPart, kPart + 5, 9 * kPart, 1'700'000'000'000'000'000};
    AscendingTimes kept;
    EXPECT_EQ(kept.first_after(0), 0u);
    for (TimeNs time : times) kept.push_back(time);
    ASSERT_EQ(kept.size(), times.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
        EXPECT_EQ(kept[i], times[i]);
        for (TimeNs time : {times[i] - 1, times[i], times[i] + 1, times[i] + kPart})
            EXPECT_EQ(kept.first_after(time),
                      static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), time) - times.begin()))
                << time;
    }
}

}  // namespace
}  // namespace gpuprof::test
