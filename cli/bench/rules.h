// When sampling ends: the options for it (measure/bench_options.def), and what they make of the rules for programs. For functions
// they are passed on as they are.
#pragma once

#include <span>
#include <string>

#include "cli/python_package.h"
#include "core/base/result.h"
#include "measure/stopping.h"

namespace gpuprof {

// Programs take longer and vary more than functions.
inline constexpr measure::StoppingOptions kProgramRules{
    .precision = 0.02, .min_time = 3'000'000'000, .timeout = 60'000'000'000, .min_samples = 10, .max_samples = 1000};

std::span<const PassedOption> stopping_options();

// `given`: --flag=VALUE of these options, each VALUE checked. One bound of the number of samples moves the other one with it.
Result<measure::StoppingOptions> program_rules(std::span<const std::string> given);

}  // namespace gpuprof
