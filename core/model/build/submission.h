// What a call of CUDA, HIP or SYCL submits to the device, by its name. Names are from the runtime and driver APIs (CUDA
// Runtime API and CUDA Driver API references; HIP API reference); version suffixes (_v2, _ptsz, _v7000) are ignored. Those
// below SYCL are from Unified Runtime (ur), its predecessor (pi) and Level Zero (ze), by their specifications.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof::inline model {

enum class Submission : std::uint8_t {
    kernel,  // cudaLaunchKernel, cuLaunchKernelEx, hipModuleLaunchKernel
    graph,   // cudaGraphLaunch
    copy,    // cudaMemcpyAsync
    fill,    // cudaMemsetAsync
    none,    // every other call
};
inline constexpr std::size_t kSubmissions = 4;  // without `none`

Submission submission_of(std::string_view call);

// The function's name without the prefix of its API.
std::string_view bare_call_name(std::string_view call);

// The kind, in the table sync, of a function of the host that a stream waits for.
inline constexpr std::string_view kHostFunction = "Host Function";

// Whether the name is of an API below SYCL: urEnqueueKernelLaunch, zeCommandListAppendLaunchKernel.
bool is_sycl_call(std::string_view call);

}  // namespace gpuprof::model
