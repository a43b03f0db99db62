// Steps of two recordings are found in the same way, and totals and parts are of the same steps.
#include <gtest/gtest.h>

#include "compare/comparison.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof::compare {
namespace {

// An iteration of 20 kernels in a millisecond: the last is the marker, and the device waits before the first.
struct Program {
    int steps = 12;
    TimeNs step = 1'000'000;
    bool ranges = true;        // named "train_step"
    std::string prefix = "k";  // of kernel names
    bool alternating = false;  // every other iteration ends with another kernel
    TimeNs ahead = 0;          // by which the host submits earlier, from the second step on
    int more = 0;              // kernels of one more iteration that the recording cuts off
    int devices = 1;
};

Trace trace_of(const Program& program) {
    Draft draft;
    std::int64_t correlation = 0;
    for (int step = 0; step <= program.steps; ++step) {
        int kernels = step < program.steps ? 20 : program.more;
        TimeNs device_start = 1'000'000 + step * program.step;
        TimeNs host_step = program.ahead > 0 ? program.step / 10 : program.step;
        TimeNs host_start = device_start - 10'000 - (program.ahead > 0 ? step * (program.step - host_step) : 0);
        if (program.ranges && step < program.steps)
            draft.range("main", host_start, host_start + host_step - 1'000, "train_step " + std::to_string(step));
        for (int i = 0; i < kernels; ++i) {
            bool marker = i == 19;
            std::string name = program.prefix + (marker ? "_optimizer" : std::to_string(i % 7));
            if (marker && program.alternating && step % 2 == 1) name = program.prefix + "_other_optimizer";
            for (int device = 0; device < program.devices; ++device) {
                TimeNs at = device_start + i * 30'000;
                draft.call("main", host_start + i * 4'000 + device * 1'000,
                           host_start + i * 4'000 + device * 1'000 + 500, "cudaLaunchKernel", ++correlation);
                draft.kernel(device, 7, at, at + 25'000, name, correlation);
            }
        }
    }
    return draft.finish();
}

std::array<Run, 2> runs(const Program& base, const Program& next) {
    return runs_by_same_steps(trace_of(base), trace_of(next), Options{});
}

TEST(StepsAlike, RangesWhereBothHaveThem) {
    auto [base, next] = runs({}, {.step = 1'200'000});
    EXPECT_EQ(base.steps.method, StepMethod::ranges);
    Comparison found = compare_runs(base, next, {}, {});
    EXPECT_EQ(found.word(), Word::higher);
    EXPECT_EQ(found.attribution.difference(), 200'000);
}

TEST(StepsAlike, KernelsWhereOneSideHasNoRanges) {
    auto [base, next] = runs({}, {.step = 1'200'000, .ranges = false});
    EXPECT_EQ(base.steps.method, StepMethod::kernels);
    EXPECT_EQ(next.steps.method, StepMethod::kernels);
    Comparison found = compare_runs(base, next, {}, {});
    EXPECT_EQ(found.word(), Word::higher);
    EXPECT_NEAR(*found.change().pct, 20, 0.01);
    // The whole recordings' difference, 12 steps of it, is not that of a step.
    EXPECT_EQ(found.attribution.difference(), 200'000);
    EXPECT_EQ(found.attribution.parts.front().kind, "idle");
}

// What is behind the last whole iteration counts on neither side.
TEST(StepsAlike, WorkBehindTheLastStepIsLeftOut) {
    auto [base, next] = runs({.ranges = false, .more = 1}, {.ranges = false, .more = 19});
    EXPECT_EQ(base.steps.steps.size(), 12U);
    EXPECT_EQ(next.steps.steps.size(), 12U);
    Comparison found = compare_runs(base, next, {}, {});
    EXPECT_EQ(found.word(), Word::same);
    for (const Contribution& part : found.attribution.parts) EXPECT_EQ(part.difference(), 0) << part.name;
    EXPECT_EQ(*base.metric(Metric::kernel_time).value, 20 * 25'000);
    EXPECT_EQ(*next.metric(Metric::kernel_time).value, 20 * 25'000);
}

// The host of NEW submits ten steps in the time of one: its ranges are a tenth as long, and the device is as fast as before.
TEST(StepsAlike, AHostThatRunsAheadIsNotFaster) {
    auto [base, next] = runs({}, {.ahead = 1});
    EXPECT_EQ(base.steps.method, StepMethod::launched);
    EXPECT_EQ(next.steps.method, StepMethod::launched);
    ASSERT_EQ(next.steps.steps.size(), 11U);
    EXPECT_EQ(next.steps.steps.front().end - next.steps.steps.front().start, 1'000'000);
    EXPECT_EQ(compare_runs(base, next, {}, {}).word(), Word::same);
}

// NEW's sequence repeats after two iterations: twice as long a step would be called slower.
TEST(StepsAlike, TwoIterationsAreNotHeldAgainstOne) {
    Program odd{.steps = 24, .step = 1'000'010, .ranges = false, .alternating = true};
    auto [base, next] = runs({.steps = 24, .ranges = false}, odd);
    EXPECT_EQ(base.steps.method, StepMethod::none);
    EXPECT_TRUE(base.steps.steps.empty() && next.steps.steps.empty());
    EXPECT_EQ(compare_runs(base, next, {}, {}).word(), Word::cannot_tell);
}

TEST(StepsAlike, ProgramsWithoutACommonKernelHaveNoCommonStep) {
    auto [base, next] = runs({.ranges = false}, {.step = 2'000'000, .ranges = false, .prefix = "q"});
    EXPECT_EQ(base.steps.method, StepMethod::none);
    EXPECT_EQ(compare_runs(base, next, {}, {}).word(), Word::cannot_tell);
}

TEST(StepsAlike, NoneWhenOneSideHasNone) {
    Draft few;
    few.kernel(0, 7, 0, 10, "k1");
    auto found = runs_by_same_steps(trace_of({}), few.finish(), Options{});
    EXPECT_TRUE(found[0].steps.steps.empty());
    Comparison compared = compare_runs(found[0], found[1], {}, {});
    EXPECT_EQ(compared.word(), Word::cannot_tell);
    bool said = false;
    for (const Trust::Statement& each : compared.comparability.statements)
        said |= each.warning && each.text.find("BASE has steps, but NEW has none") != std::string::npos;
    EXPECT_TRUE(said);
}

// The parts add up to the time of a step, whatever the number of devices.
TEST(StepsAlike, PartsAreOfOneDevice) {
    auto [base, next] = runs({.ranges = false, .devices = 2}, {.step = 1'200'000, .ranges = false, .devices = 2});
    Attribution found = compare_runs(base, next, {}, {}).attribution;
    EXPECT_EQ(found.devices, 2);
    EXPECT_EQ(found.base_ns, 1'000'000);
    EXPECT_EQ(found.new_ns, 1'200'000);
    EXPECT_EQ(found.base_ns, *base.metric(Metric::wall_time).value);
    EXPECT_EQ(found.new_ns, *next.metric(Metric::wall_time).value);
}

TEST(StepsAlike, StepsThatWarmUpAreLeftOut) {
    Draft draft;
    TimeNs now = 0;
    for (int step = 0; step < 8; ++step) {
        TimeNs length = step < 2 ? 5'000'000 : 1'000'000;
        draft.range("main", now, now + length, "ProfilerStep#" + std::to_string(step));
        draft.kernel(0, 7, now + 100, now + 500'000, "k");
        now += length;
    }
    auto run = run_of(draft.finish(), Options{});
    EXPECT_EQ(run.warm_up, 2U);
    EXPECT_EQ(run.steps.steps.size(), 6U);
    EXPECT_EQ(*run.metric(Metric::step_mean).value, 1'000'000);
    EXPECT_EQ(*run.metric(Metric::wall_time).value, 1'000'000);
}

TEST(StepsAlike, ASingleRunSaysSo) {
    auto [base, next] = runs({}, {});
    auto said = [&](const Comparison& found) {
        return headline(found).back().find("run-to-run variation is unknown") != std::string::npos;
    };
    EXPECT_TRUE(said(compare_runs(base, next, {}, {})));
    std::vector<Values> repeats = {values_of(base)};
    EXPECT_FALSE(said(compare_runs(base, next, repeats, {})));
}

}  // namespace
}  // namespace gpuprof::compare
