// The sampler process: owns a source, ticks by deadlines, sends what it found. It is the program itself, started with a
// hidden argument (kSamplerArgument) and two descriptors: the socket and the page of the call mark. It ends when the
// socket does, so it never outlives the process that asked.
#pragma once

#include <string_view>

namespace gpuprof {

inline constexpr const char* kSamplerArgument = "--sampler-process";
inline constexpr int kSamplerSocket = 3, kSamplerMark = 4;

// Serves until the socket closes; the process's exit status.
int run_sampler_process();

}  // namespace gpuprof
