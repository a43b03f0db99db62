// The lists of bench_options.def as arrays.
#pragma once

#include "core/schema/option_kind.h"
#include "measure/bench_options.def"

namespace gpuprof::measure {

inline constexpr OptionSpec kStoppingOptions[] = {GPUPROF_STOPPING_OPTIONS(GPUPROF_OPTION_SPEC)};
inline constexpr OptionSpec kFunctionOptions[] = {GPUPROF_FUNCTION_OPTIONS(GPUPROF_OPTION_SPEC)};

}  // namespace gpuprof::measure
