// What the host does, by the names of its calls, ranges and frames; used for "blocking", launch cost and the causes of idle time.
//
// Names of CUDA and HIP calls are those of the runtime and driver APIs (CUDA Runtime API and CUDA Driver API references; HIP API reference);
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

// Whether a range or frame fetches input, by its name: PyTorch's range
// (enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__), its Python frames, and common names of NVTX ranges.
// Only whole words match: "modality_encoder" is not DALI. FSDP prefetches parameters, not input.
bool names_loader(std::string_view name);

}  // namespace gpuprof::knowledge
