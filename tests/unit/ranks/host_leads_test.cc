#include "ranks/reduce/collective_launches.h"

#include "tests/unit/ranks/one_rank.h"

namespace gpuprof {
namespace {

constexpr const char* kLeadingReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

class HostLeads : public OneRank {
protected:
    void reduce(TimeNs start, TimeNs end, std::int64_t correlation) { kernel(start, end, kLeadingReduce, correlation); }
};

TEST_F(HostLeads, CountFromTheCollectiveThatEndedBeforeTheHostStoppedWaiting) {
    call(0, 5, "cudaLaunchKernel", 1), reduce(10, 100, 1);
    call(20, 105, "cudaStreamSynchronize", 9);
    range("main", 105, 145, kLoader);
    call(150, 155, "cudaLaunchKernel", 2), reduce(160, 200, 2);
    call(156, 160, "cudaLaunchKernel", 3), reduce(210, 300, 3);
    LargeVector<RankCollective> found = points();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].waited_for, kFollowsNothing);
    EXPECT_EQ(found[1].waited_for, 1U);
    EXPECT_EQ(found[1].lead, 50 * kUs);
    EXPECT_EQ(found[1].lead_input, 40 * kUs);
    EXPECT_EQ(found[2].waited_for, 2U);  // no wait since
    EXPECT_EQ(found[2].lead, 56 * kUs);
}

TEST_F(HostLeads, ACallThatReturnsAtOnceDidNotWait) {
    call(0, 5, "cudaLaunchKernel", 1), reduce(10, 100, 1);
    call(110, 111, "cudaStreamSynchronize", 9);
    call(150, 155, "cudaLaunchKernel", 2), reduce(160, 200, 2);
    EXPECT_EQ(points()[1].waited_for, kFollowsNothing);
}

TEST_F(HostLeads, ALaunchWaitsForRoomInTheQueue) {
    call(0, 5, "cudaLaunchKernel", 1), reduce(10, 100, 1);
    call(6, 120, "cudaLaunchKernel", 2), reduce(130, 190, 2);
    call(121, 125, "cudaLaunchKernel", 3), reduce(200, 290, 3);
    LargeVector<RankCollective> found = points();
    EXPECT_EQ(found[1].waited_for, kFollowsNothing);
    EXPECT_EQ(found[2].waited_for, 2U);
    EXPECT_EQ(found[2].lead, 21 * kUs);
}

TEST_F(HostLeads, WithoutLaunchesThereAreNone) {
    call(20, 105, "cudaStreamSynchronize", 9);
    reduce(10, 100, 1), reduce(160, 200, 2);
    for (const RankCollective& point : points()) EXPECT_EQ(point.waited_for, kFollowsNothing);
}

}  // namespace
}  // namespace gpuprof
