#include "ranks/price/slow_units.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "analyze/facts/facts.h"
#include "ranks/price/stragglers.h"
#include "tests/unit/ranks/job_rows.h"

namespace gpuprof {
namespace {

constexpr std::int64_t kStepCount = 20;

// Every rank computes for 1 ms; then it reduces with the ranks of its group, of which there are several of four ranks.
using Bytes = std::int64_t (*)(std::int32_t rank);
Trace job(std::int32_t groups, auto&& transfer, std::string_view kind = "all_reduce", Bytes bytes = nullptr) {
    JobRows rows;
    for (std::int32_t group = 0; group < groups; ++group) {
        std::string members = std::to_string(4 * group) + "-" + std::to_string(4 * group + 3);
        for (std::int32_t rank = 4 * group; rank < 4 * group + 4; ++rank) {
            rows.rank(rank);
            rows.group(rank, 7 + group, members);
            TimeNs begin = 0;
            for (std::int64_t n = 0; n < kStepCount; ++n) {
                TimeNs end = begin + 1'000'000 + transfer(group, n);
                rows.step(rank, n, begin, end);
                rows.collective(rank, n, begin + 1'000'000, end, n > 0 ? 1 : 0, kind, 7 + group,
                                bytes == nullptr ? -1 : bytes(rank));
                begin = end;
            }
        }
    }
    return rows.trace();
}

std::size_t slow_links(const Trace& trace) {
    Facts facts(trace, {});
    const Stragglers& found = facts.get<Stragglers>();
    EXPECT_EQ(found.reason, "");
    return static_cast<std::size_t>(std::count_if(found.units.begin(), found.units.end(), [](const Straggler& unit) {
        return unit.cause == DelayCause::slow_link;
    }));
}

TEST(SlowUnits, TransfersOfTheOnlyGroupAreComparedWithNone) {
    EXPECT_EQ(slow_links(job(1, [](std::int32_t, std::int64_t n) { return n % 3 == 0 ? 400'000 : 100'000; })), 0U);
}

TEST(SlowUnits, TransfersThatVaryAlikeInAllGroupsAreNoSlowLink) {
    EXPECT_EQ(
        slow_links(job(3, [](std::int32_t group, std::int64_t n) { return (n + group) % 4 == 0 ? 400'000 : 100'000; })),
        0U);
}

TEST(SlowUnits, AGroupWhoseTransfersTakeLongerIsASlowLink) {
    EXPECT_EQ(slow_links(job(3, [](std::int32_t group, std::int64_t) { return group == 1 ? 200'000 : 100'000; })), 1U);
}

// One that is slow now and then is one, too.
TEST(SlowUnits, AGroupWithSlowTransfersAtTimesIsASlowLink) {
    EXPECT_EQ(slow_links(job(
                  3, [](std::int32_t group, std::int64_t n) { return group == 1 && n % 3 == 0 ? 400'000 : 100'000; })),
              1U);
}

// Ranks of an all-to-all send different amounts; the largest decides.
TEST(SlowUnits, AllToAllsAreComparedByTheLargestMessage) {
    auto transfer = [](std::int32_t group, std::int64_t) { return group == 1 ? 200'000 : 100'000; };
    auto of_rank_6 = [](std::int32_t rank) -> std::int64_t { return rank == 6 ? 2'000'000 : 1'000'000; };
    auto even = [](std::int32_t) -> std::int64_t { return 1'000'000; };
    EXPECT_EQ(slow_links(job(3, transfer, "all_to_all", of_rank_6)), 0U);
    EXPECT_EQ(slow_links(job(3, transfer, "all_to_all", even)), 1U);
}

}  // namespace
}  // namespace gpuprof
