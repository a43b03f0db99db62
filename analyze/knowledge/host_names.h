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
// A name is no proof: facts/host/loaders.h says which of them load.
bool names_loader(std::string_view name);

// Whether a function of the C library waits for a message, a request, another thread or the time, and does nothing else:
// poll, epoll_wait, accept, recv, sem_wait, pthread_cond_wait, nanosleep. Not those that wait for a file (read), for a
// thread or process that works (pthread_join, waitpid), or for the driver (ioctl).
bool waits_in_os(std::string_view function);
// Of these, whether it waits for a set time.
bool sleeps_in_os(std::string_view function);
// Of these, whether another thread of the process must end the wait: semaphores, condition variables, futexes.
bool waits_for_thread_in_os(std::string_view function);

// Whether a Python function waits, by its name and file: queues, conditions, selectors, event loops, connections.
bool waits_in_python(std::string_view function, std::string_view file);

// Whether a Python frame belongs to a library that asks a server for data: what waits below it waits for an answer.
bool asks_in_python(std::string_view frame);

// Whether a range or operator belongs to training: autograd, optimizers, steps.
bool names_training(std::string_view name);

}  // namespace gpuprof::knowledge
