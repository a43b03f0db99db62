// A kernel launch as CUPTI's callback shows it: the function of the driver, and its arguments. Launches of the runtime
// pass through these functions too. Source: generated_cuda_meta.h (arguments) and cuda.h (CUlaunchConfig) of CUDA 13.0.
#pragma once

#include <cstdint>

#include "collect/inject/cupti/cupti_api.h"

namespace gpuprof::inject {

// How a function of the driver concerns counters.
enum class LaunchKind : std::uint8_t {
    none,
    kernel,     // cuLaunchKernel, cuLaunchCooperativeKernel
    kernel_ex,  // cuLaunchKernelEx
    multi_device,
    graph,
    begin_capture,
    end_capture
};
// By the function's name, which may end in _ptsz (streams per thread).
LaunchKind launch_kind(const char* function) noexcept;

struct LaunchFacts {
    std::uint32_t grid[3]{}, block[3]{};
    std::uint32_t dynamic_shared_bytes = 0;
    std::uint32_t cluster = 0;  // blocks per cluster; 0: none
    void* stream = nullptr;
};
// Of a kernel launch; false if there are no arguments.
bool read_launch(LaunchKind kind, const CallbackData& call, LaunchFacts& facts) noexcept;

}  // namespace gpuprof::inject
