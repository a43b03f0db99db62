// When first answers and the viewer are based on a replay.
#include "analyze/replay/gain.h"

#include <gtest/gtest.h>

#include "analyze/facts/facts.h"
#include "present/view/answer_json.h"
#include "tests/unit/replay/programs.h"

namespace gpuprof::test {
namespace {

// Steps of kernels, each launched by a call.
Trace steps_of_kernels(int steps, int kernels) {
    Draft draft;
    std::int64_t id = 0;
    for (int step = 0; step < steps; ++step) {
        TimeNs begun = TimeNs{step} * kernels * 10'000;
        draft.range("main", begun, begun + TimeNs{kernels} * 10'000, "ProfilerStep#" + std::to_string(step));
        for (int i = 0; i < kernels; ++i) {
            TimeNs called = begun + TimeNs{i} * 10'000;
            draft.call("main", called, called + 5'000, "cudaLaunchKernel", ++id);
            draft.kernel(0, 7, called + 6'500, called + 9'500, "kernel", id);
        }
    }
    return draft.finish();
}

TEST(Replayed, HoldsOfRecordingsOfSteps) {
    Trace trace = steps_of_kernels(5, 100);
    Facts facts(trace, {});
    EXPECT_TRUE(facts.get<Replayed>().holds);
    EXPECT_TRUE(gain_without(facts, Waste::launching).predicted.has_value());
}

TEST(Replayed, IsTooMuchForLargeRecordings) {
    Trace trace = steps_of_kernels(5, static_cast<int>(kMaxReplayed) / 5 + 1);
    Facts facts(trace, {});
    EXPECT_TRUE(facts.get<Replayed>().too_large);
    EXPECT_FALSE(facts.get<Replayed>().holds);
    EXPECT_FALSE(gain_without(facts, Waste::launching).predicted.has_value());
    EXPECT_GT(gain_without(facts, Waste::launching).ns, 0);
    Result<AnswerJson> answer = answer_json(facts, "1", 0, StepDetail::slowest, [](const auto&) {});
    ASSERT_TRUE(answer.ok());
    EXPECT_TRUE(answer->path.spans.empty());
    EXPECT_NE(answer->report.find("gpu-profile report FILE whatif computes it"), std::string::npos);
    EXPECT_NE(answer->report.find("gpu-profile report FILE criticalpath computes it"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof::test
