// The lists of monitor_options.def as arrays.
#pragma once

#include "collect/device/monitor_options.def"
#include "core/schema/option_kind.h"

namespace gpuprof::inline device {

inline constexpr OptionSpec kMonitorOptions[] = {GPUPROF_MONITOR_OPTIONS(GPUPROF_OPTION_SPEC)};
inline constexpr OptionSpec kSampleOptions[] = {GPUPROF_SAMPLE_OPTIONS(GPUPROF_OPTION_SPEC)};

}  // namespace gpuprof::device
