// What a CUDA or HIP call does, by its name; used for "blocking", launch cost and the causes of idle time.
// Names are those of the runtime and driver APIs (CUDA Runtime API and CUDA Driver API references; HIP API reference);
// version suffixes (_v2, _ptsz, _v7000) are ignored.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof::inline knowledge {

enum class CallKind : std::uint8_t {
    launch,       // submits kernels: cudaLaunchKernel, cuLaunchKernelEx, cudaGraphLaunch, hipModuleLaunchKernel
    copy,         // submits or performs a copy
    set,          // submits a memset
    sync,         // blocks the host until the device reaches some point
    allocation,   // allocates or frees device or pinned memory
    compilation,  // loads or compiles modules, libraries and graphs' executables
    other,        // cheap queries, events, attributes
};

CallKind kind_of_call(std::string_view name);

// Whether the call waits for the device: syncs, synchronous copies, and allocation calls that synchronise (cudaFree).
bool call_blocks(std::string_view name);

// Whether an allocation call releases memory.
bool call_frees(std::string_view name);

}  // namespace gpuprof::knowledge
