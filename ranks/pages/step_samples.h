// What a GPU was sampled for during each step: clock, temperature, throttling.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/trace.h"
#include "ranks/reduce/rank_steps.h"

namespace gpuprof::inline ranks {

// The counts are numbers of samples.
struct StepSamples {
    double clock = 0;    // sum, MHz
    double hottest = 0;  // degrees Celsius
    std::int64_t with_clock = 0, with_heat = 0, with_reasons = 0, throttled = 0;
};

// One entry per step.
std::vector<StepSamples> step_samples(const Trace& trace, const std::vector<RankStep>& steps, std::int32_t device);

}  // namespace gpuprof::ranks
