#include "ranks/reduce/collective_launches.h"

#include "tests/unit/ranks/one_rank.h"

namespace gpuprof {
namespace {

constexpr const char* kReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

class OverlappedCompute : public OneRank {
protected:
    void launch(TimeNs at, std::int64_t correlation) { call(at, at + 1, "cudaLaunchKernel", correlation); }
    void reduce(TimeNs start, TimeNs end, std::int64_t correlation) {
        draft_.kernel(0, 20, start * kUs, end * kUs, kReduce, correlation);
    }
};

// The first collective waits for 100 us; 30 us of compute during that were launched before the second one, 20 us after it.
TEST_F(OverlappedCompute, IsThatOfKernelsLaunchedBefore) {
    launch(0, 1), reduce(10, 110, 1);
    launch(2, 2), kernel(10, 40, "gemm", 2);
    launch(4, 3), reduce(110, 150, 3);
    launch(6, 4), kernel(40, 60, "gemm", 4);
    LargeVector<RankCollective> found = points();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].overlapped_compute, 0);
    EXPECT_EQ(found[1].follows, 1U);
    EXPECT_EQ(found[1].overlapped_compute, 30 * kUs);
}

TEST_F(OverlappedCompute, IsAllOfItWithoutLaunchesUnlessItWasQueued) {
    reduce(10, 110, 1), kernel(10, 40, "gemm", 2);
    reduce(110, 250, 3), kernel(150, 190, "gemm", 4), kernel(260, 300, "gemm", 5);
    reduce(310, 350, 6);
    LargeVector<RankCollective> found = points();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_TRUE(found[1].queued);
    EXPECT_EQ(found[1].overlapped_compute, 0);
    EXPECT_EQ(found[2].overlapped_compute, 40 * kUs);
    EXPECT_EQ(found[2].own.compute, 40 * kUs);
}

TEST_F(OverlappedCompute, BeforeTheFirstCollectiveWorkCountsFromTheStep) {
    range("main", 0, 400, "ProfilerStep#3");
    launch(50, 1), kernel(60, 90, "gemm", 1);
    launch(95, 2), reduce(100, 200, 2);
    LargeVector<RankCollective> found = points();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].follows, kFollowsNothing);
    EXPECT_EQ(found[0].own.compute, 30 * kUs);
    EXPECT_EQ(found[0].own.known() + found[0].own.unknown, 100 * kUs);
}

}  // namespace
}  // namespace gpuprof
