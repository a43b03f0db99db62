// When sampling ends: the options (measure/bench_options.def) and how they change the stopping rules of programs. For
// functions they are passed to the package unchanged.
#pragma once

#include <span>
#include <string>

#include "cli/python_package.h"
#include "core/base/result.h"
#include "measure/stopping.h"

namespace gpuprof::inline cli {

// The defaults for programs, which take longer and vary more than functions.
inline constexpr measure::StoppingOptions kProgramRules{
    .precision = 0.02, .min_time = 3'000'000'000, .timeout = 60'000'000'000, .min_samples = 10, .max_samples = 1000};

std::span<const PassedOption> stopping_options();

// `given`: --flag=VALUE of these options, each VALUE checked. Setting only one bound of the sample count moves the
// other if necessary.
Result<measure::StoppingOptions> program_rules(std::span<const std::string> given);

}  // namespace gpuprof::cli
