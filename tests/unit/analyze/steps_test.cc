// Where steps come from, what is measured in them, and what makes one slow.
#include <gtest/gtest.h>

#include <random>

#include "analyze/facts/steps/step_finder.h"
#include "tests/unit/analyze/draft.h"
#include "tests/unit/analyze/read_table.h"

namespace gpuprof {
namespace {

std::string named(std::string_view stem, int i) { return std::string(stem) + std::to_string(i); }

TEST(Steps, NamesThatAreSteps) {
    for (const char* name :
         {"training_step", "TrainStep", "step 7", "## Iteration 12 ##", "train/iter", "ProfilerStep#3"})
        EXPECT_TRUE(names_a_step(name)) << name;
    for (const char* name : {"optimizer_step", "Optimizer.step#AdamW.step", "lr_scheduler.step", "forward", "7", "",
                             "steps_done", "data iter"})
        EXPECT_FALSE(names_a_step(name)) << name;
}

TEST(Steps, ProfilerStepsComeFirst) {
    Draft draft;
    for (int i = 0; i < 3; ++i) {
        draft.range("main", 100 * i, 100 * i + 90, named("ProfilerStep#", i));
        draft.range("main", 100 * i + 10, 100 * i + 60, "training_step");
        draft.kernel(0, 7, 100 * i + 20, 100 * i + 50, "k");
        draft.kernel(0, 7, 100 * i + 85, 100 * i + 105, "k");  // runs on into the time between steps
    }
    Trace trace = draft.finish();
    ReadTable table(trace, "steps");
    ASSERT_EQ(table.rows(), 3u);
    EXPECT_EQ(table.text(1, "step"), "ProfilerStep#1");
    EXPECT_EQ(table.integer(1, "start_ns"), 100);
    EXPECT_EQ(table.integer(1, "dur_ns"), 90);
    EXPECT_EQ(table.integer(1, "gpu_busy_ns"), 5 + 30 + 5);
    EXPECT_DOUBLE_EQ(table.real(1, "busy_pct"), 100.0 * 40 / 90);
    EXPECT_EQ(table.integer(1, "kernels"), 2);
    EXPECT_FALSE(table.boolean(1, "slow"));
    EXPECT_TRUE(table.absent(1, "why"));
}

// A file that counts in microseconds rounds the end of a step past the start of the next.
TEST(Steps, RoundingLosesNone) {
    Draft draft;
    for (int i = 0; i < 3; ++i) draft.range("main", 100'000 * i, 100'000 * (i + 1) + 1, named("ProfilerStep#", i));
    Trace trace = draft.finish();
    ReadTable table(trace, "steps");
    ASSERT_EQ(table.rows(), 3u);
    EXPECT_EQ(table.integer(0, "dur_ns"), 100'001);
    EXPECT_EQ(table.integer(1, "start_ns"), 100'001);
    EXPECT_EQ(table.integer(1, "dur_ns"), 100'000);
}

TEST(Steps, TheNamedRangeWins) {
    Draft draft;
    for (int i = 0; i < 3; ++i) draft.range("main", 100 * i, 100 * i + 90, named("ProfilerStep#", i));
    draft.op("main", 0, 20, "my::batch");
    draft.op("main", 30, 50, "my::batch");
    Trace trace = draft.finish();
    Options options;
    options.step_range = "my::batch";
    EXPECT_EQ(ReadTable(trace, "steps", options).rows(), 2u);
    options.step_range = "nothing";
    ReadTable none(trace, "steps", options);
    EXPECT_EQ(none.rows(), 0u);
    EXPECT_EQ(none.notes().size(), 1u);
}

TEST(Steps, RangesThatRepeatAndLookLikeSteps) {
    Draft draft;
    draft.range("main", 0, 1000, "evaluation_step");  // once: no iteration
    for (int i = 0; i < 4; ++i) {
        draft.range("main", 100 * i, 100 * i + 90, named("train_step ", i));
        draft.range("main", 100 * i + 10, 100 * i + 20, "optimizer_step");
    }
    Trace trace = draft.finish();
    ReadTable table(trace, "steps");
    ASSERT_EQ(table.rows(), 4u);
    EXPECT_EQ(table.text(3, "step"), "train_step 3");
}

// Step 2 of 5 waits 60 longer in a sync call, and its kernel takes no longer.
TEST(Steps, SaysWhyOneIsSlow) {
    Draft draft;
    for (int i = 0; i < 5; ++i) {
        TimeNs at = 1000 * i, wait = i == 2 ? 160 : 100;
        draft.range("main", at, at + 300 + wait, named("ProfilerStep#", i));
        draft.op("main", at + 10, at + 50, "aten::mm");
        draft.call("main", at + 200, at + 200 + wait, "cudaStreamSynchronize", i + 1);
        draft.kernel(0, 7, at + 60, at + 160, "gemm<float>(int)");
    }
    Trace trace = draft.finish();
    ReadTable slow(trace, "steps");
    EXPECT_FALSE(
        slow.boolean(2, "slow"));  // 460 against 400: within 1.2 x, and the 95th percentile of five is the longest

    Draft longer;
    for (int i = 0; i < 5; ++i) {
        TimeNs at = 1000 * i, wait = i == 2 ? 300 : 100;
        longer.range("main", at, at + 300 + wait, named("ProfilerStep#", i));
        longer.op("main", at + 10, at + 50, "aten::mm");
        longer.call("main", at + 200, at + 200 + wait, "cudaStreamSynchronize", i + 1);
        longer.kernel(0, 7, at + 60, at + (i == 2 ? 260 : 160), "void gemm<float>(int)");
    }
    Trace second = longer.finish();
    ReadTable table(second, "steps");
    EXPECT_TRUE(table.boolean(2, "slow"));
    EXPECT_EQ(table.text(2, "why"),
              "200 ns longer than the median: host 200 ns more in cudaStreamSynchronize; device busy 100 ns longer, "
              "most in gemm");
    EXPECT_FALSE(table.boolean(1, "slow"));
}

// Twenty kernels repeat five times, after some of another kind; between two repetitions the device waits.
TEST(Steps, ASequenceOfKernelsThatRepeats) {
    Draft draft;
    TimeNs at = 0;
    auto kernel = [&](const std::string& name) {
        draft.kernel(0, 7, at, at + 8, name);
        at += 10;
    };
    for (int i = 0; i < 7; ++i) kernel("warmup");
    for (int step = 0; step < 5; ++step) {
        at += 500;
        for (int i = 0; i < 20; ++i) kernel(i % 3 == 0 ? "add" : named("layer", i / 4));
    }
    Trace trace = draft.finish();
    Facts facts(trace, Options{});
    Steps found = find_repeated_kernels(facts);
    ASSERT_EQ(found.steps.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(found.steps[i].start, 70 + 500 + static_cast<TimeNs>(i) * 700);
        EXPECT_EQ(found.steps[i].end, found.steps[i].start + 700);
    }
    ReadTable table(trace, "steps");
    EXPECT_EQ(table.rows(), 4u);
    EXPECT_EQ(table.integer(0, "kernels"), 20);
}

// Start-up has other kernels, some of them in a pattern of their own; the marker of a step comes early in it, so that a whole step
// lies behind the last marker but one.
TEST(Steps, ASequenceThatRepeatsBehindAStartUp) {
    Draft draft;
    TimeNs at = 0;
    auto kernel = [&](const std::string& name) {
        draft.kernel(0, 7, at, at + 8, name);
        at += 10;
    };
    for (int i = 0; i < 150; ++i) kernel(named("init", i % 50));
    for (int step = 0; step < 12; ++step) {
        at += 500;
        for (int i = 0; i < 20; ++i) kernel(i == 1 ? "marker" : named("layer", i % 3));
    }
    kernel("layer0");
    Trace trace = draft.finish();
    Facts facts(trace, Options{});
    Steps found = find_repeated_kernels(facts);
    ASSERT_EQ(found.steps.size(), 12u);
    EXPECT_EQ(found.steps.front().start, 1500 + 500);
    for (std::size_t i = 0; i < 11; ++i) EXPECT_EQ(found.steps[i].end - found.steps[i].start, 700);
    EXPECT_EQ(found.method, StepMethod::kernels);
    EXPECT_EQ(found.family, "marker");
}

// The host submits a step in 100 ns, the device works 300 ns on it: its steps begin where their first kernels do.
TEST(Steps, StepsOfTheHostAsTheDeviceRunsThem) {
    Draft draft;
    for (int i = 0; i < 4; ++i) {
        draft.range("main", 100 * i, 100 * i + 90, named("ProfilerStep#", i));
        for (int k = 0; k < 2; ++k) {
            draft.call("main", 100 * i + 10 + 30 * k, 100 * i + 20 + 30 * k, "cudaLaunchKernel", 10 * i + k);
            draft.kernel(0, 7, 1000 + 300 * i + 150 * k, 1000 + 300 * i + 150 * k + 140, "k", 10 * i + k);
        }
    }
    Trace trace = draft.finish();
    Facts facts(trace, Options{});
    Steps found = find_launched_steps(facts, find_range_steps(facts));
    ASSERT_EQ(found.steps.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(found.steps[i].name, named("ProfilerStep#", static_cast<int>(i)));
        EXPECT_EQ(found.steps[i].start, 1000 + 300 * static_cast<TimeNs>(i));
        EXPECT_EQ(found.steps[i].end, found.steps[i].start + 300);
    }
    Draft unlinked;
    for (int i = 0; i < 4; ++i) unlinked.range("main", 100 * i, 100 * i + 90, named("ProfilerStep#", i));
    unlinked.kernel(0, 7, 50, 60, "k");
    Trace without = unlinked.finish();
    Facts blind(without, Options{});
    EXPECT_TRUE(find_launched_steps(blind, find_range_steps(blind)).steps.empty());
}

TEST(Steps, DoubtfulRepetitionsAreNoSteps) {
    Draft same, mixed;
    std::mt19937 random(1);
    for (int i = 0; i < 400; ++i) same.kernel(0, 7, 10 * i, 10 * i + 5, i % 2 ? "mul" : "add");
    for (int i = 0; i < 400; ++i) mixed.kernel(0, 7, 10 * i, 10 * i + 5, named("k", static_cast<int>(random() % 31)));
    for (Draft* draft : {&same, &mixed}) {
        Trace trace = draft->finish();
        ReadTable table(trace, "steps");
        EXPECT_EQ(table.rows(), 0u);
        ASSERT_EQ(table.notes().size(), 1u);
        EXPECT_TRUE(table.notes()[0].starts_with("No steps"));
    }
}

TEST(Steps, SaysThatTheHostRunsAhead) {
    Draft draft;
    for (int i = 0; i < 3; ++i) draft.range("main", 100 * i, 100 * i + 90, named("ProfilerStep#", i));
    draft.kernel(0, 7, 50, 5000, "long");
    Trace trace = draft.finish();
    ReadTable table(trace, "steps");
    ASSERT_EQ(table.notes().size(), 1u);
    EXPECT_NE(table.notes()[0].find("runs ahead"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof
