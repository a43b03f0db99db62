// Theoretical occupancy against what Nsight Compute says of the same launches, against hand calculations, and the cases where nothing can be said.
#include "analyze/knowledge/occupancy.h"

#include <gtest/gtest.h>

#include "analyze/knowledge/sm_limits.h"

namespace gpuprof {
namespace {

constexpr DeviceLimits kHopper{.cc_major = 9, .cc_minor = 0, .name = "NVIDIA H200"};

LaunchShape shape(int threads, int registers, std::int64_t shared) {
    return {.block_x = threads, .registers_per_thread = registers, .shared_bytes = shared};
}

struct NcuLaunch {
    const char* name;
    int block_x, block_y, block_z;
    std::int64_t grid_blocks;
    int registers;
    std::int64_t shared_bytes, config_bytes;
    int limit_blocks, limit_warps, limit_registers, limit_shared;
    double theoretical_pct, waves;
    int barriers, limit_barriers, cluster, max_clusters, sum_block_size, sum_registers, sum_barriers;
};

constexpr NcuLaunch kNcuLaunches[] = {
#define NCU_LAUNCH(...) {__VA_ARGS__},
#include "tests/unit/knowledge/ncu_occupancy.inc"
#undef NCU_LAUNCH
};

TEST(Occupancy, EqualsNsightComputeForEveryRecordedLaunch) {
    for (const NcuLaunch& ncu : kNcuLaunches) {
        SCOPED_TRACE(ncu.name);
        const LaunchShape launch{ncu.block_x, ncu.block_y, ncu.block_z, ncu.registers, ncu.shared_bytes};
        DeviceLimits device = kHopper;
        device.shared_config_bytes = ncu.config_bytes;
        const auto exact = theoretical_occupancy(launch, device);
        ASSERT_TRUE(exact);
        EXPECT_EQ(exact->limit_blocks, ncu.limit_blocks);
        EXPECT_EQ(exact->limit_warps, ncu.limit_warps);
        EXPECT_EQ(exact->limit_registers, ncu.limit_registers);
        EXPECT_EQ(exact->limit_shared, ncu.limit_shared);
        EXPECT_DOUBLE_EQ(exact->pct, ncu.theoretical_pct);

        // A trace has no carve-out; the driver's choice does not limit these launches, so the percentage is the same without it.
        const auto from_trace = theoretical_occupancy(launch, kHopper);
        ASSERT_TRUE(from_trace);
        EXPECT_DOUBLE_EQ(from_trace->pct, ncu.theoretical_pct);
        const auto fill = launch_fill(ncu.grid_blocks, from_trace->blocks_per_sm, 132);
        ASSERT_TRUE(fill);
        EXPECT_NEAR(fill->waves, ncu.waves, 0.00501);
    }
}

int warps(const std::optional<Occupancy>& occupancy) {
    return occupancy ? occupancy->blocks_per_sm * occupancy->warps_per_block : 0;
}

TEST(Occupancy, BarriersAndClustersEqualNsightComputeForEveryRecordedLaunch) {
    int limited = 0, clusters = 0;
    for (const NcuLaunch& ncu : kNcuLaunches) {
        SCOPED_TRACE(ncu.name);
        LaunchShape launch{ncu.block_x,      ncu.block_y,  ncu.block_z, ncu.registers,
                           ncu.shared_bytes, ncu.barriers, ncu.cluster};
        DeviceLimits device = kHopper;
        device.shared_config_bytes = ncu.config_bytes;
        device.num_sms = 132;
        const auto exact = theoretical_occupancy(launch, device);
        ASSERT_TRUE(exact);
        EXPECT_EQ(exact->limit_barriers.value_or(32), ncu.limit_barriers);
        EXPECT_DOUBLE_EQ(exact->pct, ncu.theoretical_pct);
        limited += ncu.limit_barriers < 32 ? 1 : 0;
        EXPECT_EQ(exact->max_clusters.has_value(), ncu.cluster > 1);
        if (ncu.cluster > 1) {
            EXPECT_EQ(exact->max_clusters, ncu.max_clusters);
            ++clusters;
        }
        int sum = 0;
        for (int barriers = 0; barriers <= 64; ++barriers) {
            launch.barriers = barriers;
            sum += warps(theoretical_occupancy(launch, device));
        }
        EXPECT_EQ(sum, ncu.sum_barriers);
    }
    EXPECT_EQ(limited, 2);
    EXPECT_EQ(clusters, 1);
}

TEST(OccupancyCurves, EqualTheSumsOfNsightComputeForEveryRecordedLaunch) {
    for (const NcuLaunch& ncu : kNcuLaunches) {
        SCOPED_TRACE(ncu.name);
        const LaunchShape launch{ncu.block_x, ncu.block_y, ncu.block_z, ncu.registers, ncu.shared_bytes};
        DeviceLimits device = kHopper;
        device.shared_config_bytes = ncu.config_bytes;
        // Ours has one point per warp, theirs two, and one more of no threads, which counts as one warp.
        const OccupancyCurve by_threads = occupancy_by_threads(launch, device);
        ASSERT_EQ(by_threads.size(), 32u);
        int sum = warps(by_threads.front().occupancy);
        for (const OccupancyPoint& point : by_threads) sum += 2 * warps(point.occupancy);
        EXPECT_EQ(sum, ncu.sum_block_size);
        // Eight counts share a step of the allocation. Theirs also has 256, which no thread can have, and 0, which does not limit.
        const OccupancyCurve by_registers = occupancy_by_registers(launch, device);
        ASSERT_EQ(by_registers.size(), 32u);
        EXPECT_EQ(by_registers.back().value, 255);
        sum = 0;
        for (const OccupancyPoint& point : by_registers) sum += 8 * warps(point.occupancy);
        LaunchShape none = launch;
        none.registers_per_thread = 0;
        EXPECT_EQ(sum + warps(theoretical_occupancy(none, device)), ncu.sum_registers);
    }
}

TEST(OccupancyCurves, NameTheMostSharedMemoryForEachNumberOfBlocks) {
    // 233,472 B: one block has at most 227 KiB, two 113 KiB and so on, each less the driver's 1 KiB.
    const OccupancyCurve curve = occupancy_by_shared(shape(128, 32, 0), kHopper);
    ASSERT_GE(curve.size(), 3u);
    EXPECT_EQ(curve.back().value, 232448);
    EXPECT_EQ(curve.back().occupancy.blocks_per_sm, 1);
    EXPECT_EQ(curve[curve.size() - 2].value, 115712);
    EXPECT_EQ(curve[curve.size() - 2].occupancy.blocks_per_sm, 2);
    for (const OccupancyPoint& point : curve) {
        if (point.value == 232448) continue;
        const auto above = theoretical_occupancy(shape(128, 32, point.value + 1), kHopper);
        ASSERT_TRUE(above);
        EXPECT_LE(above->blocks_per_sm, point.occupancy.blocks_per_sm);
    }
}

TEST(OccupancyCurves, SuggestSingleChangesThatHelp) {
    using Resource = OccupancyChange::Resource;
    // 75 % by registers: 40 after rounding; the next step, 32, fills the SM.
    const std::vector<OccupancyChange> registers = occupancy_changes(shape(128, 39, 24), kHopper);
    ASSERT_EQ(registers.size(), 1u);
    EXPECT_EQ(registers[0].resource, Resource::registers);
    EXPECT_EQ(registers[0].value, 32);
    EXPECT_DOUBLE_EQ(registers[0].pct, 100.0);
    // 15.6 % by shared memory: a sixth block needs 37,888 B less 1 KiB; or larger blocks.
    const std::vector<OccupancyChange> shared = occupancy_changes(shape(64, 38, 40000), kHopper);
    ASSERT_EQ(shared.size(), 2u);
    EXPECT_EQ(shared[0].resource, Resource::shared_bytes);
    EXPECT_EQ(theoretical_occupancy(shape(64, 38, shared[0].value), kHopper)->blocks_per_sm, 6);
    EXPECT_EQ(shared[1].resource, Resource::threads);
    EXPECT_GT(shared[1].pct, 15.625);
    // Full already; unknown device.
    EXPECT_TRUE(occupancy_changes(shape(256, 32, 0), kHopper).empty());
    EXPECT_TRUE(occupancy_changes(shape(256, 32, 0), {.cc_major = 99}).empty());
    for (const OccupancyChange& change : occupancy_changes(shape(768, 80, 60000), kHopper)) {
        LaunchShape changed = shape(768, 80, 60000);
        if (change.resource == Resource::threads) changed.block_x = static_cast<int>(change.value);
        if (change.resource == Resource::registers) changed.registers_per_thread = static_cast<int>(change.value);
        if (change.resource == Resource::shared_bytes) changed.shared_bytes = change.value;
        EXPECT_DOUBLE_EQ(theoretical_occupancy(changed, kHopper)->pct, change.pct);
    }
}

TEST(Occupancy, RefusesClustersThatNoDeviceLaunches) {
    LaunchShape launch = shape(128, 32, 0);
    launch.cluster_blocks = 16;
    EXPECT_DOUBLE_EQ(theoretical_occupancy(launch, kHopper)->pct, 100.0);
    launch.cluster_blocks = 17;
    EXPECT_EQ(theoretical_occupancy(launch, kHopper)->limiter, Limiter::cluster_too_large);
    launch.cluster_blocks = 2;
    EXPECT_EQ(theoretical_occupancy(launch, {.cc_major = 8, .cc_minor = 0})->limiter, Limiter::cluster_too_large);
}

TEST(Occupancy, NamesTheLimiter) {
    // 40 KB of shared memory: 41088 B with the driver's 1 KiB, 5 blocks of 2 warps in 233472 B.
    const auto shared = theoretical_occupancy(shape(64, 38, 40000), kHopper);
    EXPECT_EQ(shared->limiter, Limiter::shared_memory);
    EXPECT_EQ(shared->blocks_per_sm, 5);
    EXPECT_DOUBLE_EQ(shared->pct, 15.625);

    // 40 registers: 1280 a warp, 12 warps in each of 4 sub-partitions.
    const auto registers = theoretical_occupancy(shape(128, 39, 24), kHopper);
    EXPECT_EQ(registers->limiter, Limiter::registers);
    EXPECT_DOUBLE_EQ(registers->pct, 75.0);

    // One warp a block: 32 block slots hold 32 of 64 warps.
    const auto blocks = theoretical_occupancy(shape(32, 16, 0), kHopper);
    EXPECT_EQ(blocks->limiter, Limiter::blocks);
    EXPECT_DOUBLE_EQ(blocks->pct, 50.0);

    // 24 warps a block: two blocks fill 48 of 64 slots.
    const auto warps = theoretical_occupancy(shape(768, 16, 0), kHopper);
    EXPECT_EQ(warps->limiter, Limiter::warps);
    EXPECT_DOUBLE_EQ(warps->pct, 75.0);

    EXPECT_EQ(theoretical_occupancy(shape(256, 32, 0), kHopper)->limiter, Limiter::none);
    EXPECT_EQ(theoretical_occupancy(shape(1025, 16, 0), kHopper)->limiter, Limiter::block_too_large);
    EXPECT_EQ(theoretical_occupancy(shape(1024, 128, 0), kHopper)->limiter, Limiter::block_too_large);
    EXPECT_EQ(theoretical_occupancy(shape(128, 32, 232449), kHopper)->limiter, Limiter::block_too_large);
    EXPECT_EQ(theoretical_occupancy(shape(128, 32, 232448), kHopper)->blocks_per_sm, 1);
}

TEST(Occupancy, FollowsTheGeneration) {
    // Turing: 32 warps, 16 blocks, no driver reserve, shared memory in units of 256 B.
    EXPECT_DOUBLE_EQ(theoretical_occupancy(shape(256, 32, 0), {.cc_major = 7, .cc_minor = 5})->pct, 100.0);
    EXPECT_EQ(theoretical_occupancy(shape(64, 32, 16384), {.cc_major = 7, .cc_minor = 5})->blocks_per_sm, 4);
    EXPECT_FALSE(theoretical_occupancy(shape(64, 32, 0), {.cc_major = 7, .cc_minor = 5})->limit_shared);
    // Ampere GA10x and Ada: 48 warps; 1024-thread blocks leave a third of the slots empty.
    EXPECT_NEAR(theoretical_occupancy(shape(1024, 32, 0), {.cc_major = 8, .cc_minor = 6})->pct, 66.67, 0.01);
    EXPECT_DOUBLE_EQ(theoretical_occupancy(shape(64, 32, 0), {.cc_major = 8, .cc_minor = 9})->pct, 100.0);
    EXPECT_NEAR(theoretical_occupancy(shape(64, 32, 0), {.cc_major = 8, .cc_minor = 6})->pct, 66.67, 0.01);
    // GP100 has two sub-partitions: 32768 / 1280 = 25 warps each.
    EXPECT_EQ(theoretical_occupancy(shape(32, 40, 0), {.cc_major = 6, .cc_minor = 0})->limit_registers, 50);
}

TEST(Occupancy, TakesLimitsFromTheTraceOverTheTable) {
    DeviceLimits device = kHopper;
    device.max_threads_per_sm = 1024;
    EXPECT_EQ(theoretical_occupancy(shape(256, 32, 0), device)->limit_warps, 4);
    device.registers_per_sm = 32768;
    EXPECT_EQ(theoretical_occupancy(shape(256, 32, 0), device)->limit_registers, 4);
}

TEST(Occupancy, SaysNothingWhereNothingIsKnown) {
    EXPECT_FALSE(theoretical_occupancy(shape(256, 32, 0), {.cc_major = 99, .cc_minor = 0}));
    EXPECT_FALSE(
        theoretical_occupancy(shape(256, 32, 0), {.cc_major = 9, .cc_minor = 0, .name = "AMD Radeon Graphics"}));
    EXPECT_FALSE(theoretical_occupancy(shape(256, 32, 0), {.cc_major = 9, .cc_minor = 0, .warp_size = 64}));
    EXPECT_FALSE(theoretical_occupancy({.block_x = 256, .shared_bytes = 0}, kHopper));
    EXPECT_FALSE(theoretical_occupancy({.block_x = 256, .registers_per_thread = 32}, kHopper));
    EXPECT_FALSE(theoretical_occupancy(shape(0, 32, 0), kHopper));
    EXPECT_FALSE(launch_fill(10, 0, 132));
    EXPECT_EQ(theoretical_occupancy({1 << 30, 1 << 30, 1 << 30, 32, 0}, kHopper)->limiter, Limiter::block_too_large);
}

TEST(LaunchFill, TellsWavesTailAndEmptySms) {
    const auto small = launch_fill(66, 8, 132);
    EXPECT_DOUBLE_EQ(small->fill_ratio, 0.0625);
    EXPECT_TRUE(small->fewer_blocks_than_sms);
    const auto tail = launch_fill(133, 1, 132);
    EXPECT_DOUBLE_EQ(tail->fill_ratio, 1.0);
    EXPECT_NEAR(tail->tail_efficiency, 0.5038, 1e-4);
    EXPECT_FALSE(tail->fewer_blocks_than_sms);
}

TEST(SmLimits, EqualsWhatAnH200Reports) {
    // device__attribute_* of the same Nsight Compute recordings.
    const auto h200 = sm_limits(9, 0);
    ASSERT_TRUE(h200);
    EXPECT_EQ(h200->max_warps, 64);
    EXPECT_EQ(h200->max_blocks, 32);
    EXPECT_EQ(h200->registers, 65536);
    EXPECT_EQ(h200->max_registers_per_thread, 255);
    EXPECT_EQ(h200->shared_bytes, 233472);
    EXPECT_EQ(h200->max_shared_bytes_per_block, 232448);
    EXPECT_EQ(h200->reserved_shared_bytes_per_block, 1024);
    // deviceProperties of a Kineto trace of an A100.
    EXPECT_EQ(sm_limits(8, 0)->shared_bytes, 167936);
    EXPECT_EQ(sm_limits(8, 0)->max_shared_bytes_per_block, 166912);
    EXPECT_FALSE(sm_limits(13, 0));
}

}  // namespace
}  // namespace gpuprof
