#include "ranks/reduce/collective_launches.h"

#include "tests/unit/ranks/one_rank.h"

namespace gpuprof {
namespace {

constexpr const char* kReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

class NeededWork : public OneRank {
protected:
    void launch(TimeNs at, std::int64_t correlation) { call(at, at + 1, "cudaLaunchKernel", correlation); }
    void reduce(TimeNs start, TimeNs end, std::int64_t correlation) {
        draft_.kernel(0, 20, start * kUs, end * kUs, kReduce, correlation);
    }
};

// The first collective waits for 100 us; 30 us of compute during that were launched before the second one, 20 us after it.
TEST_F(NeededWork, IsThatOfKernelsLaunchedBefore) {
    launch(0, 1), reduce(10, 110, 1);
    launch(2, 2), kernel(10, 40, "gemm", 2);
    launch(4, 3), reduce(110, 150, 3);
    launch(6, 4), kernel(40, 60, "gemm", 4);
    LargeVector<RankCollective> found = points();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[1].needed, 40 * kUs);
    EXPECT_TRUE(found[1].queued);
    // No compute resumed after the first one, so nothing shows that the rank waited for it; the stream did.
    EXPECT_EQ(found[1].follows, kFollowsNothing);
    EXPECT_EQ(found[1].own.compute, 30 * kUs);
    EXPECT_EQ(found[0].wait_before, 0);
    EXPECT_EQ(found[0].overlapped, 50 * kUs);
    EXPECT_EQ(found[1].wait_before, 0);
    EXPECT_EQ(found[1].overlapped, 50 * kUs);
}

// Two buckets are reduced during the backward pass, which nothing holds up: the second one waits for its gradients only.
TEST_F(NeededWork, OfABucketIsNotComputeThatRanUntilItBegan) {
    launch(0, 1), kernel(10, 50, "gemm", 1);
    launch(2, 2), reduce(50, 130, 2);
    launch(3, 3), kernel(50, 90, "gemm", 3);
    launch(4, 4), reduce(130, 200, 4);
    launch(5, 5), kernel(90, 150, "gemm", 5);
    launch(6, 6), kernel(205, 240, "adam", 6);
    launch(7, 7), reduce(240, 260, 7);
    range("main", 0, 400, "ProfilerStep#3");
    LargeVector<RankCollective> found = points();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[1].needed, 90 * kUs);
    EXPECT_EQ(found[1].own.compute, 80 * kUs);
    EXPECT_EQ(found[2].follows, 1U);
    EXPECT_EQ(found[2].own.compute, 35 * kUs);
    EXPECT_EQ(found[1].overlapped, 150 * kUs);  // 140 us of compute, and 10 us before it
}

// These are launched long before they may begin, and wait for an event.
TEST_F(NeededWork, OfACollectiveThatOvertakesComputeIsThatOfTheOneBefore) {
    launch(0, 1), kernel(10, 50, "gemm", 1);
    launch(1, 2), kernel(50, 150, "gemm", 2);
    launch(2, 3), kernel(150, 300, "gemm", 3);
    launch(3, 4), reduce(50, 160, 4);
    launch(4, 5), reduce(160, 200, 5);
    LargeVector<RankCollective> found = points();
    EXPECT_EQ(found[0].needed, 50 * kUs);
    EXPECT_EQ(found[1].needed, 50 * kUs);
}

TEST_F(NeededWork, IsAllOfItWithoutLaunches) {
    reduce(10, 110, 1), kernel(10, 40, "gemm", 2);
    reduce(110, 250, 3), kernel(150, 190, "gemm", 4), kernel(260, 300, "gemm", 5);
    reduce(310, 350, 6);
    LargeVector<RankCollective> found = points();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_TRUE(found[1].queued);
    EXPECT_EQ(found[1].needed, 10 * kUs);  // it queued, and needs what the one before it does
    EXPECT_EQ(found[2].own.compute, 40 * kUs);
}

TEST_F(NeededWork, BeforeTheFirstCollectiveWorkCountsFromTheStep) {
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
