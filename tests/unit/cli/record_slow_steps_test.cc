#include "cli/record/record_slow_steps.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

TEST(Trigger, AFactorIsExact) {
    EXPECT_EQ(trigger_factor("step>1.5x"), 1'500'000);
    EXPECT_EQ(trigger_factor("step>2x"), 2'000'000);
    EXPECT_EQ(trigger_factor("step>1.004x"), 1'004'000);
    EXPECT_EQ(trigger_factor("step>1.000001x"), 1'000'001);
    EXPECT_EQ(trigger_factor("step>1000x"), 1'000'000'000);
}

TEST(Trigger, OtherConditionsAreNone) {
    for (const char* wrong : {"",
                              "step",
                              "step>",
                              "step>x",
                              "step>1.5",
                              "step>0.5x",
                              "step>1x",
                              "step>1.0x",
                              "step>1.0000001x",
                              "step>1000.1x",
                              "step>99999x",
                              "step>-2x",
                              "step>+2x",
                              "step>1e3x",
                              "step>1,5x",
                              "step>.5x",
                              "step>2.x",
                              "step>1.5xx",
                              "step > 1.5x",
                              "step>1.5X",
                              "step<1.5x",
                              "steps>1.5x",
                              "1.5x",
                              "step>nanx",
                              "step>1.5x "})
        EXPECT_EQ(trigger_factor(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace gpuprof
