#include "ranks/reduce/collective_launches.h"

#include "tests/unit/ranks/one_rank.h"

namespace gpuprof {
namespace {

constexpr const char* kSendRecv = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)";
constexpr const char* kGeneric = "ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)";
constexpr const char* kReduceKernel = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)";

class KindsByRange : public OneRank {
protected:
    void launched(TimeNs at, std::string_view name, std::int64_t correlation) {
        call(at, at + 5, "cudaLaunchKernel", correlation);
        kernel(at + 10, at + 20, name, correlation);
    }
};

TEST_F(KindsByRange, AKernelOfSeveralKindsIsWhatItsRangeSays) {
    range("main", 0, 50, "nccl:all_to_all"), launched(10, kSendRecv, 1);
    range("main", 100, 150, "nccl:_all_gather_base"), launched(110, kGeneric, 2);
    range("main", 200, 250, "nccl:send 0->1"), launched(210, kSendRecv, 3);
    LargeVector<RankCollective> found = points();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].message.kind, CollectiveKind::all_to_all);
    EXPECT_EQ(found[1].message.kind, CollectiveKind::all_gather);
    EXPECT_EQ(found[2].message.kind, CollectiveKind::send_recv);
}

TEST_F(KindsByRange, AKernelThatNamesItsKindKeepsIt) {
    range("main", 0, 50, "nccl:all_to_all"), launched(10, kReduceKernel, 1);
    EXPECT_EQ(points()[0].message.kind, CollectiveKind::all_reduce);
}

TEST_F(KindsByRange, RangesOfOtherThreadsTimesAndLibrariesSayNothing) {
    range("other", 0, 50, "nccl:all_to_all"), launched(10, kGeneric, 1);
    range("main", 60, 70, "nccl:all_to_all"), launched(80, kGeneric, 2);
    range("main", 100, 150, "all_to_all of my layer"), launched(110, kGeneric, 3);
    for (const RankCollective& point : points()) EXPECT_EQ(point.message.kind, CollectiveKind::unknown);
}

}  // namespace
}  // namespace gpuprof
