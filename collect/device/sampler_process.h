// The sampler process: owns a source, ticks by deadlines, sends its results. It is the same program, started with a
// hidden argument (kSamplerArgument) by collect/device/process_link.h. It ends with the socket, so it never outlives
// its creator.
#pragma once

#include <string_view>

namespace gpuprof::inline device {

inline constexpr const char* kSamplerArgument = "--sampler-process";

// Serves until the socket closes; returns the exit status.
int run_sampler_process();

}  // namespace gpuprof::device
