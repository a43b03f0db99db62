// The sampler process: owns a source, ticks by deadlines, sends what it found. It is the program itself, started with a
// hidden argument (kSamplerArgument) as collect/device/process_link.h does it. It ends when the socket does, so it never
// outlives the process that asked.
#pragma once

#include <string_view>

namespace gpuprof {

inline constexpr const char* kSamplerArgument = "--sampler-process";

// Serves until the socket closes; the process's exit status.
int run_sampler_process();

}  // namespace gpuprof
