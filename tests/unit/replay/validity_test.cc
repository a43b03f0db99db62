// Recordings of which nothing is predicted, each with its reason.
#include <gtest/gtest.h>

#include "analyze/facts/facts.h"
#include "analyze/replay/prediction.h"
#include "tests/unit/analyze/read_table.h"
#include "tests/unit/replay/programs.h"

namespace gpuprof::test {
namespace {

constexpr TimeNs kStep = 1'000'000;

// Steps of ten kernels, each launched on an idle stream.
struct Drawing {
    int steps = 10, marked = 10;  // those that are marked are the first
    DurNs late = 0;               // ns that every fifth kernel starts later than its launch explains
    int without_call = 0;         // kernels of the first step that name a call that was not recorded
    bool calls = true;

    Trace trace() const {
        Draft draft;
        std::int64_t id = 0;
        for (int step = 0; step < steps; ++step) {
            TimeNs begun = step * kStep;
            if (step < marked) draft.range("main", begun, begun + kStep, "ProfilerStep#" + std::to_string(step));
            for (int i = 0; i < 10; ++i) {
                TimeNs called = begun + i * 100'000 + 1'000, start = called + 7'000 + (i % 5 == 4 ? late : 0);
                if (calls) draft.call("main", called, called + 5'000, "cudaLaunchKernel", ++id);
                bool lost = step == 0 && i < without_call;
                // No two kernels have the same name, so that no sequence of them repeats.
                draft.kernel(0, 7, start, start + 20'000, "kernel_" + std::to_string(step * 10 + i),
                             lost ? 1'000'000 + i : id);
            }
        }
        return draft.finish();
    }
};

std::string reason(const Drawing& drawing) {
    Trace trace = drawing.trace();
    Facts facts(trace, {});
    const ReplayValidity& validity = facts.get<ReplayValidity>();
    EXPECT_EQ(validity.cure.empty(), validity.why_not.empty());
    ReadTable table(trace, "whatif");
    EXPECT_EQ(table.rows() == 0, !validity.why_not.empty());
    if (!validity.why_not.empty()) {
        EXPECT_EQ(table.notes(), std::vector{"No prediction: " + validity.why_not + "; " + validity.cure + "."});
    }
    return validity.why_not;
}

TEST(ReplayValidity, HoldsOfACompleteRecording) { EXPECT_EQ(reason({}), ""); }

TEST(ReplayValidity, NeedsCalls) { EXPECT_EQ(reason({.calls = false}), "CUDA calls were not recorded"); }

TEST(ReplayValidity, NeedsThreeSteps) {
    EXPECT_EQ(reason({.marked = 0}), "no steps found");
    EXPECT_EQ(reason({.marked = 1}), "only 1 step, and most of the recording is outside");
    EXPECT_EQ(reason({.marked = 2}), "only 2 steps, and most of the recording is outside");
    EXPECT_EQ(reason({.steps = 1, .marked = 1}), "");
    EXPECT_EQ(reason({.steps = 2, .marked = 2}), "");
    EXPECT_EQ(reason({.marked = 3}), "");
}

TEST(ReplayValidity, NeedsWorkInEachStep) {
    Draft draft;
    for (int step = 0; step < 4; ++step) {
        TimeNs begun = step * kStep;
        draft.range("main", begun, begun + kStep, "ProfilerStep#" + std::to_string(step));
        if (step == 2) continue;
        draft.call("main", begun + 1'000, begun + 6'000, "cudaLaunchKernel", step);
        draft.kernel(0, 7, begun + 8'000, begun + 20'000, "gemm", step);
    }
    Trace trace = draft.finish();
    EXPECT_EQ(Facts(trace, {}).get<ReplayValidity>().why_not, "a step submits no GPU work");
}

TEST(ReplayValidity, NeedsTheCallsOfNearlyAllOps) {
    EXPECT_EQ(reason({.without_call = 1}), "") << "one of a hundred";
    EXPECT_EQ(reason({.without_call = 2}), "the calls of 2 of 100 GPU operations were not recorded");
}

TEST(ReplayValidity, NeedsReasonsForLateStarts) {
    EXPECT_EQ(reason({.late = 20'000}), "") << "4 % of the time";
    EXPECT_EQ(reason({.late = 60'000}),
              "12 % of the step time passes before operations that nothing recorded holds back");
}

// Streams that wait for one another in both directions contradict the inference of events.
TEST(ReplayValidity, NeedsEventsThatCanBeInferred) {
    for (bool sync_rows : {true, false}) {
        Machine machine({}, sync_rows);
        all_reduce(machine);
        Trace trace = machine.recording();
        Facts facts(trace, {});
        const ReplayValidity& validity = facts.get<ReplayValidity>();
        EXPECT_EQ(validity.why_not.empty(), sync_rows)
            << validity.why_not << " model error " << validity.model_error << " unexplained " << validity.unexplained;
    }
}

TEST(ReplayValidity, SaysHowSureItIs) {
    Trace trace = Drawing{.late = 10'000}.trace();
    const ReplayValidity validity = Facts(trace, {}).get<ReplayValidity>();
    EXPECT_NEAR(validity.unexplained, 0.02, 0.003);
    EXPECT_NEAR(validity.model_error, 0, 0.001);
    EXPECT_NEAR(validity.step_error, 0, 0.001);
    EXPECT_FALSE(validity.inferred);
}

}  // namespace
}  // namespace gpuprof::test
