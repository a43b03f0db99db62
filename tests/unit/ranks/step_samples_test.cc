#include "ranks/reduce/rank_steps.h"

#include <gtest/gtest.h>

#include "core/model/build/trace_builder.h"

namespace gpuprof {
namespace {

TEST(RankStepSamples, EachSampleCountsInItsStepAndDevice) {
    Batch batch;
    auto add = [&](TimeNs time, std::int32_t device, std::string_view metric, double value) {
        SampleTable& table = batch.tables.sample;
        Row row = table.add();
        table.time.set(row, time);
        table.device.set(row, device);
        table.metric.set(row, batch.intern(metric));
        table.value.set(row, value);
    };
    add(5, 0, "clock.sm", 1000), add(15, 0, "clock.sm", 2000), add(16, 0, "clock.sm", 1800), add(15, 1, "clock.sm", 9);
    add(15, 0, "temp", -3), add(19, 0, "temp", -8), add(25, 0, "temp", 99);
    add(15, 0, "throttle.reasons", 0x20), add(16, 0, "throttle.reasons", 0), add(17, 0, "throttle.reasons", -1);
    batch.tables.close();
    TraceBuilder builder({"samples", "test", {}});
    builder.append(std::move(batch));
    Trace trace = std::move(builder).finish();
    std::vector<StepSamples> found = step_samples(trace, {{1, {0, 10}}, {2, {10, 20}}}, 0);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].clock, 1000);
    EXPECT_EQ(found[0].with_heat, 0);
    EXPECT_EQ(found[1].clock, 3800);
    EXPECT_EQ(found[1].with_clock, 2);
    EXPECT_EQ(found[1].hottest, -3);
    EXPECT_EQ(found[1].throttled, 1);
    EXPECT_EQ(found[1].with_reasons, 2);
}

}  // namespace
}  // namespace gpuprof
