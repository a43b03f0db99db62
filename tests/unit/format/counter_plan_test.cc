#include "core/format/counter_plan.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

CounterPlan example() {
    CounterPlan plan;
    plan.cache = CacheMode::flush;
    plan.launches = 7;
    plan.budget_ns = 30'000'000'000;
    plan.passes = 11;
    plan.chip = "GH100";
    plan.pattern = "gemm|saxpy";
    plan.config = std::string_view("\0config\xff", 8);
    plan.metrics = {{"dram__bytes_read.sum", "byte"}, {"smsp__issue_active.ratio", ""}};
    plan.kernels = {{.name = "saxpy(int)", .grid = {1, 2, 3}, .block = {256, 1, 1}, .typical_ns = 5, .registers = 9}};
    plan.cupti = "/lib/libcupti.so.13";
    plan.cupti_version = 130001;
    return plan;
}

TEST(CounterPlan, comes_back) {
    std::string bytes = encode(example());
    std::optional<CounterPlan> plan = decode_counter_plan(bytes);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->cache, CacheMode::flush);
    EXPECT_EQ(plan->launches, 7u);
    EXPECT_EQ(plan->config.size(), 8u);
    ASSERT_EQ(plan->metrics.size(), 2u);
    EXPECT_EQ(plan->metrics[0].name, "dram__bytes_read.sum");
    EXPECT_EQ(plan->metrics[0].name.data()[plan->metrics[0].name.size()], '\0') << "CUPTI takes it as a C string";
    EXPECT_EQ(plan->metrics[1].unit, "");
    ASSERT_EQ(plan->kernels.size(), 1u);
    EXPECT_EQ(plan->kernels[0].grid[2], 3u);
    EXPECT_EQ(plan->kernels[0].registers, 9u);
    EXPECT_EQ(plan->cupti_version, 130001u);
    EXPECT_EQ(encode(*plan), bytes);
}

TEST(CounterPlan, is_whole_or_absent) {
    std::string bytes = encode(example());
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(decode_counter_plan(std::string_view(bytes).substr(0, size))) << size;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        EXPECT_FALSE(decode_counter_plan(damaged)) << at;
    }
}

TEST(DeviceCollectives, are_recognised_by_name) {
    EXPECT_TRUE(is_device_collective("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"));
    EXPECT_TRUE(is_device_collective("void nvshmemi_transfer<float>()"));
    EXPECT_TRUE(is_device_collective("multimem_all_reduce_kernel"));
    EXPECT_FALSE(is_device_collective("void gemm<float>(float*)"));
    EXPECT_FALSE(is_device_collective(""));
}

}  // namespace
}  // namespace gpuprof
